// Attention that each key of a segment receives: its probabilities summed over rows, accumulated while attention runs (tiled_attention.h).
//
// Filled by engine/models if an observer asks (layer_view.h), read by engine/compression. Sums are exact in any order: each tile's sums are
// rounded to a multiple of 2^-52 of an upper bound of the total. Threads thus add in any order with the same result. Threads: add() of
// different KV heads, or under a lock.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/base/index.h"

namespace winnow {

// The requested sums.
enum class ReceivedNeed : int { kNothing = 0, kSums = 1, kSquares = 2 };

struct ReceivedAttention {
  at::Tensor sums{};     // double [H, n]; undefined: not requested
  at::Tensor squares{};  // double [Hkv, n], of the mean probability of a KV head's query heads; undefined: not requested

  // Zero sums, for at most `keys` rows.
  static ReceivedAttention of(ReceivedNeed need, std::int64_t heads, std::int64_t kv_heads, std::int64_t keys);
  bool wanted() const { return sums.defined(); }
  // Adds what the first keys received from some rows: of_heads [G, count], row-major; of_squares [count] or empty.
  void add(KvHead kv_head, std::int64_t count, std::span<const float> of_heads, std::span<const float> of_squares);
};

}  // namespace winnow
