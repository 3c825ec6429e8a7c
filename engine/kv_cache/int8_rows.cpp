#include "engine/kv_cache/int8_rows.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/kv_cache/element_type.h"
#include "kernels/api/int8_rows.h"

namespace winnow {
namespace {

void require_taken(kernels::LaunchStatus status) {
  require(status == kernels::LaunchStatus::kOk, "KV cache: rows of this size have no form in eight bits");
}

}  // namespace

void narrow_into(const at::Tensor& rows, std::int8_t* codes, float* scales) { narrow_without(rows, nullptr, codes, scales, nullptr); }

void narrow_without(const at::Tensor& rows, const float* offsets, std::int8_t* codes, float* scales, std::uint8_t* taken) {
  if (rows.size(0) == 0) return;
  const at::Tensor dense = rows.stride(1) == 1 ? rows : rows.contiguous();
  kernels::Int8RowsArgs args;
  args.type = element_type(dense.scalar_type());
  args.values = dense.const_data_ptr();
  args.value_stride = dense.stride(0);
  args.rows = dense.size(0);
  args.length = dense.size(1);
  args.codes = codes;
  args.scales = scales;
  args.offsets = offsets;
  args.taken = taken;
  require_taken(kernels::int8_rows(args));
}

void upcast_into(const std::int8_t* codes, const float* scales, const at::Tensor& rows) { upcast_with(codes, scales, nullptr, rows); }

void upcast_with(const std::int8_t* codes, const float* scales, const float* offsets, const at::Tensor& rows) {
  if (rows.size(0) == 0) return;
  require(rows.stride(1) == 1, "KV cache: rows are upcast to where they lie dense");
  kernels::DequantiseRowsArgs args;
  args.codes = codes;
  args.scales = scales;
  args.rows = rows.size(0);
  args.length = rows.size(1);
  args.type = element_type(rows.scalar_type());
  args.values = rows.mutable_data_ptr();
  args.value_stride = rows.stride(0);
  args.offsets = offsets;
  require_taken(kernels::dequantise_rows(args));
}

Int8Rows narrowed(const at::Tensor& rows) {
  require(rows.dim() == 2 && rows.device().is_cpu(), "narrowed: rows [n, head_dim] on the CPU");
  Int8Rows narrow{at::empty(rows.sizes(), at::kChar), at::empty({rows.size(0)}, at::kFloat)};
  narrow_into(rows, narrow.codes.mutable_data_ptr<std::int8_t>(), narrow.scales.mutable_data_ptr<float>());
  return narrow;
}

at::Tensor upcast(const Int8Rows& rows, at::ScalarType type) {
  require(rows.codes.dim() == 2 && rows.scales.dim() == 1 && rows.codes.size(0) == rows.scales.size(0), "upcast: a scale for every row");
  const at::Tensor wide = at::empty(rows.codes.sizes(), type);
  upcast_into(rows.codes.const_data_ptr<std::int8_t>(), rows.scales.const_data_ptr<float>(), wide);
  return wide;
}

void round_to_narrow(at::Tensor rows) {
  constexpr std::int64_t kRows = 64;  // what is between stays in the first-level cache
  require(rows.dim() == 3 && rows.device().is_cpu() && rows.stride(2) == 1, "round_to_narrow: dense rows [heads, n, head_dim] on the CPU");
  std::vector<std::int8_t> codes(static_cast<std::size_t>(kRows * rows.size(2)));
  std::vector<float> scales(static_cast<std::size_t>(kRows));
  for (std::int64_t head = 0; head < rows.size(0); ++head) {
    for (std::int64_t first = 0; first < rows.size(1); first += kRows) {
      const at::Tensor some = rows.select(0, head).narrow(0, first, std::min(kRows, rows.size(1) - first));
      narrow_into(some, codes.data(), scales.data());
      upcast_into(codes.data(), scales.data(), some);
    }
  }
}

}  // namespace winnow
