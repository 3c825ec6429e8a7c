#include "engine/recipes/pair_choice.h"

#include <algorithm>
#include <iterator>

#include "engine/recipes/best_ranks.h"
#include "engine/recipes/select.h"

namespace winnow {

std::vector<std::vector<std::int32_t>> select_pairs(std::span<const CompetingHead> heads, std::int64_t pairs) {
  std::vector<std::uint32_t> ranks;  // of all heads, one after the other: ties go to the first of them
  std::int64_t taken = 0;
  for (const auto& [scores, forced, floor_slots] : heads) {
    const std::size_t begin = ranks.size();
    append_ranks(scores, ranks);
    const std::int64_t rows = std::ssize(scores);
    const std::int64_t first =
        std::clamp<std::int64_t>(std::max(std::ssize(forced), floor_slots), 0, std::max<std::int64_t>(0, std::min(rows, pairs - taken)));
    if (first == 0) continue;
    for (const std::int32_t row : select_rows(scores, first, forced)) ranks[begin + static_cast<std::size_t>(row)] = kRankOfTaken;
    taken += first;
  }
  RankCut cut = cut_of_best(ranks, std::clamp<std::int64_t>(pairs, taken, std::ssize(ranks)));
  std::vector<std::vector<std::int32_t>> kept;
  std::span<const std::uint32_t> left = ranks;
  for (const CompetingHead& head : heads) {
    kept.push_back(rows_above(cut, left.first(head.scores.size())));
    left = left.subspan(head.scores.size());
  }
  return kept;
}

std::vector<std::vector<std::int32_t>> select_pairs(std::span<const std::span<const float>> heads, std::int64_t pairs,
                                                    std::span<const std::int32_t> forced, std::int64_t floor_slots) {
  std::vector<CompetingHead> competing;
  for (const std::span<const float> scores : heads) competing.push_back({scores, forced, floor_slots});
  return select_pairs(competing, pairs);
}

}  // namespace winnow
