// Everything that a Qwen2VLForConditionalGeneration or Qwen2_5_VLForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (qwen2_vl.cpp) before a weight is loaded. The language half is `text_config`, or lies flat beside
// `vision_config`, as the published folders have it. Every field has a range (caps against hostile folders); what the engine does not run
// is refused by name. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject,
// kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/json_document.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/qwen_vision_config.h"

namespace winnow {

// The template that Qwen/Qwen2-VL-2B-Instruct and Qwen/Qwen2.5-VL-3B-Instruct publish: media where they stand in the message.
inline constexpr std::string_view kQwen2VlTemplate =
    "{% set image_count = namespace(value=0) %}{% set video_count = namespace(value=0) %}{% for message in messages %}"
    "{% if loop.first and message['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n{% if message['content'] is string %}{{ message['content'] }}<|im_end|>\n{% else %}"
    "{% for content in message['content'] %}{% if content['type'] == 'image' or 'image' in content or 'image_url' in content %}"
    "{% set image_count.value = image_count.value + 1 %}{% if add_vision_id %}Picture {{ image_count.value }}: {% endif %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% elif content['type'] == 'video' or 'video' in content %}"
    "{% set video_count.value = video_count.value + 1 %}{% if add_vision_id %}Video {{ video_count.value }}: {% endif %}"
    "<|vision_start|><|video_pad|><|vision_end|>{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

struct Qwen2VlConfig {
  DecoderConfig text;  // with three rotary axes
  QwenVisionConfig vision;
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
  // Positions that a second of a video takes (time_positions.h); none: a set of joined frames takes one, however long it lasts.
  std::optional<std::int64_t> positions_a_second;
};

// A whole folder: config.json and the files beside it, checked where they must agree (PatchGeometry).
struct Qwen2VlFolder {
  Qwen2VlConfig model;
  QwenVlProcessors processors;
};

// file: where `config` came from, for errors.
Qwen2VlConfig parse_qwen2_vl_config(const Json& config, const std::string& file);

Qwen2VlFolder read_qwen2_vl(const ModelPackage& package);

}  // namespace winnow
