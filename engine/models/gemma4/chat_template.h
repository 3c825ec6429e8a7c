// The chat template of Gemma 4 folders that have none. Used by gemma4.h.
#pragma once

#include <string_view>

namespace winnow {

// The template of google's folders for threads without tools: media where they stand in the message, thoughts of earlier answers left out,
// and an empty thought written for the answer unless thinking is asked for.
inline constexpr std::string_view kGemma4Template =
    "{%- macro spoken(text) -%}{%- set said = namespace(text='') -%}{%- for part in text.split('<channel|>') -%}"
    "{%- set said.text = said.text + part.split('<|channel>')[0] -%}{%- endfor -%}{{- said.text | trim -}}{%- endmacro -%}"
    "{%- set thinks = enable_thinking is defined and enable_thinking -%}{%- set rest = messages -%}{{- bos_token -}}"
    "{%- if thinks or messages[0]['role'] in ['system', 'developer'] -%}{{- '<|turn>system\n' -}}"
    "{%- if thinks -%}{{- '<|think|>\n' -}}{%- endif -%}{%- if messages[0]['role'] in ['system', 'developer'] -%}"
    "{{- messages[0]['content'] | trim -}}{%- set rest = messages[1:] -%}{%- endif -%}{{- '<turn|>\n' -}}{%- endif -%}"
    "{%- for message in rest -%}{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}"
    "{{- '<|turn>' + role + '\n' -}}{%- if message['content'] is string -%}"
    "{%- if role == 'model' -%}{{- spoken(message['content']) -}}{%- else -%}{{- message['content'] | trim -}}{%- endif -%}"
    "{%- else -%}{%- for item in message['content'] -%}{%- if item['type'] == 'text' -%}"
    "{%- if role == 'model' -%}{{- spoken(item['text']) -}}{%- else -%}{{- item['text'] | trim -}}{%- endif -%}"
    "{%- elif item['type'] == 'image' -%}{{- '<|image|>' -}}{%- elif item['type'] == 'video' -%}{{- '<|video|>' -}}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}{{- '<turn|>\n' -}}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|turn>model\n' -}}{%- if not thinks -%}{{- '<|channel>thought\n<channel|>' -}}{%- endif -%}"
    "{%- endif -%}";

}  // namespace winnow
