// Everything that a folder of Gemma4ForConditionalGeneration or Gemma4UnifiedForConditionalGeneration (12B) says about itself, checked.
// Read by gemma4.h before a weight is loaded.
//
// Values that config.json leaves out are those of transformers' Gemma4Config, Gemma4UnifiedConfig and their vision configurations; the text
// model is read by gemma4_text_config.h. Budgets of soft tokens are the processors' max_soft_tokens, of a picture and of a frame, where it
// is one of kSoftTokenBudgets. The sound encoder (audio_config) is left unread. Errors: Exception; kDamagedFile, kLimitExceeded,
// kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/model_files/model_package.h"
#include "engine/models/decoder_config.h"
#include "engine/models/gemma4/soft_tokens.h"

namespace winnow {

struct Gemma4Vision {
  std::int64_t hidden_size = 768;
  std::int64_t intermediate_size = 3072;
  std::int64_t layers = 16;
  std::int64_t heads = 12;
  std::int64_t head_dim = 64;
  std::int64_t patch_px = 16;
  std::int64_t pooled = 3;         // patches along a token's side
  std::int64_t positions = 10240;  // entries of the table, for rows as for columns
  double norm_eps = 1e-6;
  double theta = 100.0;
  Activation activation = Activation::kGeluTanh;
  bool clipped = false;       // products and their inputs are cut to bounds
  bool standardised = false;  // tokens, by a bias and a scale
};

// For the 12B, which has no vision transformer: soft tokens are patches as large as one.
struct Gemma4Patches {
  std::int64_t hidden_size = 3840;
  std::int64_t patch_px = 16;
  std::int64_t pooled = 3;        // patches along a token's side
  std::int64_t positions = 1120;  // entries of the table, for rows as for columns
  double norm_eps = 1e-6;
};

struct Gemma4Config {
  DecoderConfig text;
  bool pictures_see_themselves = false;  // gemma4_text_config.h
  std::variant<Gemma4Vision, Gemma4Patches> vision;
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
};

struct Gemma4Folder {
  Gemma4Config model;
  SoftTokenRules image;  // patches of the 12B: a token's
  SoftTokenRules frame;
};

// file: where `config` came from, for errors.
Gemma4Config parse_gemma4_vision_config(const Json& config, const std::string& file);

// One object of a processor's file.
SoftTokenRules parse_soft_token_rules(const JsonObject& object, SoftTokenRules defaults);

Gemma4Folder read_gemma4(const ModelPackage& package);

}  // namespace winnow
