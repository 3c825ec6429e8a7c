// Everything that a LlavaOnevisionForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (llava_onevision.h) before a weight is loaded. Every field has a range (caps against hostile folders); what
// the engine does not run is refused by name instead of failing later as arithmetic. Keys of both transformers 4 (*_token_index) and 5
// (*_token_id) are read. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject,
// kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/models/decoder_config.h"
#include "engine/models/llava_onevision/processor_config.h"
#include "engine/models/llava_onevision/video_rules.h"
#include "engine/models/llava_parts/llava_vision_config.h"
#include "engine/models/llava_parts/visual_grid.h"

namespace winnow {

struct LlavaOnevisionConfig : LlavaVisionConfig {
  DecoderConfig text;
  GridRules grid;  // pinpoints, tile side, patches per side, N of "anyres_max_N"
  VideoRules video;
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
};

// A whole folder: config.json and the files beside it, with the places checked where they must agree (pixel sizes, pinpoints, aspect
// ratio, select strategy, tokens per image, token ids inside the vocabulary).
struct LlavaOnevisionFolder {
  LlavaOnevisionConfig model;
  ProcessorConfig processor;
};

// file: where `config` came from, for errors.
LlavaOnevisionConfig parse_llava_onevision_config(const Json& config, const std::string& file);

LlavaOnevisionFolder read_llava_onevision(const ModelPackage& package);

}  // namespace winnow
