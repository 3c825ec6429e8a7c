// Everything that a folder of Gemma4ForConditionalGeneration or Gemma4UnifiedForConditionalGeneration (12B) says about itself, checked.
// Read by gemma4.cpp before a weight is loaded.
//
// Values that config.json leaves out are those of transformers' Gemma4Config, Gemma4UnifiedConfig and their vision configurations; the text
// model is read by gemma4_text_config.h. Budgets of soft tokens are the processors' max_soft_tokens, of a picture and of a frame, where it
// is one of kSoftTokenBudgets. The sound encoder (audio_config) is left unread. Errors: Exception; kDamagedFile, kLimitExceeded,
// kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/base/token_origin.h"
#include "engine/layers/activation.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/text/tokenizer.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// How large a picture is made so that it becomes at most a budget of soft tokens, of which each stands for a square of patches. Follows
// get_aspect_ratio_preserving_size() of transformers' Gemma4Processor in double precision: the largest size of the picture's shape, in
// whole tokens, within the budget; smaller pictures are made larger.

// The budgets that transformers' processors take.
inline constexpr std::array<std::int64_t, 5> kSoftTokenBudgets = {70, 140, 280, 560, 1120};

// The rules in a processor's document.
struct SoftTokenRules {
  std::int64_t patch_px = 16;
  std::int64_t pooled = 3;  // patches along a token's side
  std::int64_t budget = 280;
  std::int64_t most = kSoftTokenBudgets.back();  // the largest budget for which the vision encoder has places
  ResampleFilter filter = ResampleFilter::kBicubic;
  PixelScaling scaling{};

  std::int64_t token_px() const { return patch_px * pooled; }
};

struct TokenGrid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// The rules with the largest budget of at most so many tokens, and never less than the smallest; 0: as they are.
SoftTokenRules of_budget(std::int64_t tokens, SoftTokenRules rules);

TokenGrid soft_token_grid(PixelSize picture, const SoftTokenRules& rules);

// The tokens that an image or a video becomes in Gemma 4's prompt: which of them stand for pixels, which are words between them. Follows
// transformers' Gemma4Processor: a picture is `<|image>`, `<|image|>` for each soft token, `<image|>`; a video is such pictures, of
// `<|video|>`, each behind its time, "00:01 ", with a blank between them. The first time is the prompt's text (before()), because it is
// encoded together with what is before it; a medium then begins and ends with special tokens.

class Gemma4Tokens {
 public:
  static constexpr std::array<std::string_view, 1> kVideoTexts = {"<|video|>"};

  // video_token_id: as config.json has it; file: what errors call the tokenizer.
  Gemma4Tokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t video_token_id, const std::string& file);

  MediumTokens image(const TokenGrid& grid) const;
  // facts.times_s has every frame.
  MediumTokens frames(const TokenGrid& grid, const MediaFacts& facts) const;
  // The first frame's time.
  static std::string before(const VideoTimes& video);

  std::int64_t image_token_id() const { return image_; }  // what templates write for an image, and a picture's tokens are
  std::int64_t words() const { return words_; }           // of a frame beside its soft tokens, below an hour and 40 minutes

 private:
  void add_picture(MediumTokens& tokens, const TokenGrid& grid, std::int64_t frame, std::int64_t id) const;
  // Between a picture's end and the next one's beginning.
  std::vector<std::int64_t> between(double time_s) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t begin_;
  std::int64_t image_;
  std::int64_t video_;
  std::int64_t end_;
  std::int64_t words_ = 0;
};

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
  SoftTokenRules image{};  // patches of the 12B: a token's
  SoftTokenRules frame{};
};

// file: where `config` came from, for errors.
Gemma4Config parse_gemma4_vision_config(const Json& config, const std::string& file);

// One object of a processor's file.
SoftTokenRules parse_soft_token_rules(const JsonObject& object, SoftTokenRules defaults);

Gemma4Folder read_gemma4(const ModelPackage& package);

}  // namespace winnow
