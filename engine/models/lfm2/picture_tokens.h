// The tokens that an image becomes in LFM2-VL's prompt: which of them stand for pixels, which are words between them.
//
// Used by lfm2_vl.h. Follows transformers' Lfm2VlProcessor: `<|image_start|>`, each tile behind its name (`<|img_row_1_col_2|>`), the
// thumbnail behind `<|img_thumbnail|>`, `<|image_end|>`; a picture that is not cut has no name. transformers writes these words whatever
// use_image_special_tokens of processor_config.json says. First and last token are special, so that what is beside them cannot merge with
// them. Errors: Exception kDamagedFile for a tokenizer that lacks one of those two. No torch. Threads: engine thread (the tokenizer's).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/models/lfm2/picture_plan.h"
#include "engine/models/medium_tokens.h"
#include "engine/text/tokenizer.h"

namespace winnow {

class Lfm2PictureTokens {
 public:
  // file: what errors call the tokenizer.
  Lfm2PictureTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, const std::string& file);

  std::int64_t image_token_id() const { return image_; }
  // Rows and columns of a tile's tokens count over all tiles, `frame` is its number from 1 on, row by row; of the thumbnail, or of the
  // picture that is not cut, it is 0.
  MediumTokens image(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) const;

 private:
  void add_mark(MediumTokens& tokens, const std::string& word, std::int64_t frame) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t image_;
};

}  // namespace winnow
