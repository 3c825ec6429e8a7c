// The chat templates of folders that have none. Used by glm4v_config.h.
#pragma once

#include <string_view>

namespace winnow {

// The template of zai-org/GLM-4.1V-9B-Thinking: media where they stand in the message. It thinks whatever it is told.
inline constexpr std::string_view kGlm41VTemplate =
    "[gMASK]<sop>{%- for message in messages %}{%- if message.role == 'system' %}{{- '<|system|>\n' + message.content }}"
    "{%- elif message.role == 'user' %}{{- '<|user|>\n' }}{%- if message.content is string %}{{- message.content }}{%- else %}"
    "{%- for item in message.content %}{%- if item.type == 'video' or 'video' in item %}"
    "{{- '<|begin_of_video|><|video|><|end_of_video|>' }}{%- elif item.type == 'image' or 'image' in item %}"
    "{{- '<|begin_of_image|><|image|><|end_of_image|>' }}{%- elif item.type == 'text' %}{{- item.text }}{%- endif %}{%- endfor %}"
    "{%- endif %}{%- elif message.role == 'assistant' %}{{- '<|assistant|>\n' + message.content }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>\n' }}{%- endif %}";

// The template of zai-org/GLM-4.5V and GLM-4.6V-Flash for threads without tools: thoughts of answers before the last question left out,
// `/nothink` behind questions and a closed thought where enable_thinking is false.
inline constexpr std::string_view kGlm46VTemplate =
    "[gMASK]<sop>{%- macro content_of(content) %}{%- if content is string %}{{- content }}{%- else %}{%- for item in content %}"
    "{%- if item.type == 'video' or 'video' in item %}{{- '<|begin_of_video|><|video|><|end_of_video|>' }}"
    "{%- elif item.type == 'image' or 'image' in item %}{{- '<|begin_of_image|><|image|><|end_of_image|>' }}"
    "{%- elif item.type == 'text' %}{{- item.text }}{%- endif %}{%- endfor %}{%- endif %}{%- endmacro %}"
    "{%- set thinks = not (enable_thinking is defined and not enable_thinking) %}"
    "{%- set last = namespace(question=-1) %}{%- for message in messages %}{%- if message.role == 'user' %}"
    "{%- set last.question = loop.index0 %}{%- endif %}{%- endfor %}{%- for message in messages %}"
    "{%- set content = content_of(message.content) %}{%- if message.role == 'user' %}{{- '<|user|>\n' + content }}"
    "{%- if not thinks and not content.endswith('/nothink') %}{{- '/nothink' }}{%- endif %}{%- elif message.role == 'assistant' %}"
    "{%- set thoughts = namespace(text='') %}{%- if message.reasoning_content is string %}{%- set thoughts.text = "
    "message.reasoning_content %}"
    "{%- elif '</think>' in content %}{%- set thoughts.text = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') "
    "%}"
    "{%- set content = content.split('</think>')[-1].lstrip('\n') %}{%- endif %}{{- '<|assistant|>\n<think>' }}"
    "{%- if loop.index0 > last.question %}{{- thoughts.text.strip() }}{%- endif %}{{- '</think>' }}"
    "{%- if content.strip() %}{{- '\n' + content.strip() }}{%- endif %}{%- elif message.role == 'system' %}"
    "{{- '<|system|>\n' + content }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>\n' }}{%- if not thinks %}{{- '<think></think>\n' }}{%- endif %}{%- endif %}";

}  // namespace winnow
