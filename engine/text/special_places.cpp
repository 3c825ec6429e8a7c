#include "engine/text/special_places.h"

#include <algorithm>
#include <limits>

#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

// Blanks include those of normalised text, where U+2581 stands for a space.
bool is_blank(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    if (!utf8::is_space(next.code_point) && next.code_point != 0x2581) return false;
    at += next.bytes;
  }
  return true;
}

}  // namespace

SpecialPlaces::SpecialPlaces(SpecialText policy) : stretches_{{std::numeric_limits<std::size_t>::max(), policy}} {}

void SpecialPlaces::add(std::size_t end, SpecialText policy) {
  if (!stretches_.empty() && stretches_.back().policy == policy) {
    stretches_.back().end = std::max(stretches_.back().end, end);
  } else if (stretches_.empty() || stretches_.back().end < end) {
    stretches_.push_back({end, policy});
  }
}

SpecialPlaces::Writer SpecialPlaces::writer_of(std::string_view text, std::size_t begin, std::size_t end) const {
  bool by_template = false;
  bool by_others = false;
  auto stretch = std::ranges::upper_bound(stretches_, begin, {}, &Stretch::end);
  for (std::size_t at = begin; at < end && stretch != stretches_.end(); ++stretch) {
    const std::size_t stop = std::min(end, stretch->end);
    if (stretch->policy == SpecialText::kParse) {
      by_template = true;
    } else {
      by_others = by_others || !is_blank(text.substr(at, stop - at));
    }
    at = stop;
  }
  return by_template ? (by_others ? Writer::kBoth : Writer::kTemplate) : Writer::kOthers;
}

SpecialPlaces SpecialPlaces::within(std::size_t begin, std::size_t end) const {
  SpecialPlaces inside;
  for (auto stretch = std::ranges::upper_bound(stretches_, begin, {}, &Stretch::end); stretch != stretches_.end(); ++stretch) {
    inside.add(std::min(end, stretch->end) - begin, stretch->policy);
    if (stretch->end >= end) break;
  }
  return inside;
}

}  // namespace winnow
