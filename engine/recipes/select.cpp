#include "engine/recipes/select.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/base/error.h"

namespace winnow {

namespace {

// One integer whose descending order is (score descending, row ascending).
std::uint64_t sort_key(float score, std::uint32_t row) {
  if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
  if (score == 0.0F) score = 0.0F;
  const auto bits = std::bit_cast<std::uint32_t>(score);
  const std::uint32_t ordered = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
  return (static_cast<std::uint64_t>(ordered) << 32) | (0xFFFFFFFFU - row);
}

}  // namespace

std::vector<std::int32_t> select_rows(std::span<const float> scores, std::int64_t k, std::span<const std::int32_t> forced) {
  const auto n = static_cast<std::int64_t>(scores.size());
  require(k >= 0 && k <= n, "select_rows: more rows wanted than there are");
  const auto forced_count = std::min(k, static_cast<std::int64_t>(forced.size()));
  std::vector<std::int32_t> kept(forced.begin(), forced.begin() + forced_count);
  if (const std::int64_t wanted = k - forced_count; wanted > 0) {
    std::vector<bool> taken(scores.size(), false);
    for (const std::int32_t row : kept) taken[static_cast<std::size_t>(row)] = true;
    std::vector<std::uint64_t> keys;
    keys.reserve(scores.size());
    for (std::size_t row = 0; row < scores.size(); ++row) {
      if (!taken[row]) keys.push_back(sort_key(scores[row], static_cast<std::uint32_t>(row)));
    }
    // Keys are distinct, so the best `wanted` are a definite set.
    std::nth_element(keys.begin(), keys.begin() + (wanted - 1), keys.end(), std::greater<>());
    for (std::int64_t i = 0; i < wanted; ++i) {
      kept.push_back(static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(keys[static_cast<std::size_t>(i)])));
    }
  }
  std::sort(kept.begin(), kept.end());
  return kept;
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
