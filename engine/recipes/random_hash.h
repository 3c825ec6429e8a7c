// Counter-based random numbers: the same (seed, layer, head, token) gives the same number on every machine, in any order of evaluation.
//
// Used by scorers/random_score. SplitMix64 (Steele, Lea, Flood 2014) chained over the coordinates.
#pragma once

#include <cstdint>

#include "engine/base/index.h"

namespace winnow {

constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t random_hash(std::uint64_t seed, LayerId layer, KvHead head, std::int64_t token) {
  const std::uint64_t place = (static_cast<std::uint64_t>(layer) << 32) | static_cast<std::uint64_t>(head);
  return splitmix64(splitmix64(splitmix64(seed) ^ place) ^ static_cast<std::uint64_t>(token));
}

// In [0, 1), a multiple of 2^-24: exact in fp32.
constexpr float random_hash_uniform(std::uint64_t seed, LayerId layer, KvHead head, std::int64_t token) {
  return static_cast<float>(random_hash(seed, layer, head, token) >> 40) * 0x1p-24F;
}

}  // namespace winnow
