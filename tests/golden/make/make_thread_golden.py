#!/usr/bin/env python3
"""Writes tests/golden/chat_template/threads.jsonl: three turns of a conversation as published chat templates write them.

One line a template and way to use it: the template (left out: that of the line before), whether the system says something, whether the
model thinks (null: not said), and what transformers renders before each of the three answers on a fixed day. Where a template has no place
for a system prompt, the thread is rendered with it before the first question's words, as Winnow does. The last answer has thoughts, kept
apart from it.

usage: make_thread_golden.py LLAMA_CPP/models/templates      (needs: transformers==5.24.0, jinja2==3.1.6)
       llama.cpp as it is in llama-cpp-python 0.3.36 (PyPI): the templates of language models, as their repositories have them; those that it
       lacks are in FOLDER/glm4v
"""
import datetime
import json
import pathlib
import sys

import jinja2
import transformers
from transformers.utils import chat_template_utils

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "chat_template"
DAY = "2026-11-27"
# Name of the file, licence of the model that the template belongs to.
TEMPLATES = {
    "Qwen-Qwen2.5-7B-Instruct": "Apache-2.0", "Qwen-Qwen3-0.6B": "Apache-2.0", "Qwen3.5-4B": "Apache-2.0", "Qwen-QwQ-32B": "Apache-2.0",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": "MIT", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "MIT",
    "deepseek-ai-DeepSeek-V3.1": "MIT", "ibm-granite-granite-3.3-2B-Instruct": "Apache-2.0", "ibm-granite-granite-4.0": "Apache-2.0",
    "ibm-granite-granite-4.1": "Apache-2.0", "Mistral-Small-3.2-24B-Instruct-2506": "Apache-2.0",
    "mistralai-Ministral-3-14B-Reasoning-2512": "Apache-2.0", "mistralai-Mistral-Nemo-Instruct-2407": "Apache-2.0",
    "google-gemma-2-2b-it": "Gemma", "google-gemma-4-31B-it": "Apache-2.0", "GLM-4.6": "MIT", "GLM-4.7-Flash": "MIT",
    "GLM-4.1V-9B-Thinking": "MIT", "GLM-4.5V": "MIT",
    "HuggingFaceTB-SmolLM3-3B": "Apache-2.0", "meta-llama-Llama-3.1-8B-Instruct": "Llama 3.1",
    "meta-llama-Llama-3.2-3B-Instruct": "Llama 3.2", "meta-llama-Llama-3.3-70B-Instruct": "Llama 3.3",
    "microsoft-Phi-3.5-mini-instruct": "MIT", "MiMo-VL": "MIT", "openai-gpt-oss-120b": "Apache-2.0",
}
THREAD = [{"role": "user", "content": "Which colour is it?"}, {"role": "assistant", "content": "It is red."},
          {"role": "user", "content": "How many <b>are</b> there?"},
          {"role": "assistant", "content": "Three of them.", "reasoning_content": "I count one, two, three."},
          {"role": "user", "content": "And what moves?"}]
SYSTEM = "Answer briefly."


class Day(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(DAY)


def render(template, messages, thinks, add_prompt=True):
    given = {} if thinks is None else {"enable_thinking": thinks, "thinking": thinks}
    try:
        rendered, _ = chat_template_utils.render_jinja_template(conversations=[messages], chat_template=template,
                                                                add_generation_prompt=add_prompt, bos_token="<s>", eos_token="</s>", **given)
        return rendered[0]
    except (jinja2.TemplateError, TypeError, ZeroDivisionError, ValueError, IndexError, AttributeError):
        return None


def threads(template, name):
    """One line for each way to use the template."""
    has_place = SYSTEM in (render(template, [{"role": "system", "content": SYSTEM}, THREAD[0]], None) or "")
    switch = render(template, THREAD[:1], True) != render(template, THREAD[:1], False)
    for system in (False, True):
        thread = [dict(message) for message in THREAD]
        if system and has_place:
            thread.insert(0, {"role": "system", "content": SYSTEM})
        elif system:
            thread[0]["content"] = SYSTEM + "\n\n" + thread[0]["content"]
        ends = [i + 1 for i, message in enumerate(thread) if message["role"] == "user"]
        for thinks in (None, True, False) if switch else (None,):
            yield {"name": name, "system": system, "has_system_prompt": has_place, "has_switch": switch, "thinks": thinks,
                   "expected": [render(template, thread[:end], thinks) for end in ends]}


def main():
    chat_template_utils.datetime = Day
    folder = pathlib.Path(sys.argv[1])
    lines = []
    for name in TEMPLATES:
        own = FOLDER / "glm4v" / f"{name}.jinja"
        template = (own if own.exists() else folder / f"{name}.jinja").read_text(encoding="utf-8")
        for number, case in enumerate(threads(template, name)):
            if None in case["expected"]:
                sys.exit(f"{name} refuses the thread")
            lines.append(json.dumps({**case, **({} if number else {"template": template})}, separators=(",", ":"), ensure_ascii=False))
    (FOLDER / "threads.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = {"what": "a conversation of three turns before each answer, by published chat templates", "day": DAY, "system": SYSTEM,
                "thread": THREAD, "reference": f"transformers {transformers.__version__}, jinja2 {jinja2.__version__}",
                "source": "models/templates of llama.cpp in llama-cpp-python 0.3.36 (PyPI), files named as there; glm4v/*.jinja",
                "script": "tests/golden/make/make_thread_golden.py", "seed": "none", "cases": len(lines), "dtype": "text, exact",
                "tolerance": "none", "licence": TEMPLATES}
    (FOLDER / "threads_manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main()
