// Finds added tokens in text: leftmost first, longest of those, each character used once.
//
// Used by the tokenizer, once for tokens that are looked for in raw text and once for those in normalised text. What the flags do
// (single_word, lstrip, rstrip, and special tokens that stay text) is exactly what `tokenizers` does, a rejected match included: its
// characters are not looked at again. Spans overlap where a token has taken white space that another one begins with.
// Errors: Exception kLimitExceeded if the text makes the search cost more than 64 steps a byte (no real vocabulary comes near).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/special_places.h"
#include "engine/text/tokenizer_file.h"

namespace winnow {

struct AddedTokenSpan {
  std::size_t begin = 0;  // bytes
  std::size_t end = 0;
  std::optional<std::int64_t> id;  // absent: text between added tokens
};

class AddedTokenMatcher {
 public:
  void add(const AddedToken& token, std::string_view pattern);
  bool has_special() const noexcept { return has_special_; }

  // Covers the text in order, without empty spans of text. text: valid UTF-8.
  std::vector<AddedTokenSpan> find(std::string_view text, const SpecialPlaces& places) const;

 private:
  static constexpr std::int32_t kNone = -1;

  std::unordered_map<std::uint64_t, std::int32_t> edges_;  // node << 8 | byte -> node
  std::vector<std::int32_t> token_at_{kNone};              // by node
  std::vector<AddedToken> tokens_;
  bool starts_[256] = {};
  bool has_special_ = false;
};

}  // namespace winnow
