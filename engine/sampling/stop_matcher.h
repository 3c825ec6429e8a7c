// Ends an answer at a stop string, also where it is spread over several tokens, and never shows its beginning.
//
// Used by engine/generation's decode loop on the text of the detokenizer. push() returns what may be shown: everything up to the point
// from which a stop string could still follow. Of stop strings that are found, the one that ends first decides; of those, the longest.
// Byte strings, not characters; empty stop strings are ignored. Threads: confined to one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stop_strings);

  // Text that may be shown now. After a stop string was found: the text before it, then always nothing.
  std::string push(std::string_view text);

  bool matched() const noexcept { return matched_; }
  // Something may not be shown yet.
  bool holds() const noexcept { return !held_.empty(); }
  // The stop string that ended the answer; empty if none did.
  const std::string& matched_string() const noexcept { return matched_string_; }

  // The answer ended for another reason: what was held back.
  std::string flush();

 private:
  // The longest beginning of a stop string that the text seen so far ends with, advanced by one byte (Knuth-Morris-Pratt).
  struct Pattern {
    std::string text;
    std::vector<std::size_t> fallback;
    std::size_t progress = 0;
  };

  std::vector<Pattern> patterns_;
  std::string held_;
  std::string matched_string_;
  bool matched_ = false;
};

}  // namespace winnow
