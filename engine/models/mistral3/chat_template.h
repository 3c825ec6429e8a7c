// The chat template of folders that have none. Used by mistral3.h.
#pragma once

#include <string_view>

namespace winnow {

// The dialogue of mistralai/Mistral-Small-3.1-24B-Instruct-2503 without its system text, which speaks of another program.
inline constexpr std::string_view kMistral3Template =
    "{{ bos_token }}{% for message in messages %}"
    "{% set begin = {'system': '[SYSTEM_PROMPT]', 'user': '[INST]'} %}{% set end = {'system': '[/SYSTEM_PROMPT]', 'user': '[/INST]'} %}"
    "{{ begin[message['role']] if message['role'] in begin else '' }}{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for block in message['content'] %}{% if block['type'] in ['image', 'image_url'] %}[IMG]"
    "{% elif block['type'] == 'text' %}{{ block['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{ end[message['role']] if message['role'] in end else eos_token }}{% endfor %}";

}  // namespace winnow
