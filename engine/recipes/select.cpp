#include "engine/recipes/select.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr int kBucketBits = 11;
constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;
// Fewer than this are looked at whole.
constexpr std::size_t kCountedFrom = 1024;
// Scores beside each other are often alike: counted in turns, so that no count waits for the one before it.
constexpr std::size_t kTurns = 4;

std::uint32_t rank_of(float score) {
  const float number = score == score ? score : -std::numeric_limits<float>::infinity();
  const auto bits = std::bit_cast<std::uint32_t>(number + 0.0F);  // -0 + 0 is 0
  const std::uint32_t negative = 0U - (bits >> 31);
  return bits ^ (negative | 0x80000000U);
}

RankCut cut_among(std::vector<std::uint32_t> ranks, std::int64_t wanted) {
  std::nth_element(ranks.begin(), ranks.begin() + (wanted - 1), ranks.end(), std::greater<>());
  const std::uint32_t last = ranks[static_cast<std::size_t>(wanted - 1)];
  return {last, std::count(ranks.begin(), ranks.begin() + wanted, last)};
}

std::size_t bucket_of(std::uint32_t rank, int shift) { return rank >> shift & (kBuckets - 1); }

// How many ranks have each of the possible bits from `shift` on.
std::vector<std::int32_t> buckets_of(std::span<const std::uint32_t> ranks, int shift) {
  std::array<std::vector<std::int32_t>, kTurns> counts;
  for (std::vector<std::int32_t>& turn : counts) turn.assign(kBuckets, 0);
  std::size_t i = 0;
  for (; i + kTurns <= ranks.size(); i += kTurns) {
    for (std::size_t turn = 0; turn < kTurns; ++turn) ++counts[turn][bucket_of(ranks[i + turn], shift)];
  }
  for (; i < ranks.size(); ++i) ++counts[0][bucket_of(ranks[i], shift)];
  for (std::size_t turn = 1; turn < kTurns; ++turn) {
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) counts[0][bucket] += counts[turn][bucket];
  }
  return std::move(counts[0]);
}

}  // namespace

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

void append_ranks(std::span<const float> scores, std::vector<std::uint32_t>& ranks) {
  const std::size_t first = ranks.size();
  ranks.resize(first + scores.size());
  std::uint32_t* const to = ranks.data() + first;
  for (std::size_t i = 0; i < scores.size(); ++i) to[i] = rank_of(scores[i]);
}

RankCut cut_of_best(std::span<const std::uint32_t> ranks, std::int64_t wanted) {
  require(wanted >= 0 && wanted <= std::ssize(ranks), "cut_of_best: more wanted than there are");
  if (wanted == 0) return {};
  std::vector<std::uint32_t> inside;
  std::span<const std::uint32_t> left = ranks;  // those whose first bits are the last one's
  for (int shift = 32 - kBucketBits; shift > 0 && left.size() >= kCountedFrom; shift -= kBucketBits) {
    const std::vector<std::int32_t> buckets = buckets_of(left, shift);
    std::size_t bucket = kBuckets - 1;
    while (buckets[bucket] < wanted) wanted -= buckets[bucket--];
    std::vector<std::uint32_t> next(static_cast<std::size_t>(buckets[bucket]) + 1);  // one more: written before it is known to belong
    std::size_t count = 0;
    for (const std::uint32_t rank : left) {
      next[count] = rank;
      count += bucket_of(rank, shift) == bucket ? 1U : 0U;
    }
    next.pop_back();
    inside = std::move(next);
    left = inside;
  }
  return cut_among({left.begin(), left.end()}, wanted);
}

std::vector<std::int32_t> rows_above(RankCut& cut, std::span<const std::uint32_t> ranks) {
  std::int32_t above = 0;
  std::int32_t equal = 0;
  for (const std::uint32_t rank : ranks) {
    above += rank > cut.rank ? 1 : 0;
    equal += rank == cut.rank ? 1 : 0;
  }
  std::int64_t ties = std::min<std::int64_t>(cut.ties, equal);
  cut.ties -= ties;
  std::vector<std::int32_t> rows(static_cast<std::size_t>(above + ties) + 1);  // one more, as above
  std::size_t count = 0;
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    const bool is_tie = ranks[row] == cut.rank && ties > 0;
    rows[count] = static_cast<std::int32_t>(row);
    count += ranks[row] > cut.rank || is_tie ? 1U : 0U;
    ties -= is_tie ? 1 : 0;
  }
  rows.pop_back();
  return rows;
}

}  // namespace winnow
