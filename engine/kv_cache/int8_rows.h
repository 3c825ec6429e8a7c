// Rows of K or V in eight bits: int8 codes and one fp32 scale a row (kernels/api/int8_rows.h), as a cache of KvStorage::kInt8 holds them.
//
// Used by kv_cache itself, by decoders, whose prefill attends to what will be stored, and by the file of a kept conversation. Rounding what
// was rounded changes nothing, bit for bit. Rows are of any float dtype, on the CPU. Errors: kInternal.
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

// The same where memory is there already: codes [n, head_dim], scales [n]. Upcast rows lie dense in their last dimension.
void narrow_into(const at::Tensor& rows, std::int8_t* codes, float* scales);
void upcast_into(const std::int8_t* codes, const float* scales, const at::Tensor& rows);

// Without an offset each where that is worth it (kernels/api/int8_rows.h), offsets and taken [n, head_dim] and [n]; and with one added.
void narrow_without(const at::Tensor& rows, const float* offsets, std::int8_t* codes, float* scales, std::uint8_t* taken);
void upcast_with(const std::int8_t* codes, const float* scales, const float* offsets, const at::Tensor& rows);

// Rounds rows in place to what eight bits hold of them. rows: [heads, n, head_dim], any strides with a contiguous last dimension.
void round_to_narrow(at::Tensor rows);

}  // namespace winnow
