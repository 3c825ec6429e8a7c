// Everything that a Glm4vForConditionalGeneration, Glm46VForConditionalGeneration or Glm4vMoeForConditionalGeneration folder says about
// itself, checked. Read by qwen3_vl.cpp before a weight is loaded.
//
// The first two classes have the same network, the third the decoder of GLM-4.5 behind the same tower. How frames are told their times
// follows the processor's class where a file names it, as in transformers, else the model's. Bounds count the pixels of all frames of a set
// (CountedPixels::kOfSets); which frames are read is the frame plan's matter: fps, num_frames and max_duration are not looked at. Ids of
// the marks around a whole video are not read: the template writes these tokens. Errors as in qwen3_vl_config.h. No torch. Threads: plain
// values.
#pragma once

#include <string>
#include <string_view>

#include "engine/models/config/decoder_config.h"
#include "engine/models/families/qwen3_vl_config.h"

namespace winnow {

// The configuration of GLM-4's decoder, read from config.json (`text_config` of GLM-4V) and checked. A layer has four norms, gate and up
// are one matrix, and neighbours are rotary pairs of the first part of a head. GGUF files of models that see have them as halves
// (rotary_pairs_in_halves of gguf_config.h). With experts (GLM-4.5) a layer is a Llama's, whose pairs are halves; the weights tell which
// layers have experts, so first_k_dense_replace is not read. Follows transformers 5.24, of which the model that sees has no norms of
// queries and keys (use_qk_norm).

inline constexpr std::string_view kGlm4MoeType = "glm4_moe";  // of text alone

// Positions have one axis. assumed_type: the model_type of files that name none.
DecoderConfig parse_glm4_text_config(const JsonObject& text, std::string_view assumed_type);

// The chat templates of folders that have none.

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

// file: where `config` came from, for errors.
Qwen3VlConfig parse_glm4v_config(const Json& config, const std::string& file);

Qwen3VlFolder read_glm4v(const ModelPackage& package);

}  // namespace winnow
