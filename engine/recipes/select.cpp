#include "engine/recipes/select.h"

#include <algorithm>
#include <iterator>

#include "engine/base/error.h"
#include "engine/recipes/best_ranks.h"

namespace winnow {

std::vector<std::int32_t> select_rows(std::span<const float> scores, std::int64_t k, std::span<const std::int32_t> forced) {
  require(k >= 0 && k <= std::ssize(scores), "select_rows: more rows wanted than there are");
  std::vector<std::uint32_t> ranks;
  append_ranks(scores, ranks);
  for (const std::int32_t row : forced.first(std::min(forced.size(), static_cast<std::size_t>(k))))
    ranks[static_cast<std::size_t>(row)] = kRankOfTaken;
  RankCut cut = cut_of_best(ranks, k);
  return rows_above(cut, ranks);
}

std::vector<std::int32_t> protected_rows(std::int64_t n, std::int64_t sinks, std::int64_t recent) {
  std::vector<std::int32_t> rows;
  const std::int64_t first_recent = std::max<std::int64_t>(0, n - std::max<std::int64_t>(1, recent));
  for (std::int64_t row = n - 1; row >= first_recent; --row) rows.push_back(static_cast<std::int32_t>(row));
  for (std::int64_t row = 0; row < std::min(sinks, first_recent); ++row) rows.push_back(static_cast<std::int32_t>(row));
  return rows;
}

std::vector<std::int32_t> rows_outside(std::int64_t n, std::span<const std::int32_t> kept) {
  std::vector<std::int32_t> outside;
  outside.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, n - std::ssize(kept))));
  std::size_t next = 0;
  for (std::int32_t row = 0; row < n; ++row) {
    if (next < kept.size() && kept[next] == row) {
      ++next;
    } else {
      outside.push_back(row);
    }
  }
  return outside;
}

}  // namespace winnow
