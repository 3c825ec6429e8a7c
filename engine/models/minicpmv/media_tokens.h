// The tokens that an image or a video becomes in MiniCPM-V's prompt: which of them stand for pixels, which are marks between them.
//
// Used by minicpmv.h. Follows transformers' MiniCPMV4_6Processor: a picture is `<image>`, a token for every cell, `</image>`, and for each
// slice `<slice>`, its cells, `</slice>`; rows of slices are parted by a line. Frames of a video are such pictures one behind the other.
// Before an image stands its number in the thread, from 0 on (around()), where the folder wants that. A medium's tokens begin and end with
// special tokens. Errors: Exception kDamagedFile for a tokenizer that lacks one of them. No torch. Threads: engine thread (the
// tokenizer's).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/models/media_facts.h"
#include "engine/models/medium_tokens.h"
#include "engine/models/minicpmv/slice_choice.h"
#include "engine/text/tokenizer.h"

namespace winnow {

class MiniCpmVTokens {
 public:
  struct Ids {
    std::int64_t image = 0;
    std::int64_t video = 0;
  };

  // ids: as config.json has them. file: what errors call the tokenizer.
  MiniCpmVTokens(const Tokenizer& tokenizer, Ids ids, const std::string& file);

  // `frame` is the slice's number from 1 on, row by row; of the whole it is 0. Rows and columns of slices count over all of them.
  MediumTokens image(const SlicedPicture& cut) const;

  // `frame` counts from 0; a frame's slices have their rows below those of the whole.
  MediumTokens frames(const SlicedPicture& cut, std::int64_t frames) const;

  // The number of an image: how many images are before it in the thread.
  static std::string before(std::int64_t images_before) { return "<image_id>" + std::to_string(images_before) + "</image_id>"; }

  // Tokens of one picture, marks included.
  std::int64_t count(const SlicedPicture& cut) const;

  // The rules under which a picture takes at most so many tokens: with as many slices as fit at 16 patches a token; at 4 patches a token
  // if all slices that it could be cut into fit so, too. The whole at 16 patches where nothing fits. tokens 0: as they are. Where no token
  // may stand for 16 patches, the same at 4.
  SliceRules of_at_most(std::int64_t tokens, PixelSize source, const SliceRules& rules) const;

  const Ids& ids() const { return ids_; }
  std::span<const std::int64_t> line() const { return line_; }  // between two rows of slices

 private:
  Ids ids_;
  std::int64_t begin_;
  std::int64_t end_;
  std::int64_t slice_begin_;
  std::int64_t slice_end_;
  std::vector<std::int64_t> line_;  // between two rows of slices
};

}  // namespace winnow
