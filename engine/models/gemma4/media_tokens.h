// The tokens that an image or a video becomes in Gemma 4's prompt: which of them stand for pixels, which are words between them.
//
// Used by gemma4.h. Follows transformers' Gemma4Processor: a picture is `<|image>`, `<|image|>` for each soft token, `<image|>`; a video is
// such pictures, of `<|video|>`, each behind its time, "00:01 ", with a blank between them. The first time is the prompt's text (before()),
// because it is encoded together with what is before it; a medium then begins and ends with special tokens. Errors: Exception kDamagedFile
// for a tokenizer that lacks one of the first three. No torch. Threads: engine thread (the tokenizer's).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/gemma4/soft_tokens.h"
#include "engine/models/media_facts.h"
#include "engine/models/medium_tokens.h"
#include "engine/text/tokenizer.h"

namespace winnow {

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

}  // namespace winnow
