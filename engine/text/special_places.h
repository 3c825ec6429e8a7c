// The places in a text where special tokens count: in what a chat template wrote, never in what a person or a model wrote.
//
// Used by the tokenizer and its search for added tokens. A text is a row of stretches, each with a SpecialText. White space belongs to
// nobody: a token that takes the white space beside it, or begins with some, may take it from a person's words. A token that is partly of a
// person's other characters is none, and hides none that the template wrote. No text is kept.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace winnow {

enum class SpecialText : int;  // tokenizer.h

class SpecialPlaces {
 public:
  SpecialPlaces() = default;
  // The same everywhere, however long the text is.
  explicit SpecialPlaces(SpecialText policy);

  // The next stretch ends there.
  void add(std::size_t end, SpecialText policy);

  // Whose characters, white space and U+2581 aside, a range of the text holds.
  enum class Writer : int { kTemplate = 1, kOthers, kBoth };
  Writer writer_of(std::string_view text, std::size_t begin, std::size_t end) const;

  // Ends of stretches inside a range, from whose beginning they are counted.
  SpecialPlaces within(std::size_t begin, std::size_t end) const;

  struct Stretch {
    std::size_t end = 0;
    SpecialText policy;
  };
  const std::vector<Stretch>& stretches() const noexcept { return stretches_; }

 private:
  std::vector<Stretch> stretches_;
};

}  // namespace winnow
