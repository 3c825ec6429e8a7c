// The bias that a model adds to keys before RoPE, and how an int8 cache stores keys without it.
//
// Qwen2 and its relatives have biases of hundreds in a few elements; with one scale a row, they would leave no precision for the others.
// RoPE is linear: R(p) (W x + b) - R(p) b still holds everything that a key says of its token. The cache stores that
// (kernels/api/narrow_rows.h says when) and remembers p for each slot. Readers of a row get R(p) b added in fp32; decode attention adds the
// query's dot product with it (kernels/api/decode_attention.h). Positions are those of the key's current rotation: code that rotates keys
// further tells the cache.
// Only strong elements are taken (strong_bias()); Qwen2 has most of them in the slowest pairs. R(p) has cosines and sines of 16 bits: any
// R(p) is exact that is the same for writing and reading, and this one leaves less than 0.01 of a bias of 300 in the row.
// KeyBias belongs to a model: made by its decoder, carried by KvShape. KeyRotations belongs to a conversation and is shared by its forks:
// cosines and sines of the positions met so far, one row each for all layers and heads. Used inside engine/kv_cache and by decode
// attention. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "kernels/api/decode_attention.h"

namespace winnow {

// A pair of at most this length is weak.
inline constexpr double kWeakBias = 4.0;

struct KeyBias {
  PerLayer<at::Tensor> of_layers;  // fp32 [kv_heads, head_dim], contiguous, on the CPU; undefined: none
  RotaryScheme rotary;             // of all layers that have one
  at::Tensor frequencies;          // fp32 [head_dim / 2], contiguous, on the CPU: angle per position of each pair

  const at::Tensor& of(LayerId layer) const { return of_layers.at(layer); }
};

// The part of a bias [kv_heads, head_dim] that a cache takes from keys: units (KeyRotations::kUnit) with a pair beyond kWeakBias; the rest
// is zero. A weaker bias hardly widens a row, and would cost time at every step of decoding.
at::Tensor strong_bias(const at::Tensor& bias);

class KeyRotations {
 public:
  static constexpr std::int32_t kNone = 0;  // for a key stored with its bias; its row is zeros
  // Numbers that stand together in a row: cosines of 8 pairs, then their sines.
  static constexpr std::int64_t kUnit = kernels::DecodeKeyBias::kUnit;
  static constexpr std::int64_t kPairs = kUnit / 2;

  explicit KeyRotations(std::shared_ptr<const KeyBias> bias);

  const KeyBias& bias() const { return *bias_; }
  // positions: int64 [axes, n] on the CPU. Returns each position's row, added if new; kNone if it is negative or beyond 2^21.
  std::vector<std::int32_t> at(const at::Tensor& positions);
  // int64 [axes, n]; -1 for kNone.
  at::Tensor positions(std::span<const std::int32_t> rotations) const;
  // [any, units(), kUnit], in multiples of step(). Valid until the next at().
  const std::int16_t* rows() const { return rows_.data(); }
  std::int64_t units() const { return units_; }
  float step() const { return step_; }
  // R(p) b of a head: bias [head_dim]; offsets [n, head_dim], zeros for kNone.
  void offsets(const float* bias, std::span<const std::int32_t> rotations, float* offsets) const;
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(rows_.size() * sizeof(std::int16_t) + positions_.size() * sizeof(std::int64_t));
  }

 private:
  // positions: [axes], without a row so far.
  void add(const std::vector<std::int64_t>& position);

  std::shared_ptr<const KeyBias> bias_;
  std::int64_t units_;
  float step_;
  std::vector<std::int16_t> rows_;
  std::vector<std::int64_t> positions_;                     // [any, axes]
  std::unordered_map<std::uint64_t, std::int32_t> row_of_;  // by a position on all axes
};

}  // namespace winnow
