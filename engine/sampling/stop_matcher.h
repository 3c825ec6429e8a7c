// Ends an answer at a stop string, even if it spans several tokens, and never shows the beginning of one.
//
// Used by engine/generation's decode loop on the detokenizer's text. push() returns the text that may be shown: everything before a
// possible beginning of a stop string. The stop string that ends first decides; of those, the longest. Byte strings, not characters; empty
// stop strings are ignored. Threads: confined to one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stop_strings);

  // Text that may be shown now. When a stop string is found: the text before it, then always nothing.
  std::string push(std::string_view text);

  bool matched() const noexcept { return matched_; }
  // Some text is held back.
  bool holds() const noexcept { return !held_.empty(); }

  // Returns the held-back text if the answer ended for another reason.
  std::string flush();

 private:
  // Advances by one byte the longest stop-string prefix that the text ends with (Knuth-Morris-Pratt).
  struct Pattern {
    std::string text;
    std::vector<std::size_t> fallback;
    std::size_t progress = 0;
  };

  std::vector<Pattern> patterns_;
  std::string held_;
  bool matched_ = false;
};

}  // namespace winnow
