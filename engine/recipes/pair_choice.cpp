#include "engine/recipes/pair_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/recipes/select.h"

namespace winnow {
namespace {

struct Pair {
  float score;
  std::int32_t head;
  std::int32_t row;
};

bool before(const Pair& a, const Pair& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.head != b.head ? a.head < b.head : a.row < b.row;
}

float ranked(float score) { return std::isnan(score) ? -std::numeric_limits<float>::infinity() : score; }

}  // namespace

std::vector<std::vector<std::int32_t>> select_pairs(std::span<const CompetingHead> heads, std::int64_t pairs) {
  std::vector<std::vector<std::int32_t>> kept(heads.size());
  std::vector<Pair> competing;
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const auto& [scores, forced, floor_slots] = heads[head];
    const std::int64_t rows = std::ssize(scores);
    const std::int64_t first = std::clamp<std::int64_t>(std::max(std::ssize(forced), floor_slots), 0, std::min(rows, pairs));
    if (first > 0) kept[head] = select_rows(scores, first, forced);
    pairs -= std::ssize(kept[head]);
    for (const std::int32_t row : rows_outside(rows, kept[head]))
      competing.push_back({ranked(scores[static_cast<std::size_t>(row)]), static_cast<std::int32_t>(head), row});
  }
  const auto best = competing.begin() + std::clamp<std::ptrdiff_t>(pairs, 0, std::ssize(competing));
  std::nth_element(competing.begin(), best, competing.end(), before);
  for (auto pair = competing.begin(); pair != best; ++pair) kept[static_cast<std::size_t>(pair->head)].push_back(pair->row);
  for (std::vector<std::int32_t>& rows : kept) std::sort(rows.begin(), rows.end());
  return kept;
}

std::vector<std::vector<std::int32_t>> select_pairs(std::span<const std::span<const float>> heads, std::int64_t pairs,
                                                    std::span<const std::int32_t> forced, std::int64_t floor_slots) {
  std::vector<CompetingHead> competing;
  for (const std::span<const float> scores : heads) competing.push_back({scores, forced, floor_slots});
  return select_pairs(competing, pairs);
}

}  // namespace winnow
