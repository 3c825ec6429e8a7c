// Everything that a Qwen3_5ForConditionalGeneration or Qwen3_5MoeForConditionalGeneration folder says about itself, checked. Read by
// qwen3_vl.cpp before a weight is loaded.
//
// Its vision encoder has Qwen3-VL's keys and no deepstack layers. Published folders give it the model's own model_type. Errors as in
// qwen3_vl_config.h. No torch. Threads: plain values.
#pragma once

#include <string>
#include <string_view>

#include "engine/models/families/qwen3_vl_config.h"

namespace winnow {

// The template of Qwen/Qwen3.5-4B for threads without tools: media where they stand in the message, thoughts of answers before the last
// question left out, and `<think>` opened for the answer, or closed at once where enable_thinking is false.
inline constexpr std::string_view kQwen35Template =
    "{%- macro content_of(content) %}{%- if content is string %}{{- content }}{%- else %}{%- for item in content %}"
    "{%- if item.type == 'image' or 'image' in item or 'image_url' in item %}{{- '<|vision_start|><|image_pad|><|vision_end|>' }}"
    "{%- elif item.type == 'video' or 'video' in item %}{{- '<|vision_start|><|video_pad|><|vision_end|>' }}"
    "{%- elif 'text' in item %}{{- item.text }}{%- endif %}{%- endfor %}{%- endif %}{%- endmacro %}"
    "{%- set last = namespace(question=-1) %}{%- for message in messages %}{%- if message.role == 'user' %}"
    "{%- set last.question = loop.index0 %}{%- endif %}{%- endfor %}{%- for message in messages %}"
    "{%- set content = content_of(message.content) | trim %}{%- if message.role == 'assistant' %}"
    "{%- set thoughts = namespace(text='') %}{%- if message.reasoning_content is string %}{%- set thoughts.text = "
    "message.reasoning_content %}"
    "{%- elif '</think>' in content %}{%- set thoughts.text = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') "
    "%}"
    "{%- set content = content.split('</think>')[-1].lstrip('\n') %}{%- endif %}{{- '<|im_start|>assistant\n' }}"
    "{%- if loop.index0 > last.question %}{{- '<think>\n' + thoughts.text | trim + '\n</think>\n\n' }}{%- endif %}{{- content + "
    "'<|im_end|>\n' }}"
    "{%- else %}{{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{- '<think>\n\n</think>\n\n' }}{%- else %}{{- '<think>\n' }}{%- endif %}{%- endif %}";

// file: where `config` came from, for errors.
Qwen3VlConfig parse_qwen3_5_config(const Json& config, const std::string& file);

Qwen3VlFolder read_qwen3_5(const ModelPackage& package);

}  // namespace winnow
