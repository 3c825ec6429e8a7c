// Matrices in blocks and vectors at random, for the tests of their products.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/api/block_types.h"

namespace winnow::kernels {

// Blocks whose scales are ordinary numbers: bytes at random, where every pair with an exponent of ones is made another.
inline std::vector<std::uint8_t> random_blocks(BlockType type, std::int64_t elements, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(elements / block_elements(type) * block_bytes(type)));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  if (type == BlockType::kF32) {
    for (std::size_t i = 3; i < bytes.size(); i += 4) bytes[i] = static_cast<std::uint8_t>(0x3E | (bytes[i] & 0x80));
  } else {
    // Halves lie at even offsets in all types: an exponent of 15 at most.
    for (std::size_t i = 1; i < bytes.size(); i += 2) bytes[i] &= 0xBB;
  }
  return bytes;
}

inline std::vector<float> random_input(std::int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> input(static_cast<std::size_t>(columns));
  for (float& value : input) value = normal(random);
  return input;
}

}  // namespace winnow::kernels
