// SplitMix64: the same numbers with every standard library, so that drawn videos and intervals are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace winnow::app {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : m_state(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (m_state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // In [0, bound); the bias of the remainder is below bound / 2^64.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  // In [low, high).
  double between(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t m_state;
};

}  // namespace winnow::app
