// Rows of K or V as int8 codes and one fp32 scale a row (kernels/api/int8_rows.h), as a KvStorage::kInt8 cache holds them.
//
// Used by kv_cache itself, by decoders, whose prefill attends to the rows as they will be stored, and by saved conversations. Quantising
// dequantised rows changes nothing, bit for bit. Rows have any float dtype, on the CPU. Errors: kInternal.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace winnow {

struct Int8Rows {
  at::Tensor codes;   // int8 [n, head_dim]
  at::Tensor scales;  // fp32 [n]
};

// rows: [n, head_dim].
Int8Rows narrowed(const at::Tensor& rows);
at::Tensor upcast(const Int8Rows& rows, at::ScalarType type);

// The same into existing memory: codes [n, head_dim], scales [n]. Upcast rows have a contiguous last dimension.
void narrow_into(const at::Tensor& rows, std::int8_t* codes, float* scales);
void upcast_into(const std::int8_t* codes, const float* scales, const at::Tensor& rows);

// The same with offsets [n, head_dim], subtracted where that gains enough (kernels/api/int8_rows.h; taken: [n]), and added again.
void narrow_without(const at::Tensor& rows, const float* offsets, std::int8_t* codes, float* scales, std::uint8_t* taken);
void upcast_with(const std::int8_t* codes, const float* scales, const float* offsets, const at::Tensor& rows);

// Quantises and dequantises rows in place. rows: [heads, n, head_dim], any strides with a contiguous last dimension.
void round_to_narrow(at::Tensor rows);

}  // namespace winnow
