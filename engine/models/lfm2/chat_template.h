// The chat template of folders that have none. Used by lfm2_vl.h.
#pragma once

#include <string_view>

namespace winnow {

// The dialogue of LiquidAI's LFM2-VL folders, without tools.
inline constexpr std::string_view kLfm2VlTemplate =
    "{{ bos_token }}{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for item in message['content'] %}"
    "{% if item['type'] == 'image' %}{{ '<image>' }}{% elif item['type'] == 'text' %}{{ item['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{ '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

}  // namespace winnow
