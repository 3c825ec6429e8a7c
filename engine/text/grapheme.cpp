#include "engine/text/grapheme.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "engine/base/error.h"
#include "engine/text/utf8.h"

namespace winnow {

struct GraphemeClusters::Compiled {
  std::unique_ptr<pcre2_code, void (*)(pcre2_code*)> pattern{nullptr, pcre2_code_free};
  std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data{pcre2_match_data_create(1, nullptr), pcre2_match_data_free};
};

GraphemeClusters::GraphemeClusters() : compiled_(std::make_unique<Compiled>()) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  compiled_->pattern.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>("\\X"), 2, PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &offset, nullptr));
  require(compiled_->pattern && compiled_->data, "PCRE2 knows clusters");
}

GraphemeClusters::~GraphemeClusters() = default;
GraphemeClusters::GraphemeClusters(GraphemeClusters&&) noexcept = default;
GraphemeClusters& GraphemeClusters::operator=(GraphemeClusters&&) noexcept = default;

std::size_t GraphemeClusters::bytes_at(std::string_view text, std::size_t at) const {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  // Of ASCII only a line's end has two characters.
  if (byte(at) < 0x80 && byte(at) != '\r' && (at + 1 == text.size() || byte(at + 1) < 0x80)) return 1;
  const int found = pcre2_match(compiled_->pattern.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, PCRE2_NO_UTF_CHECK,
                                compiled_->data.get(), nullptr);
  if (found <= 0) return utf8::decode(text, at).bytes;
  return pcre2_get_ovector_pointer(compiled_->data.get())[1] - at;
}

}  // namespace winnow
