// Rows of K or V as codes and scales (kernels/api/narrow_rows.h), as a cache in 8 or 4 bits holds them (KvStorage).
//
// Used by kv_cache itself and by saved conversations. Quantising dequantised rows changes nothing, bit for bit; of 4 bits if they were fp32
// (KvShape::exact_type()). Rows have any float dtype, on the CPU. Errors: kInternal.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "kernels/api/narrow_rows.h"

namespace winnow {

using kernels::RowCodes;

struct NarrowRows {
  at::Tensor codes;   // int8 [n, kernels::code_bytes()]
  at::Tensor scales;  // of 8 bits: fp32 [n, 1]; of 4 bits: bf16 [n, spans]
};

// rows: [n, head_dim].
NarrowRows narrowed(const at::Tensor& rows, RowCodes form);
at::Tensor upcast(const NarrowRows& rows, RowCodes form, std::int64_t head_dim, at::ScalarType type);
// The scales of one row.
at::ScalarType scale_type(RowCodes form);
std::int64_t scales_of_row(RowCodes form, std::int64_t head_dim);

// Rows in existing memory.
struct NarrowPlace {
  RowCodes form = RowCodes::kInt8;
  std::byte* codes = nullptr;   // [n, kernels::code_bytes()]
  std::byte* scales = nullptr;  // [n, kernels::scale_bytes()]
};

// offsets [n, head_dim] are subtracted where that gains enough (kernels/api/narrow_rows.h; taken: [n]), and added again; null: none. Upcast
// rows have a contiguous last dimension.
void narrow_into(const at::Tensor& rows, const NarrowPlace& place, const float* offsets = nullptr, std::uint8_t* taken = nullptr);
void upcast_into(const NarrowPlace& place, const at::Tensor& rows, const float* offsets = nullptr);

}  // namespace winnow
