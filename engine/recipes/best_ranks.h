// Maps scores to integer ranks and finds the cut of the best k, so that kept rows are found in one ordered pass without sorting.
//
// Used by select.h and pair_choice.h. Pure, no torch. O(n): ranks are counted by their first bits, and only those of the bucket where the
// best end are looked at again, by the next bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

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
