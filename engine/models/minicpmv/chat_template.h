// The chat template of folders that have none. Used by minicpmv.h.
#pragma once

#include <string_view>

namespace winnow {

// The template of openbmb/MiniCPM-V-4.6 for threads without tools: a message's parts on lines of their own, thoughts of answers before
// the last question left out. Unless enable_thinking is true, the answer's thought is closed at once.
inline constexpr std::string_view kMiniCpmVTemplate =
    "{%- macro content_of(content) %}{%- if content is string %}{{- content }}{%- else %}{%- set parts = namespace(all=[]) %}"
    "{%- for item in content %}{%- if item.type == 'image' or 'image' in item or 'image_url' in item %}"
    "{%- set parts.all = parts.all + ['<|image_pad|>'] %}{%- elif item.type == 'video' or 'video' in item %}"
    "{%- set parts.all = parts.all + ['<|video_pad|>'] %}{%- elif 'text' in item %}{%- set parts.all = parts.all + [item.text] %}"
    "{%- endif %}{%- endfor %}{{- parts.all | join('\n') }}{%- endif %}{%- endmacro %}"
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
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- if enable_thinking is defined and enable_thinking %}"
    "{{- '<think>\n' }}{%- else %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}{%- endif %}";

}  // namespace winnow
