// Where a character as people see it ends: extended grapheme clusters (Unicode 14, as PCRE2 has them).
//
// Used by the character map of SentencePiece, which looks at short clusters whole. Threads: confined to one.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace winnow {

class GraphemeClusters {
 public:
  GraphemeClusters();
  ~GraphemeClusters();
  GraphemeClusters(GraphemeClusters&&) noexcept;
  GraphemeClusters& operator=(GraphemeClusters&&) noexcept;

  // Bytes of the cluster that begins at `at`, at least one character's. text: valid UTF-8; at: where a cluster begins.
  std::size_t bytes_at(std::string_view text, std::size_t at) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace winnow
