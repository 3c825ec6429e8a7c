// Everything that a Qwen3VLForConditionalGeneration or Qwen3VLMoeForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (qwen3_vl.h) before a weight is loaded. Every field has a range (caps against hostile folders); what the
// engine does not run is refused by name. Images have the processor of Qwen2-VL, videos one of their own, which counts the pixels of all
// frames together; which frames are read is the frame plan's matter: fps, min_frames and max_frames are not looked at. Errors: Exception;
// kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/json_document.h"
#include "engine/models/decoder_config.h"
#include "engine/models/qwen3_vl/chat_template.h"
#include "engine/models/qwen3_vl/timed_frames.h"
#include "engine/models/qwen_vl_parts/patch_processor_config.h"
#include "engine/models/qwen_vl_parts/qwen_vision_config.h"

namespace winnow {

struct Qwen3VlConfig {
  DecoderConfig text;  // with three rotary axes and deepstack features
  QwenVisionConfig vision;
  Qwen3VlTokens tokens;
};

// Texts of the tokens that Qwen3VlTokens has the ids of.
struct Qwen3VlTokenTexts {
  const char* image = "<|image_pad|>";
  const char* video = "<|video_pad|>";
  const char* vision_start = "<|vision_start|>";
  const char* vision_end = "<|vision_end|>";
};

// A whole folder: config.json and the files beside it, checked where they must agree (PatchGeometry).
struct Qwen3VlFolder {
  Qwen3VlConfig model;
  QwenVlProcessors processors;
  std::string_view chat_template = kQwen3VlTemplate;  // of folders that have none
  FrameTimes times = FrameTimes::kBefore;
  Qwen3VlTokenTexts texts{};
};

// file: where `config` came from, for errors.
Qwen3VlConfig parse_qwen3_vl_config(const Json& config, const std::string& file);

Qwen3VlFolder read_qwen3_vl(const ModelPackage& package);

// For families whose media are those of Qwen3-VL (qwen3_5, glm4v): the parts of their files that are alike. deepstack: without its layers.
DeepstackConfig read_position_table(const JsonObject& vision);
QwenVisionConfig read_qwen3_vision(const JsonObject& vision, std::int64_t decoder_hidden_size);
Qwen3VlTokens read_qwen3_tokens(const JsonObject& root, const Qwen3VlTokens& defaults, std::int64_t vocabulary);
QwenVlProcessors read_qwen3_processors(const ModelPackage& package, const QwenVisionConfig& vision);

}  // namespace winnow
