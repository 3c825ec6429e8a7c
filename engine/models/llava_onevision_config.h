// Everything that a LlavaOnevisionForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (llava_onevision.h) before a weight is loaded. Every field has a range (caps against hostile folders): zero
// heads, indivisible head counts, unknown activations, other rotary scalings and sliding windows are refused by name instead of failing
// later as arithmetic. Keys of both transformers 4 (rope_theta, *_token_index) and 5 (rope_parameters, *_token_id) are read; sizes that
// transformers would default must be written, because a silent default hides a damaged file. Whether q/k/v have biases is not said here:
// the weight names decide. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject,
// kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/models/generation_defaults.h"
#include "engine/models/winnow_sidecar.h"
#include "engine/vision/processor_config.h"
#include "engine/vision/visual_grid.h"

namespace winnow {

enum class FeatureSelectStrategy : int {
  kFull = 1,     // every patch
  kDefault = 2,  // without the first (the class token of towers that have one)
};

struct Qwen2Config {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // even; hidden_size / heads unless the file says otherwise
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000.0;
  std::int64_t max_positions = 32768;
  std::int64_t vocabulary = 0;
  bool tie_word_embeddings = false;
  Activation activation = Activation::kSilu;
  std::vector<std::int64_t> eos_token_ids;  // of text_config; generation_config.json goes first
};

struct SiglipVisionConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t image_size_px = 0;
  std::int64_t patch_size_px = 0;
  std::int64_t patches_per_side = 0;  // image_size / patch_size, rounded down
  std::int64_t channels = 3;          // always 3
  double layer_norm_eps = 1e-6;
  Activation activation = Activation::kGeluTanh;
  bool use_head = true;  // the pooling head of the file is never used by this family
};

struct LlavaOnevisionConfig {
  Qwen2Config text;
  SiglipVisionConfig vision;
  Activation projector_activation = Activation::kGelu;
  bool projector_bias = true;
  // Hidden states of the tower that are concatenated for the projector, in the file's order, counted from the embeddings:
  // 0 = before the first layer, vision.layers = after the last. Never empty.
  std::vector<std::int64_t> feature_states;
  FeatureSelectStrategy select_strategy = FeatureSelectStrategy::kFull;
  GridRules grid;  // pinpoints, tile side, patches per side, N of "anyres_max_N"
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
};

// A whole folder: config.json and the files beside it, with the places checked where they must agree (pixel sizes, pinpoints, aspect
// ratio, select strategy, tokens per image, token ids inside the vocabulary).
struct LlavaOnevisionFolder {
  LlavaOnevisionConfig model;
  ProcessorConfig processor;
  GenerationDefaults generation;
  WinnowSidecar sidecar;
};

// file: where `config` came from, for errors.
LlavaOnevisionConfig parse_llava_onevision_config(const Json& config, const std::string& file);

LlavaOnevisionFolder load_llava_onevision_folder(const std::string& folder);

}  // namespace winnow
