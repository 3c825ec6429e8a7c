// FNV-1a over bytes: tells a torn or damaged file of ours from a whole one. Not for what somebody might forge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow {

inline constexpr std::uint64_t kFnvStart = 14695981039346656037ULL;

// Goes on from the hash of what comes before.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t hash = kFnvStart) {
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211ULL;
  return hash;
}

}  // namespace winnow
