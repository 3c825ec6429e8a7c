// SentencePiece's compiled table of characters and what they become: the step Precompiled of tokenizer.json (nmt_nfkc and its kin).
//
// Used by the normalizer. The table is base64 of: u32 bytes of a trie, the trie (a double array of little-endian u32, as Darts writes it),
// texts that end in NUL, which the trie's values point into. A cluster of fewer than six bytes is looked up whole, then character by
// character; of the entries that a text begins with the shortest counts, and stands for all of the text. That is what `tokenizers` does.
// Nothing that the table says is trusted: every place that it points to is checked when it is looked up.
// Source: darts-clone; the crates tokenizers 0.22.2 and spm_precompiled 0.1.4.
// Errors: Exception. Constructor: kDamagedFile (no base64, sizes that do not fit, texts that are not UTF-8), kLimitExceeded (8 MiB).
// apply(): kDamagedFile (an entry points outside), kLimitExceeded (a result over 64 MiB).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/grapheme.h"

namespace winnow {

class CharacterMap {
 public:
  explicit CharacterMap(const JsonObject& step);

  // text: valid UTF-8.
  std::string apply(std::string_view text) const;

 private:
  // What a text becomes; absent: it stays.
  std::optional<std::string_view> find(std::string_view text) const;
  std::uint32_t unit(std::size_t place) const;
  std::string_view text_at(std::size_t place) const;
  [[noreturn]] void fail() const;

  std::string path_;
  std::vector<std::uint32_t> trie_;
  std::string texts_;
  GraphemeClusters clusters_;
};

}  // namespace winnow
