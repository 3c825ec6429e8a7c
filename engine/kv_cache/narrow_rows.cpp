#include "engine/kv_cache/narrow_rows.h"

#include "engine/base/error.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {
namespace {

void require_taken(kernels::LaunchStatus status) {
  require(status == kernels::LaunchStatus::kOk, "KV cache: rows of this size have no form in fewer bits");
}

NarrowPlace place_of(const NarrowRows& rows, RowCodes form) {
  return {form, static_cast<std::byte*>(rows.codes.data_ptr()), static_cast<std::byte*>(rows.scales.data_ptr())};
}

}  // namespace

at::ScalarType scale_type(RowCodes form) { return form == RowCodes::kInt8 ? at::kFloat : at::kBFloat16; }

std::int64_t scales_of_row(RowCodes form, std::int64_t head_dim) {
  return kernels::scale_bytes(form, head_dim) / static_cast<std::int64_t>(at::elementSize(scale_type(form)));
}

void narrow_into(const at::Tensor& rows, const NarrowPlace& place, const float* offsets, std::uint8_t* taken) {
  if (rows.size(0) == 0) return;
  const at::Tensor dense = rows.stride(1) == 1 ? rows : rows.contiguous();
  kernels::NarrowRowsArgs args;
  args.type = element_type(dense.scalar_type());
  args.values = dense.const_data_ptr();
  args.value_stride = dense.stride(0);
  args.rows = dense.size(0);
  args.length = dense.size(1);
  args.codes = place.codes;
  args.scales = place.scales;
  args.offsets = offsets;
  args.taken = taken;
  args.form = place.form;
  require_taken(kernels::narrow_rows(args));
}

void upcast_into(const NarrowPlace& place, const at::Tensor& rows, const float* offsets) {
  if (rows.size(0) == 0) return;
  require(rows.stride(1) == 1, "KV cache: rows are upcast to where they lie dense");
  kernels::DequantiseRowsArgs args;
  args.codes = place.codes;
  args.scales = place.scales;
  args.rows = rows.size(0);
  args.length = rows.size(1);
  args.type = element_type(rows.scalar_type());
  args.values = rows.mutable_data_ptr();
  args.value_stride = rows.stride(0);
  args.offsets = offsets;
  args.form = place.form;
  require_taken(kernels::dequantise_rows(args));
}

NarrowRows narrowed(const at::Tensor& rows, RowCodes form) {
  require(rows.dim() == 2 && rows.device().is_cpu(), "narrowed: rows [n, head_dim] on the CPU");
  const NarrowRows narrow{at::empty({rows.size(0), kernels::code_bytes(form, rows.size(1))}, at::kChar),
                          at::empty({rows.size(0), scales_of_row(form, rows.size(1))}, scale_type(form))};
  narrow_into(rows, place_of(narrow, form));
  return narrow;
}

at::Tensor upcast(const NarrowRows& rows, RowCodes form, std::int64_t head_dim, at::ScalarType type) {
  require(rows.codes.dim() == 2 && rows.scales.dim() == 2 && rows.codes.size(0) == rows.scales.size(0), "upcast: scales for every row");
  const at::Tensor wide = at::empty({rows.codes.size(0), head_dim}, type);
  upcast_into(place_of(rows, form), wide);
  return wide;
}

}  // namespace winnow
