// Everything that a Qwen2VLForConditionalGeneration or Qwen2_5_VLForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (qwen2_vl.h) before a weight is loaded. The language half is `text_config`, or lies flat beside
// `vision_config`, as the published folders have it. Every field has a range (caps against hostile folders); what the engine does not run
// is refused by name. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject,
// kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/models/decoder_config.h"
#include "engine/models/qwen2_vl/patch_processor_config.h"

namespace winnow {

// What Qwen2.5-VL's tower has that Qwen2-VL's has not, beside RMS norms and gated blocks.
struct WindowConfig {
  std::int64_t side_cells = 0;             // of a window within which attention stays
  std::vector<std::int64_t> whole_layers;  // layers where it does not
};

struct Qwen2VisionConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;  // a multiple of four: rows and columns turn half of it each
  std::int64_t out_size = 0;  // of a token; the decoder's hidden size
  PatchGeometry patches;
  Activation activation = Activation::kQuickGelu;
  std::optional<WindowConfig> windows;  // of Qwen2.5-VL
};

struct Qwen2VlConfig {
  DecoderConfig text;  // with three rotary axes
  Qwen2VisionConfig vision;
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
  // Positions that a second of a video takes (time_positions.h); none: a set of joined frames takes one, however long it lasts.
  std::optional<std::int64_t> positions_a_second;
};

// A whole folder: config.json and the files beside it, checked where they must agree (PatchGeometry).
struct Qwen2VlFolder {
  Qwen2VlConfig model;
  Qwen2VlProcessors processors;
};

// file: where `config` came from, for errors.
Qwen2VlConfig parse_qwen2_vl_config(const Json& config, const std::string& file);

Qwen2VlFolder read_qwen2_vl(const ModelPackage& package);

}  // namespace winnow
