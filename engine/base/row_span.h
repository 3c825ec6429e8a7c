// A range of consecutive rows or columns, of a segment or of the cache. Plain data, every layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace winnow {

// [first, first + count)
struct RowSpan {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
  friend bool operator==(const RowSpan&, const RowSpan&) = default;
};

// Returns the span that holds the row, of ascending disjoint ones; null if none does.
inline const RowSpan* span_of(std::span<const RowSpan> spans, std::int64_t row) {
  const auto after = std::ranges::upper_bound(spans, row, {}, &RowSpan::first);
  return after != spans.begin() && row < std::prev(after)->end() ? &*std::prev(after) : nullptr;
}

// The spans' intersections with rows [first, first + count), relative to `first`; those of fewer than two rows are dropped.
inline std::vector<RowSpan> cut_spans(std::span<const RowSpan> spans, std::int64_t first, std::int64_t count) {
  std::vector<RowSpan> inside;
  for (const RowSpan& span : spans) {
    const std::int64_t begin = std::max(span.first, first);
    const std::int64_t end = std::min(span.end(), first + count);
    if (end - begin > 1) inside.push_back({begin - first, end - begin});
  }
  return inside;
}

}  // namespace winnow
