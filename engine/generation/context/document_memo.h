// A cache of tokenised documents, so that planning on every keystroke does not tokenise a long text again.
//
// Part of LoadedModel, because tokens depend on the vocabulary. The key is the text, not the file. Holds the most recent few, within
// bounds. No torch. Engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/token_origin.h"

namespace winnow {

struct DocumentTokens {
  std::vector<std::int64_t> ids;
  std::vector<TokenOrigin> origins{};  // modality kDocument; frame: the line, from 0; `media` at -1
  std::int64_t all = 0;                // tokens of the whole text; more than ids if it was cut
};

class DocumentMemo {
 public:
  explicit DocumentMemo(std::size_t most_documents = 8, std::size_t most_bytes = std::size_t{32} << 20)
      : most_documents_(most_documents), most_bytes_(most_bytes) {}

  // most: token limit, from the beginning; 0: none. Returns null if not cached; valid until the next keep().
  const DocumentTokens* find(std::string_view text, std::int64_t most);
  const DocumentTokens& keep(std::string text, std::int64_t most, DocumentTokens tokens);

 private:
  struct Entry {
    std::string text;
    std::int64_t most = 0;
    DocumentTokens tokens;
  };
  std::size_t bytes() const;  // of the texts

  std::size_t most_documents_;
  std::size_t most_bytes_;
  std::deque<Entry> entries_;  // most recently used first
};

}  // namespace winnow
