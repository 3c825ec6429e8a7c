// The tokens of each picture as spans of a prompt's rows, for models whose pictures see themselves (bidirectional_spans()). A frame is a
// picture. Used by gemma3.cpp and gemma4.cpp. Plain function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/row_span.h"
#include "engine/base/token_origin.h"

namespace winnow {

// Spans of at least two tokens that stand for pixels; ascending.
inline std::vector<RowSpan> spans_of_pictures(std::span<const TokenOrigin> origins) {
  const auto of_picture = [](const TokenOrigin& origin) { return origin.modality == Modality::kVisual && origin.row >= 0; };
  std::vector<RowSpan> spans;
  for (std::size_t first = 0, end = 0; first < origins.size(); first = end) {
    end = first + 1;
    if (!of_picture(origins[first])) continue;
    while (end < origins.size() && of_picture(origins[end]) && origins[end].media == origins[first].media &&
           origins[end].frame == origins[first].frame) {
      ++end;
    }
    if (end - first > 1) spans.push_back({static_cast<std::int64_t>(first), static_cast<std::int64_t>(end - first)});
  }
  return spans;
}

}  // namespace winnow
