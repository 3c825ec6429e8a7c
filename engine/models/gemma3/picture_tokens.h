// The tokens that an image becomes in Gemma 3's prompt: which of them stand for pixels, which are words between them.
//
// Used by gemma3.h. Follows transformers' Gemma3Processor: a picture is `<start_of_image>`, `<image_soft_token>` for each of its tokens,
// `<end_of_image>`, between empty lines; with pan and scan words come before the picture, between it and its crops, and between these. A
// medium's tokens begin and end with special tokens, so that what is beside them cannot merge with them; the rest is the prompt's text
// (around()). Errors: Exception kDamagedFile for a tokenizer that lacks one of the three. No torch. Threads: engine thread (the
// tokenizer's).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/gemma3/crop_choice.h"
#include "engine/models/media_facts.h"
#include "engine/models/medium_tokens.h"
#include "engine/text/tokenizer.h"

namespace winnow {

class Gemma3Tokens {
 public:
  // side: tokens along a picture's side. file: what errors call the tokenizer.
  Gemma3Tokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file);

  // `frame` is 0 of the whole picture; a crop's is its number from 1 on, its rows and columns count over all crops.
  MediumTokens image(const CropGrid& grid) const;
  TextAround around(const CropGrid& grid) const;

  std::int64_t begin_token_id() const { return begin_; }  // what templates write for an image
  std::int64_t image_token_id() const { return image_; }  // of a picture's tokens

 private:
  // Between a picture's end and the next one's beginning.
  std::vector<std::int64_t> between(std::string_view words) const;
  void add_picture(MediumTokens& tokens, const TokenSquare& square) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t side_;
  std::int64_t begin_;
  std::int64_t image_;
  std::int64_t end_;
};

}  // namespace winnow
