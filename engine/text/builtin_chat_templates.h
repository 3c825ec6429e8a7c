// Chat templates for model folders that have none, by the model_type of config.json. Used by chat_template.cpp.
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

// ChatML with Qwen2-VL's placeholders.
inline constexpr std::string_view kQwen2VlTemplate =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}{% for content in message['content'] %}"
    "{% if content['type'] == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}"
    "{% elif content['type'] == 'video' %}{{ '<|vision_start|><|video_pad|><|vision_end|>' }}"
    "{% else %}{{ content['text'] }}{% endif %}{% endfor %}{{ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

constexpr std::string_view builtin_chat_template(std::string_view model_type) {
  if (model_type == "llava_onevision" || model_type == "llava_qwen") return kLlavaOnevisionTemplate;
  if (model_type == "qwen2_vl" || model_type == "qwen2_5_vl" || model_type == "qwen2") return kQwen2VlTemplate;
  return {};
}

}  // namespace winnow
