#include "engine/text/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "engine/base/error.h"
#include "engine/text/unicode/unicode_tables.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxPatternBytes = std::size_t{64} * 1024;
// A window of spaces costs Qwen2's pattern one step per byte and alternative; (a+)+$ costs 2^n.
constexpr std::uint32_t kMatchLimit = 1'000'000;
constexpr std::uint32_t kDepthLimit = 100'000;
constexpr std::uint32_t kHeapLimitKib = 20 * 1024;
constexpr std::uint32_t kMaxPatternNesting = 64;

std::string ranges_text(std::span<const unicode::CodePointRange> ranges) {
  std::string out;
  char buffer[40];
  for (const auto& range : ranges) {
    std::snprintf(buffer, sizeof buffer, "\\x{%X}-\\x{%X}", static_cast<unsigned>(range.first), static_cast<unsigned>(range.last));
    out += buffer;
  }
  return out;
}

// \s, \S: PCRE2's \s has U+180E, Unicode's White_Space has not. \p{L}, \p{N}: Oniguruma's Unicode is newer than PCRE2's.
std::string translate(std::string_view pattern, const std::string& added_letters, const std::string& added_numbers) {
  const std::string letters = "\\p{L}" + added_letters;
  const std::string numbers = "\\p{N}" + added_numbers;
  std::string out;
  int class_depth = 0;
  for (std::size_t i = 0; i < pattern.size();) {
    const std::string_view rest = pattern.substr(i);
    const auto replace = [&](std::string_view from, const std::string& in_class, const std::string& alone) {
      if (!rest.starts_with(from)) return false;
      out += class_depth > 0 ? in_class : alone;
      i += from.size();
      return true;
    };
    if (rest.front() == '\\') {
      if (replace("\\s", "\\p{White_Space}", "\\p{White_Space}") || replace("\\S", "\\P{White_Space}", "\\P{White_Space}") ||
          replace("\\p{L}", letters, "[" + letters + "]") || replace("\\p{N}", numbers, "[" + numbers + "]")) {
        continue;
      }
      if (class_depth == 0 && (replace("\\P{L}", "", "[^" + letters + "]") || replace("\\P{N}", "", "[^" + numbers + "]"))) continue;
      out += rest.substr(0, 2);
      i += std::min<std::size_t>(2, rest.size());
      continue;
    }
    if (class_depth > 0 && rest.starts_with("[:") && rest.find(":]") != std::string_view::npos) {
      const std::size_t bytes = rest.find(":]") + 2;
      out += rest.substr(0, bytes);
      i += bytes;
      continue;
    }
    if (rest.front() == '[' && class_depth == 0) {
      class_depth = 1;
    } else if (rest.front() == ']' && class_depth > 0) {
      class_depth = 0;
    }
    out.push_back(rest.front());
    ++i;
  }
  return out;
}

}  // namespace

struct SplitPattern::Compiled {
  struct Free {
    void operator()(pcre2_code* p) const { pcre2_code_free(p); }
    void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
    void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
    void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
  };

  std::unique_ptr<pcre2_code, Free> plain;
  std::unique_ptr<pcre2_code, Free> extended;
  std::unique_ptr<pcre2_match_data, Free> data;
  std::unique_ptr<pcre2_match_context, Free> context;
};

SplitPattern::SplitPattern(std::string_view pattern, const std::string& subject) : compiled_(std::make_unique<Compiled>()) {
  if (pattern.size() > kMaxPatternBytes) throw Exception(ErrorCode::kLimitExceeded, subject, "the split pattern is longer than 64 KiB");
  std::unique_ptr<pcre2_compile_context, Compiled::Free> settings(pcre2_compile_context_create(nullptr));
  require(settings != nullptr, "PCRE2 context");
  pcre2_set_newline(settings.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(settings.get(), kMaxPatternNesting);
  const auto compile = [&](const std::string& text) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    // MULTILINE: in Oniguruma's Ruby syntax ^ and $ always match at lines.
    std::unique_ptr<pcre2_code, Compiled::Free> code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                                                   PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                                                   &error, &offset, settings.get()));
    if (!code) {
      PCRE2_UCHAR message[160];
      pcre2_get_error_message(error, message, sizeof message);
      throw Exception(ErrorCode::kDamagedFile, subject,
                      "the split pattern is not a valid regular expression (" + std::string(reinterpret_cast<char*>(message)) + ")");
    }
    return code;
  };
  compiled_->plain = compile(translate(pattern, "", ""));
  compiled_->extended = compile(translate(pattern, ranges_text(unicode::added_letters()), ranges_text(unicode::added_numbers())));
  compiled_->data.reset(pcre2_match_data_create(1, nullptr));  // only the whole match is asked for
  compiled_->context.reset(pcre2_match_context_create(nullptr));
  require(compiled_->data && compiled_->context, "PCRE2 match data");
  pcre2_set_match_limit(compiled_->context.get(), kMatchLimit);
  pcre2_set_depth_limit(compiled_->context.get(), kDepthLimit);
  pcre2_set_heap_limit(compiled_->context.get(), kHeapLimitKib);
}

SplitPattern::~SplitPattern() = default;
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;
SplitPattern& SplitPattern::operator=(SplitPattern&&) noexcept = default;

SplitPattern::Classes SplitPattern::classes_for(std::string_view text) {
  const auto in = [](std::span<const unicode::CodePointRange> ranges, char32_t c) {
    const auto found = std::upper_bound(ranges.begin(), ranges.end(), c, [](char32_t v, const auto& r) { return v < r.first; });
    return found != ranges.begin() && c <= (found - 1)->last;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0xE1) continue;  // the oldest of the new characters is U+1C89
    const char32_t c = utf8::decode(text, i).code_point;
    if (in(unicode::added_letters(), c) || in(unicode::added_numbers(), c)) return Classes::kExtended;
  }
  return Classes::kPlain;
}

SplitPattern::Match SplitPattern::match(Classes classes, std::string_view text, std::size_t from) const {
  const pcre2_code* code = classes == Classes::kPlain ? compiled_->plain.get() : compiled_->extended.get();
  const int rc = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, PCRE2_NO_UTF_CHECK, compiled_->data.get(),
                             compiled_->context.get());
  if (rc == PCRE2_ERROR_NOMATCH) return {Outcome::kNoMatch, 0, 0};
  if (rc < 0) return {Outcome::kLimit, 0, 0};
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(compiled_->data.get());
  // \K inside a look-around can put the start behind the end or before the search; such a pattern is treated as one without a match.
  if (offsets[0] > offsets[1] || offsets[0] < from) return {Outcome::kLimit, 0, 0};
  return {Outcome::kMatch, offsets[0], offsets[1]};
}

std::size_t window_end(std::string_view text, std::size_t from, std::size_t end) {
  if (end - from <= SplitPattern::kWindowBytes) return end;
  std::size_t cut = from + SplitPattern::kWindowBytes;
  while (cut > from + 1 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return cut;
}

}  // namespace winnow
