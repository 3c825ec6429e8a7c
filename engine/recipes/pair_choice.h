// Heads compete for slots: which rows each keeps when several heads share a number of (head, row) pairs.
//
// KVzip's app. A (the heads of a layer) and main rule (the heads of all layers), arXiv 2505.23416. Used by SegmentCompressor for
// granularity ragged. Pure, no torch. O(heads * rows).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

// heads: scores of the same rows, one list per head; NaN counts as -infinity. forced: rows that every head keeps first, most important
// first; they count. floor_slots: so many of its own best a head keeps before the rest compete. Returns per head ascending rows, `pairs` of
// them together (at most all). Ties: lower head, then lower row.
std::vector<std::vector<std::int32_t>> select_pairs(std::span<const std::span<const float>> heads, std::int64_t pairs,
                                                    std::span<const std::int32_t> forced, std::int64_t floor_slots);

}  // namespace winnow
