// Heads compete for slots: which rows each keeps when several heads share a number of (head, row) pairs.
//
// KVzip's app. A (the heads of a layer) and main rule (the heads of all layers), arXiv 2505.23416. Used by SegmentCompressor for
// granularity ragged. Pure, no torch. O(heads * rows).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

struct CompetingHead {
  std::span<const float> scores;         // of its rows; NaN counts as -infinity
  std::span<const std::int32_t> forced;  // rows that it keeps first, most important first; they count
  std::int64_t floor_slots = 0;          // own best rows that it keeps before heads compete
};

// Returns per head ascending rows, `pairs` of them together (at most all). Ties: lower head, then lower row.
std::vector<std::vector<std::int32_t>> select_pairs(std::span<const CompetingHead> heads, std::int64_t pairs);

// The same of heads that are alike but for their scores.
std::vector<std::vector<std::int32_t>> select_pairs(std::span<const std::span<const float>> heads, std::int64_t pairs,
                                                    std::span<const std::int32_t> forced, std::int64_t floor_slots);

}  // namespace winnow
