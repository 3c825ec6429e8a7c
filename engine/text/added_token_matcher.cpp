#include "engine/text/added_token_matcher.h"

#include <algorithm>
#include <memory>
#include <string>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "engine/base/error.h"
#include "engine/text/unicode/unicode_tables.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

const pcre2_code* word_pattern() {
  static const std::unique_ptr<pcre2_code, void (*)(pcre2_code*)> pattern = [] {
    constexpr std::string_view kText = R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}])";
    int error = 0;
    PCRE2_SIZE offset = 0;
    return std::unique_ptr<pcre2_code, void (*)(pcre2_code*)>(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kText.data()), kText.size(), PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr),
        pcre2_code_free);
  }();
  require(pattern != nullptr, "PCRE2 knows Unicode properties");
  return pattern.get();
}

// True for a character that is part of a word, as \w of Unicode regular expressions has it (UTS 18): Alphabetic, marks, decimal digits,
// connectors, join controls.
bool is_word_character(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  for (const auto& range : unicode::added_word_characters()) {
    if (c >= range.first && c <= range.last) return true;
  }
  std::string text;
  utf8::append(text, c);
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  return pcre2_match(word_pattern(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, PCRE2_NO_UTF_CHECK, data.get(), nullptr) >
         0;
}

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
