// What every key of a segment receives from the rows that attend to it: the sums over rows of their probabilities, as attention finds them
// on its way (tiled_attention.h).
//
// Filled by engine/models where an observer asks for it (layer_view.h), read by engine/compression. Sums are exact in any order: what a
// tile of rows gives is rounded to a multiple of 2^-52 of a number above all that can come together, so that threads add as they finish and
// the result is the same. Threads: add() of different KV heads, or under a lock.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/base/index.h"

namespace winnow {

// How much of it somebody wants.
enum class ReceivedNeed : int { kNothing = 0, kSums = 1, kSquares = 2 };

struct ReceivedAttention {
  at::Tensor sums{};     // double [H, n]; undefined: nobody asked
  at::Tensor squares{};  // double [Hkv, n], of the mean probability of a KV head's query heads; undefined: nobody asked

  // Nothing received so far, from at most `keys` rows.
  static ReceivedAttention of(ReceivedNeed need, std::int64_t heads, std::int64_t kv_heads, std::int64_t keys);
  bool wanted() const { return sums.defined(); }
  // What the first keys received from some rows: of_heads [G, count], a head's one behind the other; of_squares [count] or empty.
  void add(KvHead kv_head, std::int64_t count, std::span<const float> of_heads, std::span<const float> of_squares);
};

}  // namespace winnow
