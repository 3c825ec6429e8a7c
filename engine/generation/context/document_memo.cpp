#include "engine/generation/context/document_memo.h"

#include <algorithm>
#include <utility>

namespace winnow {

const DocumentTokens* DocumentMemo::find(std::string_view text, std::int64_t most) {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& each) { return each.most == most && each.text == text; });
  if (found == entries_.end()) return nullptr;
  std::rotate(entries_.begin(), found, found + 1);
  return &entries_.front().tokens;
}

const DocumentTokens& DocumentMemo::keep(std::string text, std::int64_t most, DocumentTokens tokens) {
  entries_.push_front({std::move(text), most, std::move(tokens)});
  while (entries_.size() > most_documents_ || (entries_.size() > 1 && bytes() > most_bytes_)) entries_.pop_back();
  return entries_.front().tokens;
}

std::size_t DocumentMemo::bytes() const {
  std::size_t all = 0;
  for (const Entry& each : entries_) all += each.text.size();
  return all;
}

}  // namespace winnow
