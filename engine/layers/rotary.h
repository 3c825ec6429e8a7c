// Rotary position embedding, rotate-half layout (first half of a head pairs with the second half). Where a part of a head is rotated
// (RotaryScheme::rotated), the frequencies of the other pairs are zero.
//
// Used by engine/models before keys are cached; rotated_keys() by methods that cache unrotated keys (shared_entries.h). Angles, cosine and
// sine are computed in fp32 and rounded once to the model's dtype, as in transformers. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/kv_cache/kv_cache.h"
#include "engine/kv_cache/rotary_scheme.h"

namespace winnow {

// Cosine and sine per row; [rows, 1, head_dim / 2] in the model's dtype, contiguous.
struct RotaryAngles {
  at::Tensor cosine;
  at::Tensor sine;
};

class RotaryEmbedding {
 public:
  // head_dim is even; a scheme with several axes or divisors names one for every frequency.
  RotaryEmbedding(std::int64_t head_dim, const RotaryScheme& scheme, at::ScalarType dtype, at::Device device);

  // positions: [axes, rows], any values, on any device.
  RotaryAngles angles(const at::Tensor& positions) const;
  // Angles of one row with the same position on every axis, as a text token has.
  RotaryAngles angles_at(std::int64_t position) const;

 private:
  RotaryAngles angles_of(const at::Tensor& rotations) const;

  at::Tensor inverse_frequency_;  // fp32 [head_dim / 2]
  at::Tensor axis_;               // int64 [head_dim / 2]; undefined: one axis
  at::ScalarType dtype_;
  double magnitude_;
};

// heads: [rows, heads, head_dim], any strides with a contiguous last dimension, of the angles' dtype. Writes the rotated heads to `out`,
// shaped as `heads`, which must not overlap it. One kernel (kernels/api/rotary.h). Errors: kDeviceFailed.
void apply_rotary(const at::Tensor& heads, const RotaryAngles& angles, at::Tensor& out);

// Angle per position of each pair of a head: fp32 [head_dim / 2] on the CPU, as in RotaryEmbedding.
at::Tensor turn_frequencies(std::int64_t head_dim, const RotaryScheme& scheme);

// Errors: kIllegalRecipe if keys carry no rotation that could be changed.
void require_turn(const RotaryScheme& scheme);

// keys [k, d] fp32, each rotated by rotations[:, k]: fp32 [axes, k] of any sign; a key's negated position removes its rotation. Errors: as
// require_turn().
at::Tensor rotated_keys(const at::Tensor& keys, const at::Tensor& rotations, const RotaryScheme& scheme);

// A decoded token's queries, keys and values behind their product, on a GPU: apply_rotary() and append_rows() by one launch
// (kernels/api/cuda_rotate_append.h). Called by device steps (engine/models/device_step.h). Errors: kDeviceFailed. Engine thread.

// qkv: [1, H + 2 Hkv, d], contiguous, of the cache's dtype; angles: of one row. Returns the queries [H, d]. Slots exclude the token; their
// blocks have room for it and no other owner.
at::Tensor rotate_append(const at::Tensor& qkv, const RotaryAngles& angles, const KvShape& shape, const DeviceSlots& slots);

}  // namespace winnow
