#include "engine/text/unicode/word_characters.h"

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

}  // namespace

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

}  // namespace winnow
