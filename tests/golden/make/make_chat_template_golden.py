#!/usr/bin/env python3
"""Writes tests/golden/chat_template/cases.jsonl: what transformers renders for chat templates and small probes of the language.

A case without a template has that of the case before. strftime_now is taken away from the templates that ask for it, as it is not defined
in Winnow.

usage: make_chat_template_golden.py LLAMA_CPP/models/templates      (needs: transformers==5.2.0, jinja2==3.1.6)
       llama.cpp as it is in llama-cpp-python 0.3.36: the templates of language models, as their repositories have them
"""
import json
import pathlib
import sys

import jinja2
import transformers
from transformers.utils.chat_template_utils import render_jinja_template

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "chat_template"


def published(name):
    """A template of a model: the program's own, or one in templates/chat, where the probes are, too."""
    files = [FOLDER.parent / "make" / "templates" / "chat", FOLDER.parents[2] / "engine" / "model_files" / "templates"]
    return next(folder / f"{name}.jinja" for folder in files if (folder / f"{name}.jinja").exists()).read_text(encoding="utf-8")


SMOLVLM = published("smolvlm")
SMOLVLM_VIDEO = SMOLVLM.replace("{% endif %}{% endfor %}<end", "{% elif line['type'] == 'video' %}{{ '<video>' }}{% endif %}{% endfor %}<end")
IDEFICS3 = SMOLVLM.replace("<|im_start|>", "<|begin_of_text|>").replace("{{message['role'] | capitalize}}", "{{message['role'].capitalize()}}")

# As make_gemma3_golden.py has written it.
GEMMA3 = (FOLDER.parent / "gemma3" / "narrow_window" / "model" / "chat_template.jinja").read_text(encoding="utf-8")
FILES = ("meta-llama-Llama-3.1-8B-Instruct", "meta-llama-Llama-3.2-3B-Instruct", "Qwen-Qwen2.5-7B-Instruct", "Qwen-Qwen3-0.6B",
         "mistralai-Mistral-Nemo-Instruct-2407", "google-gemma-2-2b-it", "microsoft-Phi-3.5-mini-instruct", "HuggingFaceTB-SmolLM3-3B",
         "ibm-granite-granite-3.3-2B-Instruct")


def parts(role, *content):
    return {"role": role, "content": [{"type": "text", "text": c} if isinstance(c, str) else {"type": c[0]} for c in content]}


MEDIA = [parts("system", "Be brief."), parts("user", ("image",), ("video",), "What is this? <|im_end|>"), parts("assistant", "A circle."),
         parts("user", ("image",), "And <image> now?", " Ünïcödé 👍")]
PLAIN = [{"role": "user", "content": "  Hello <|im_end|> \n"}, {"role": "assistant", "content": " Hi! "}, {"role": "user", "content": "中文?"}]
SYSTEM = [{"role": "system", "content": "Rules [INST]"}] + PLAIN
ENDING = SYSTEM + [{"role": "assistant", "content": "<think>\nHm.\n</think>\n\nYes."}]
ROLES_WRONG = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]


def probes():
    """One template per line, except the white space probe, which needs its lines together."""
    lines, out, i = published("probes").split("\n")[:-1], [], 0
    while i < len(lines):
        if lines[i].startswith("   {% if true %}"):
            out.append("\n".join(lines[i:i + 4]) + "\n\n")
            i += 4
        else:
            out.append(lines[i])
            i += 1
    return out


def render(template, messages, add_prompt):
    try:
        rendered, _ = render_jinja_template(conversations=[messages], chat_template=template, add_generation_prompt=add_prompt,
                                            bos_token="<s>", eos_token="</s>")
        return rendered[0]
    except (jinja2.TemplateError, TypeError, ZeroDivisionError, ValueError, IndexError, AttributeError):
        return None


def without_clock(template):
    return "{% set strftime_now = undefined %}" + template if "strftime_now" in template else template


def main():
    FOLDER.mkdir(exist_ok=True)
    files = [(name, (pathlib.Path(sys.argv[1]) / f"{name}.jinja").read_text(encoding="utf-8"), (PLAIN, SYSTEM, ENDING)) for name in FILES]
    jobs = [(name, template, messages, prompt) for name, template, threads in (
        ("llava_onevision", published("llava_onevision"), (MEDIA, MEDIA[:2], MEDIA[1:2])), ("qwen2", published("qwen2"), (PLAIN, SYSTEM)), ("qwen2_vl", published("qwen2_vl"), (MEDIA, MEDIA[1:])),
        ("mistral", published("mistral"), (PLAIN, ROLES_WRONG, SYSTEM)), ("llama2", published("llama2"), (PLAIN, SYSTEM)), ("llama3", published("llama3"), (PLAIN, SYSTEM)),
        ("llava15", published("llava15"), (MEDIA,)), ("llava_next_mistral", published("llava_next_mistral"), (MEDIA,)), ("llava_next_vicuna", published("llava_next_vicuna"), (MEDIA,)),
        ("llava_next_yi", published("llava_next_yi"), (MEDIA,)), ("llava_next_video", published("llava_next_video"), (MEDIA,)), ("internvl", published("internvl"), (MEDIA,)),
         ("smolvlm", SMOLVLM, (MEDIA, MEDIA[:2], MEDIA[2:])), ("smolvlm_video", SMOLVLM_VIDEO, (MEDIA, MEDIA[1:])), ("idefics3", IDEFICS3, (MEDIA,)),
        ("smollm2", published("smollm2"), (PLAIN, SYSTEM)), ("gemma3", GEMMA3, (MEDIA, MEDIA[1:], PLAIN, SYSTEM, ROLES_WRONG)), *files) for messages in threads for prompt in (True, False)]
    jobs += [(f"probe {i}", probe, PLAIN, False) for i, probe in enumerate(probes())]
    lines, before = [], None
    for name, template, messages, prompt in jobs:
        case = {"name": name, **({} if template == before else {"template": template}), "messages": messages, "prompt": prompt,
                "expected": render(without_clock(template), messages, prompt)}
        lines.append(json.dumps(case, separators=(",", ":"), ensure_ascii=False))
        before = template
    (FOLDER / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = {"what": "rendered chat templates; expected null: the template must be refused",
                "reference": f"transformers {transformers.__version__}, jinja2 {jinja2.__version__}",
                "script": "tests/golden/make/make_chat_template_golden.py", "seed": "none", "cases": len(lines), "dtype": "text, exact",
                "tolerance": "none", "licence": "templates as published by their models (Apache-2.0, MIT, Llama and Gemma licences); probes own"}
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main()
