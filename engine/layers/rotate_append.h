// A decoded token's queries, keys and values behind their product, on a GPU: apply_rotary() and append_rows() by one launch
// (kernels/api/cuda_rotate_append.h). Called by device steps (engine/models/device_step.h). Errors: kDeviceFailed. Engine thread.
#pragma once

#include <ATen/ATen.h>

#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/rotary.h"

namespace winnow {

// qkv: [1, H + 2 Hkv, d], contiguous, of the cache's dtype; angles: of one row. Returns the queries [H, d]. Slots exclude the token; their
// blocks have room for it and no other owner.
at::Tensor rotate_append(const at::Tensor& qkv, const RotaryAngles& angles, const KvShape& shape, const DeviceSlots& slots);

}  // namespace winnow
