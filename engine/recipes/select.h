// Selects the rows of a segment to keep: protected rows, then the best scored, with a fixed order for ties; by one head, or by heads that
// compete.
//
// Used by SegmentCompressor, once per layer. No torch. Rows are 0-based within the segment.
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

// Heads compete for slots: which rows each keeps when several heads share a number of (head, row) pairs.
//
// KVzip's app. A (the heads of a layer) and main rule (the heads of all layers), arXiv 2505.23416. Pure, no torch. O(heads * rows).
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

// Maps scores to integer ranks and finds the cut of the best k, so that kept rows are found in one ordered pass without sorting.
//
// Pure, no torch. O(n): ranks are counted by their first bits, and only those of the bucket where the best end are looked at again, by the
// next bits.

// Outside the range of scores: rows always kept, and rows never kept.
inline constexpr std::uint32_t kRankOfTaken = 0xFFFFFFFFU;
inline constexpr std::uint32_t kRankOfNone = 0U;

// Appends numbers that ascend as the scores do: NaN counts as -infinity, -0 equals 0.
void append_ranks(std::span<const float> scores, std::vector<std::uint32_t>& ranks);

// The cut below the best of some ranks: all above `rank` are among them, and the first `ties` of those that equal it.
struct RankCut {
  std::uint32_t rank = kRankOfTaken;
  std::int64_t ties = 0;
};

// The best `wanted` of them, ties to the first. 0 <= wanted <= as many as there are.
RankCut cut_of_best(std::span<const std::uint32_t> ranks, std::int64_t wanted);

// Which of these are among the best, ascending. Ranks may be shown part by part, in order: ties of the cut are used up.
std::vector<std::int32_t> rows_above(RankCut& cut, std::span<const std::uint32_t> ranks);

}  // namespace winnow
