// The chat template of LLaVA-1.5 folders that have none: older ones say it on their model card only. Used by llava.h.
#pragma once

#include <string_view>

namespace winnow {

// Vicuna's, as llava-hf/llava-1.5-7b-hf has it by now: images first, then text.
inline constexpr std::string_view kLlavaTemplate =
    "{% for message in messages %}{% if message['role'] != 'system' %}{{ message['role'].upper() + ': '}}{% endif %}"
    "{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}"
    "{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ content['text'] + ' '}}{% endfor %}"
    "{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}";

}  // namespace winnow
