// Everything that the folder of a LLaVA says about itself, checked: LlavaForConditionalGeneration (LLaVA-1.5),
// LlavaNextForConditionalGeneration (LLaVA-NeXT, 1.6) and LlavaNextVideoForConditionalGeneration.
//
// Read by the family's model (llava.h) before a weight is loaded. The three differ in what they do with pictures and in what their files
// need not say; that is one row each of a table. Defaults are those of transformers' configuration classes, because the published folders
// leave much out. Keys of both transformers 4 (*_token_index) and 5 (*_token_id) are read. Errors: Exception; kDamagedFile,
// kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/json_document.h"
#include "engine/models/decoder_config.h"
#include "engine/models/llava/llava_processor_config.h"
#include "engine/models/llava_parts/frame_pooling.h"
#include "engine/models/llava_parts/llava_vision_config.h"
#include "engine/models/llava_parts/visual_grid.h"

namespace winnow {

struct LlavaConfig : LlavaVisionConfig {
  DecoderConfig text;
  LlavaSight sight;
  GridRules grid;  // pinpoints where the class tiles; tile side, patches per side
  FramePoolingRules pooling;
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = -1;  // -1: the class reads no videos

  std::int64_t frame_side() const { return pooling.side(vision.patches_per_side); }  // in tokens
};

// A whole folder, with the places checked where they must agree (pixel sizes, pinpoints, select strategy, tokens per image).
struct LlavaFolder {
  LlavaConfig model;
  LlavaProcessorConfig processor;
};

// model_type: "llava", "llava_next" or "llava_next_video". file: where `config` came from, for errors.
LlavaConfig parse_llava_config(const Json& config, const std::string& file, std::string_view model_type);

LlavaFolder read_llava(const ModelPackage& package, std::string_view model_type);

}  // namespace winnow
