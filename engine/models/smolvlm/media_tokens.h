// The tokens that an image or a video becomes in SmolVLM's prompt: which of them stand for pixels, which are words between them.
//
// Used by smolvlm.h. Follows transformers' SmolVLMProcessor (get_image_prompt_string, expand_text_with_video_tokens). Every tile is
// `<fake_token_around_image>`, its name (`<row_1_col_2>`, `<global-img>`) and a square of `<image>`; rows of tiles end with a line, the
// whole picture comes last. Frames are whole pictures, each after "Frame from MM:SS:". A medium's tokens begin and end with the fake token,
// which is special, so that what is beside them cannot merge with them; what a prompt says before a video's first frame and after its last
// is its text (around()). A video's times are those that were asked for: they are known before anything is decoded.
//
// Differences from transformers: its processor takes images or a video in one prompt, and Idefics3's takes no video; here each medium is
// written as it would be alone. A source that is still running has neither length nor number of frames, and no sentence that tells them.
// No torch. Threads: engine thread (the tokenizer's).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/models/media_facts.h"
#include "engine/models/medium_tokens.h"
#include "engine/models/smolvlm/tile_grid.h"
#include "engine/text/tokenizer.h"

namespace winnow {

class MediaTokens {
 public:
  // side: tokens along a tile's side.
  MediaTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, std::int64_t side);

  // Rows and columns count over all tiles, `frame` is the tile's number from 1 on, row by row; of the whole picture it is 0. Words have no
  // row and column, and the tile that they are written before.
  MediumTokens image(const TileGrid& grid) const;

  // The rules with a shorter longest edge, of whole tiles, under which the picture takes at most so many tokens; that of one tile where
  // none does. tokens 0, or nothing to cut: as they are.
  TileRules of_at_most(std::int64_t tokens, PixelSize source, TileRules rules) const;

  // `frame` counts from 0; a frame's time is its own. facts.times_s has every frame.
  MediumTokens frames(const MediaFacts& facts) const;

  TextAround around(const VideoTimes& video) const;  // transformers names the parts intro and outro

  // True if the tokenizer has what the template of videos begins with; Idefics3 on Llama 3 has not.
  bool writes_videos() const;
  std::int64_t picture_tokens() const { return side_ * side_ + 3; }  // of a frame without its time
  std::int64_t frame_tokens() const { return frame_tokens_; }        // with it, below 100 minutes

 private:
  std::vector<std::int64_t> encoded(const std::string& text) const;  // special tokens count

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t image_token_id_;
  std::int64_t side_;
  std::int64_t frame_tokens_;
};

}  // namespace winnow
