// Numbers of container formats: the most significant byte first.
//
// Used by the readers of containers in this folder and in live/. Plain functions.
#pragma once

#include <cstdint>
#include <span>

namespace winnow::app {

// Reads at most eight bytes.
inline std::uint64_t bigEndian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace winnow::app
