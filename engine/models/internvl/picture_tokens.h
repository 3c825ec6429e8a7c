// The tokens that an image or a video becomes in InternVL's prompt: which of them stand for pixels, which are words between them.
//
// Used by internvl.h. Follows transformers' InternVLProcessor and the chat() of the original models, which write the same: an image is
// `<img>`, `<IMG_CONTEXT>` for every token of its tiles and of the thumbnail behind them, `</img>`; a video has that for every frame, each
// on a line of its own after "Frame1: ". A medium's tokens begin and end with `<img>` and `</img>`, which are special, so that what is
// beside them cannot merge with them; the first frame's number is the prompt's text (around()). Errors: Exception kDamagedFile for a
// tokenizer that lacks one of the three. No torch. Threads: engine thread (the tokenizer's).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/models/media_facts.h"
#include "engine/models/medium_tokens.h"
#include "engine/models/tile_choice.h"
#include "engine/text/tokenizer.h"

namespace winnow {

class InternVlTokens {
 public:
  // side: tokens along a tile's side. file: what errors call the tokenizer.
  InternVlTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file);

  // Rows and columns count over all tiles, `frame` is the tile's number from 1 on, row by row; of the thumbnail, or of the one tile, it is
  // 0.
  MediumTokens image(const TileCount& grid, bool thumbnail) const;

  // `frame` counts from 0.
  MediumTokens frames(const MediaFacts& facts) const;

  TextAround around() const { return {"Frame1: ", ""}; }

  std::int64_t image_token_id() const { return image_; }
  static constexpr std::int64_t kMarks = 2;  // around a picture
  std::int64_t tile_tokens() const { return side_ * side_; }
  std::int64_t picture_tokens() const { return tile_tokens() + kMarks; }  // of a frame without its number
  // With it: of a short number, and of one that leaves room in a source without an end (four digits).
  std::int64_t frame_tokens() const { return picture_tokens() + std::ssize(number_line(2)); }
  std::int64_t stream_frame_tokens() const { return picture_tokens() + std::ssize(number_line(1000)); }

 private:
  // "\nFrame2: " as it stands between two frames.
  std::vector<std::int64_t> number_line(std::int64_t number) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t side_;
  std::int64_t begin_;
  std::int64_t image_;
  std::int64_t end_;
};

}  // namespace winnow
