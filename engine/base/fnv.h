// FNV-1a over bytes: detects torn or damaged files of ours. Not safe against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow {

inline constexpr std::uint64_t kFnvStart = 14695981039346656037ULL;

// Continues from the hash of the bytes before.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t hash = kFnvStart) {
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211ULL;
  return hash;
}

}  // namespace winnow
