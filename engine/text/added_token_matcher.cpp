#include "engine/text/added_token_matcher.h"

#include <algorithm>

#include "engine/text/unicode/word_characters.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

char32_t last_code_point(std::string_view text) { return utf8::decode(text, utf8::last_character(text)).code_point; }

}  // namespace

void AddedTokenMatcher::add(const AddedToken& token, std::string_view pattern) {
  if (pattern.empty()) return;
  std::int32_t node = 0;
  for (const char c : pattern) {
    const std::uint64_t edge = static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(c);
    const auto [found, added] = edges_.try_emplace(edge, static_cast<std::int32_t>(token_at_.size()));
    if (added) token_at_.push_back(kNone);
    node = found->second;
  }
  starts_[static_cast<unsigned char>(pattern.front())] = true;
  if (token_at_[static_cast<std::size_t>(node)] != kNone) return;  // two tokens that normalise to one text: the first one wins
  token_at_[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back(token);
  has_special_ = has_special_ || token.special;
}

std::vector<AddedTokenSpan> AddedTokenMatcher::find(std::string_view text, const SpecialPlaces& places) const {
  std::vector<AddedTokenSpan> spans;
  std::size_t done = 0;
  std::size_t steps_left = 64 * text.size() + 65536;
  for (std::size_t at = 0; at < text.size();) {
    if (!starts_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    std::int32_t longest = kNone;
    std::size_t longest_end = at;
    std::int32_t node = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
      if (steps_left-- == 0) throw Exception(ErrorCode::kLimitExceeded, "", "searching the text for added tokens takes too long");
      const auto edge = edges_.find(static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(text[i]));
      if (edge == edges_.end()) break;
      node = edge->second;
      const std::int32_t found = token_at_[static_cast<std::size_t>(node)];
      if (found == kNone) continue;
      const bool special = tokens_[static_cast<std::size_t>(found)].special;
      if (special && places.writer_of(text, at, i + 1) == SpecialPlaces::Writer::kBoth) continue;
      longest = found;
      longest_end = i + 1;
    }
    if (longest == kNone) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(longest)];
    std::size_t begin = at;
    std::size_t end = longest_end;
    at = longest_end;
    if (token.special && places.writer_of(text, begin, end) == SpecialPlaces::Writer::kOthers) continue;
    if (token.single_word) {
      const bool word_before = begin > 0 && is_word_character(last_code_point(text.substr(0, begin)));
      const bool word_after = end < text.size() && is_word_character(utf8::decode(text, end).code_point);
      if (word_before || word_after) continue;
    }
    if (token.lstrip) begin = std::max(done, utf8::without_spaces_at_end(text.substr(0, begin)));
    if (token.rstrip) end += utf8::spaces_at_start(text.substr(end));
    if (done < begin) spans.push_back({done, begin, std::nullopt});
    spans.push_back({begin, end, token.id});
    done = end;
  }
  if (done < text.size()) spans.push_back({done, text.size(), std::nullopt});
  return spans;
}

}  // namespace winnow
