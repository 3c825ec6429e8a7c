#include "engine/text/template/text_search.h"

#include <limits>

#include "engine/base/error.h"

namespace winnow {

TextSearch::TextSearch(std::string_view text, std::string_view part, From from) : text_(text), part_(part), from_(from) {
  require(!part.empty() && part.size() <= std::numeric_limits<std::uint32_t>::max(), "what is looked for has 1 to 2^32 - 1 bytes");
  if (part.size() > text.size()) {
    at_ = text.size();
    return;
  }
  borders_.reserve(part.size());
  borders_.push_back(0);
  for (std::size_t i = 1; i < part.size(); ++i) {
    borders_.push_back(static_cast<std::uint32_t>(advanced(borders_.back(), of_part(i))));
  }
}

std::size_t TextSearch::advanced(std::size_t matched, char next) {
  while (true) {
    ++comparisons_;
    if (of_part(matched) == next) return matched + 1;
    if (matched == 0) return 0;
    matched = borders_[matched - 1];
  }
}

std::optional<std::size_t> TextSearch::next() {
  std::size_t matched = 0;
  while (at_ < text_.size()) {
    matched = advanced(matched, of_text(at_++));
    if (matched == part_.size()) return from_ == From::kLeft ? at_ - part_.size() : text_.size() - at_;
  }
  return std::nullopt;
}

}  // namespace winnow
