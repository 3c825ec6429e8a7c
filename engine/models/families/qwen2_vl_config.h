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

#include "engine/base/json_document.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/qwen_vision_config.h"

namespace winnow {

struct Qwen2VlConfig {
  DecoderConfig text;  // with three rotary axes
  QwenVisionConfig vision{};
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
  // Positions that a second of a video takes (time_positions.h); none: a set of joined frames takes one, however long it lasts.
  std::optional<std::int64_t> positions_a_second{};
};

// A whole folder: config.json and the files beside it, checked where they must agree (PatchGeometry).
struct Qwen2VlFolder {
  Qwen2VlConfig model;
  QwenVlProcessors processors{};
};

// file: where `config` came from, for errors.
Qwen2VlConfig parse_qwen2_vl_config(const Json& config, const std::string& file);

Qwen2VlFolder read_qwen2_vl(const ModelPackage& package);

}  // namespace winnow
