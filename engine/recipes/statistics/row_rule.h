// Which query rows of a segment a statistic looks at. All rules give one range that ends with the segment. No torch.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/recipes/segment_info.h"

namespace winnow {

struct RowRule {
  enum class Kind : int { kLast = 1, kPostVision = 2 };
  Kind kind = Kind::kLast;
  std::int64_t window = 32;  // kLast: the last `window` rows
  // kPostVision: rows after the last visual token, extended backwards to at least `min_rows` and cut to the last `max_rows` (0: no limit).
  std::int64_t min_rows = 1;
  std::int64_t max_rows = 0;

  static RowRule last(std::int64_t window) {
    RowRule rule;
    rule.window = window;
    return rule;
  }
  static RowRule all() { return last(std::numeric_limits<std::int64_t>::max()); }

  friend bool operator==(const RowRule&, const RowRule&) = default;
};

struct RowRange {
  std::int64_t first = 0;  // rows [first, n)
  bool fallback = false;   // no row qualified: the last min(32, n) rows stand in
};

RowRange rows_of(const RowRule& rule, const SegmentInfo& segment);

}  // namespace winnow
