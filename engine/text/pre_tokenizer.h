// The steps of tokenizer.json that prepare text for BPE: normalizer and pre-tokenizer.
//
// Used by the tokenizer. Built from the JSON of both; a step that is not known is refused by name, never skipped.
// Errors: Exception kUnsupportedModel, kDamagedFile, kLimitExceeded (more than 16 steps).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/split_pattern.h"
#include "engine/text/work_time.h"

namespace winnow {

class Normalizer {
 public:
  Normalizer(const Json& description, const std::string& path);
  // text: valid UTF-8.
  std::string apply(std::string_view text) const;

 private:
  bool nfc_ = false;
};

// Time of work after which one text ends with an error.
class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds allowed) : end_(thread_work_time() + allowed) {}
  // Cheap enough to ask per word: looks at the clock every 64th time.
  bool passed() {
    if (++asked_ % 64 == 0) late_ = late_ || thread_work_time() > end_;
    return late_;
  }

 private:
  std::chrono::nanoseconds end_;
  unsigned asked_ = 0;
  bool late_ = false;
};

class PreTokenizer {
 public:
  PreTokenizer(const Json& description, const std::string& path);

  // Text between added tokens, prefix space included if the description asks for one.
  std::string prepare(std::string_view text) const;
  // Cuts prepared text into words. Throws kLimitExceeded past the deadline.
  std::vector<TextPiece> split(std::string_view text, Deadline& deadline) const;

 private:
  void add(const Json& step, const std::string& path, int depth);

  std::vector<SplitPattern> patterns_;  // applied one after the other, each to the pieces of the last
  bool prefix_space_ = false;
};

}  // namespace winnow
