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
LLAVA = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + ' '}}{# Render all images first #}{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>' }}{% endfor %}{# Render all video then #}{% for content in message['content'] | selectattr('type', 'equalto', 'video') %}{{ '<video>' }}{% endfor %}{# Render all text next #}{% if message['role'] != 'assistant' %}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ '\\n' + content['text'] }}{% endfor %}{% else %}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{% generation %}{{ '\\n' + content['text'] }}{% endgeneration %}{% endfor %}{% endif %}{{'<|im_end|>'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
QWEN2 = ("{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
QWEN2_VL = ("{% set image_count = namespace(value=0) %}{% set video_count = namespace(value=0) %}{% for message in messages %}{% if loop.first and message['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}<|im_start|>{{ message['role'] }}\n{% if message['content'] is string %}{{ message['content'] }}<|im_end|>\n{% else %}{% for content in message['content'] %}{% if content['type'] == 'image' or 'image' in content or 'image_url' in content %}{% set image_count.value = image_count.value + 1 %}{% if add_vision_id %}Picture {{ image_count.value }}: {% endif %}<|vision_start|><|image_pad|><|vision_end|>{% elif content['type'] == 'video' or 'video' in content %}{% set video_count.value = video_count.value + 1 %}{% if add_vision_id %}Video {{ video_count.value }}: {% endif %}<|vision_start|><|video_pad|><|vision_end|>{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
MISTRAL = ("{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}")
LLAMA2 = ("{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}")
LLAMA3 = ("{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}")
LLAVA15 = ("{% for message in messages %}{% if message['role'] != 'system' %}{{ message['role'].upper() + ': '}}{% endif %}{# Render all images first #}{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\n' }}{% endfor %}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ content['text'] + ' '}}{% endfor %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}")
# LLaVA-NeXT's, by the decoder it is published with, and LLaVA-NeXT-Video's.
NEXT_MISTRAL = ("{% for message in messages %}{% if message['role'] == 'system' %}{{ '<<SYS>>\\n' + message['content'][0]['text'] + '\\n<</SYS>>\\n\\n' }}{% elif message['role'] == 'user' %}{{ '[INST] ' }}{# Render all images first #}{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}{# Render all text next #}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ content['text'] }}{% endfor %}{{' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' ' + message['content'][0]['text'] + '<\\\\s> '}}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}")
NEXT_VICUNA = ("{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'][0]['text'] }}{% else %}{{ message['role'].upper() + ': '}}{% endif %}{# Render all images first #}{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}{# Render all text next #}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ content['text'] + ' '}}{% endfor %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}")
NEXT_YI = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n'}}{# Render all images first #}{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}{# Render all text next #}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ content['text'] }}{% endfor %}{{'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
NEXT_VIDEO = ("{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'][0]['text'] }}{% else %}{{ message['role'].upper() + ': '}}{% endif %}{# Render all images first #}{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}{# Render all video next #}{% for content in message['content'] | selectattr('type', 'equalto', 'video') %}{{ '<video>\\n' }}{% endfor %}{# Render all text finally #}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ content['text'] + ' '}}{% endfor %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}")
INTERNVL = ("{%- for message in messages -%}\n    {{- '<|im_start|>' ~ message.role ~ '\\n' -}}\n    {%- if message.content is string -%}\n        {{ message.content }}\n    {%- else -%}\n        {%- for c in message.content -%}\n            {%- if c.type == 'image' -%}\n<IMG_CONTEXT>\n{{ '\\n' }}\n            {%- elif c.type == 'text' -%}\n                {{ c.text }}\n            {%- endif -%}\n        {%- endfor -%}\n    {%- endif -%}\n    {{- '<|im_end|>\\n' -}}\n{%- endfor -%}\n{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}\n")
SMOLVLM = ("<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}")
SMOLVLM_VIDEO = SMOLVLM.replace("{% endif %}{% endfor %}<end", "{% elif line['type'] == 'video' %}{{ '<video>' }}{% endif %}{% endfor %}<end")
IDEFICS3 = SMOLVLM.replace("<|im_start|>", "<|begin_of_text|>").replace("{{message['role'] | capitalize}}", "{{message['role'].capitalize()}}")

SMOLLM2 = ("{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
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

PROBES = """{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 1 + 2 * 3 - 4 }} {{ 'a' ~ 1 ~ 2.5 ~ true ~ none }}
{{ 'x' * 3 }} {{ [1, 'a', none, true, 1.0, {'k': "it's"}] }} {{ (1, ) | list }} {{ 100000.0 }} {{ 1e3 if false else 0.00001 }}
{{ 'abcdef'[1:4] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[-2:] }} {{ [1,2,3,4][::2] }} {{ 'äöü'[1] }} {{ messages[5] }}|{{ messages[-1].role }}
{% for i in range(5) if i % 2 == 0 %}{{ loop.index }}/{{ loop.length }}:{{ i }}{{ '' if loop.last else ', ' }}{% endfor %}
{% for x in [] %}x{% else %}empty{% endfor %} {% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}
{% set ns = namespace(n=0, s='') %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% set ns.s = ns.s ~ m.role[0] %}{% endfor %}{{ ns.n }}{{ ns.s }}
{% macro f(a, b='B') %}[{{ a }}-{{ b }}]{% endmacro %}{{ f(1) }}{{ f(1, 2) }}{{ f(b=3, a=4) }}{{ f() }}
{{ ' a b  c '.split() }} {{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1)[-1] }} {{ 'xxaxx'.strip('x') }}
{{ 'Hello World'.upper() }} {{ 'Hello'.lower() }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }} {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'bc')) }}
{{ 'a-b-c'.replace('-', '+') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'abc'.find('c') }} {{ 'banana'.count('an') }} {{ 'x' | replace('x', 'y') }}
{{ messages | length }} {{ 'äb' | length }} {{ [3,1] | first }} {{ [3,1] | last }} {{ ['a','b'] | join('-') }} {{ [1,2] | reverse | list }} {{ 'abc' | reverse }}
{{ messages | map(attribute='role') | join(',') }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | rejectattr('role', 'eq', 'user') | map(attribute='role') | list }}
{{ {'a': [1, 2.5, none, true, 'q"\\n/ü']} | tojson }} {{ [] | tojson }} {{ {'a': {'b': [1]}} | tojson(indent=2) }}
{{ x is defined }} {{ x is undefined }} {{ none is none }} {{ 's' is string }} {{ {} is mapping }} {{ [] is iterable }} {{ 1 is number }} {{ true is true }} {{ 3 is odd }} {{ 1 is not none and 2 is even }}
{{ x | default('d') }} {{ '' | default('e', true) }} {{ '12' | int + 1 }} {{ 'z' | int }} {{ 5 | string + 'x' }} {{ '1.5' | float }} {{ -3 | abs }}
{{ 1 < 2 < 3 }} {{ 1 < 2 > 5 }} {{ 'a' in 'abc' }} {{ 'z' not in ['a'] }} {{ 'a' in {'a': 1} }} {{ not 1 == 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' < 'b' }}
{{ 'yes' if x is defined else 'no' }}|{{ 'yes' if false }}|{{ 'a' if true else 'b' if true else 'c' }} {{ none or 'x' }} {{ 0 and 1 }} {{ 1 and 'k' }}
a  {%- if true -%}  b  {%- endif -%}  c   {{- 'd' -}}   e {#- note -#} f
   {% if true %}
  indented
   {% endif %}
tail {%+ if true %}plus{% endif +%}
{% raw %}{{ not a tag }}{% endraw %} {% filter upper %}shout{% endfilter %} {% set b %}cap{{ 1 }}{% endset %}{{ b }}
{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% for i in [1,2,3] %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {{ loop.revindex }} {{ loop.cycle('a', 'b') }};{% endfor %}
{% set v = 1 %}{% for i in [1] %}{% set v = 2 %}{{ v }}{% endfor %}{{ v }}{% if true %}{% set v = 3 %}{% endif %}{{ v }}
{{ messages[0].get('role') }} {{ messages[0].get('nope', 'dflt') }} {{ messages[0].nope }}| {{ {'b': 1, 'a': 2}.keys() | list }} {{ {'z': [1]}.z[0] }}
{{ '\\t|\\\\|\\'|\\x41|\\u00e9' }} {{ "dq 'q'" }} {{ 'a' 'b' }} {{ 1_000 }} {{ 'line1\\nline2'.splitlines() }} {{ [[1, 2], [3]] | map('length') | list }}
{{ ['a', '', 'b'] | select | list }} {{ [1, 2, 3] | select('odd') | list }} {{ [1,2] + [3] }} {{ -2 ** 2 }} {{ 2 ** -1 }} {{ dict(a=1) }} {{ (1 + 2) * 3 }}
{{ none | selectattr('type', 'equalto', 'x') | list }} {{ none | map('upper') | list }} {{ '' | select | list }} {% for k, v in {'b': 1, 'A': 2, 'c': 0} | dictsort %}{{ k }}{{ v }}{% endfor %} {% for k, v in {10: 'x', 9: 'y'} | dictsort %}{{ k }}{{ v }}{% endfor %}
{{ '<{}|{}>'.format('a', 1) }} {{ '{0}{1}{0}'.format('x', none) }} {{ '{a}-{b}'.format(b=2, a='A') }} {{ '{{}}{}'.format(true) }}
{{ '{}'.format() }}
{{ '{'.format(1) }}
{{ [1] | dictsort }}
{{ strftime_now is defined }} {{ strftime_now | default('x') }}
{{ undefined_thing.attr }}
{{ 1 / 0 }}
{{ 'a' + 1 }}
{{ messages | nofilter }}
{{ messages is notest }}
{{ ''.__class__ }}{{ ''.__class__.__mro__ }}
{% include 'x' %}
{{ raise_exception('no') }}
{% if %}x{% endif %}
{% for %}{% endfor %}
{{ 'open
{% endif %}
{% unknown %}""".split("\n")


def probes():
    """One template per line, except the white space probe, which needs its lines together."""
    lines, out, i = PROBES, [], 0
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
        ("llava_onevision", LLAVA, (MEDIA, MEDIA[:2], MEDIA[1:2])), ("qwen2", QWEN2, (PLAIN, SYSTEM)), ("qwen2_vl", QWEN2_VL, (MEDIA, MEDIA[1:])),
        ("mistral", MISTRAL, (PLAIN, ROLES_WRONG, SYSTEM)), ("llama2", LLAMA2, (PLAIN, SYSTEM)), ("llama3", LLAMA3, (PLAIN, SYSTEM)),
        ("llava15", LLAVA15, (MEDIA,)), ("llava_next_mistral", NEXT_MISTRAL, (MEDIA,)), ("llava_next_vicuna", NEXT_VICUNA, (MEDIA,)),
        ("llava_next_yi", NEXT_YI, (MEDIA,)), ("llava_next_video", NEXT_VIDEO, (MEDIA,)), ("internvl", INTERNVL, (MEDIA,)),
         ("smolvlm", SMOLVLM, (MEDIA, MEDIA[:2], MEDIA[2:])), ("smolvlm_video", SMOLVLM_VIDEO, (MEDIA, MEDIA[1:])), ("idefics3", IDEFICS3, (MEDIA,)),
        ("smollm2", SMOLLM2, (PLAIN, SYSTEM)), ("gemma3", GEMMA3, (MEDIA, MEDIA[1:], PLAIN, SYSTEM, ROLES_WRONG)), *files) for messages in threads for prompt in (True, False)]
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
