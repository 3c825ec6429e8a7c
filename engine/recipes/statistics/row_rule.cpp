#include "engine/recipes/statistics/row_rule.h"

#include <algorithm>

namespace winnow {

RowRange rows_of(const RowRule& rule, const SegmentInfo& segment) {
  constexpr std::int64_t kFallbackRows = 32;
  const std::int64_t n = segment.tokens;
  if (rule.kind == RowRule::Kind::kLast) return {std::max<std::int64_t>(0, n - rule.window), false};
  const std::int64_t last_visual = segment.last_visual();
  const bool fallback = last_visual < 0 || last_visual == n - 1;
  std::int64_t rows = fallback ? kFallbackRows : n - 1 - last_visual;
  rows = std::max(rows, rule.min_rows);
  if (rule.max_rows > 0) rows = std::min(rows, rule.max_rows);
  return {std::max<std::int64_t>(0, n - rows), fallback};
}

}  // namespace winnow
