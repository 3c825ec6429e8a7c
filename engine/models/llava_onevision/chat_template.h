// The chat template of folders that have none. Used by llava_onevision.h.
#pragma once

#include <string_view>

namespace winnow {

// LLaVA-OneVision's own (llava-hf/llava-onevision-qwen2-0.5b-ov-hf): images first, then videos, then text.
inline constexpr std::string_view kLlavaOnevisionTemplate =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + ' '}}"
    "{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>' }}{% endfor %}"
    "{% for content in message['content'] | selectattr('type', 'equalto', 'video') %}{{ '<video>' }}{% endfor %}"
    "{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}{{ '\\n' + content['text'] }}{% endfor %}"
    "{{'<|im_end|>'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

}  // namespace winnow
