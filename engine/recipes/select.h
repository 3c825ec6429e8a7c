// Selects the rows of a segment to keep: protected rows, then the best scored, with a fixed order for ties.
//
// Used by SegmentCompressor, once per layer and kv head. No torch. Rows are 0-based within the segment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

// k rows in ascending order. `forced` lists distinct protected rows, most important first: they are kept before all others, and if there
// are more than k only the first k stay. The rest goes to the highest scores; NaN counts as -infinity, -0 equals 0, ties go to the
// smaller row.
std::vector<std::int32_t> select_rows(std::span<const float> scores, std::int64_t k, std::span<const std::int32_t> forced);

// Protected rows of a segment of n tokens by importance: the last token, the rest of the `recent` last rows (newest first), then the
// first `sinks` rows (oldest first). Each row once.
std::vector<std::int32_t> protected_rows(std::int64_t n, std::int64_t sinks, std::int64_t recent);

// The rows of n that are not in `kept` (ascending).
std::vector<std::int32_t> rows_outside(std::int64_t n, std::span<const std::int32_t> kept);

}  // namespace winnow
