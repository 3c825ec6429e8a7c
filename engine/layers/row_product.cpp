#include "engine/layers/row_product.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/row_numbers.h"
#include "kernels/api/dense_product.h"

namespace winnow {

bool has_row_product(const at::Tensor& input, const at::Tensor& matrix) {
  return input.numel() == matrix.size(1) && input.numel() > 0 && input.device().is_cpu() && matrix.device().is_cpu() &&
         matrix.is_contiguous() && input.scalar_type() == matrix.scalar_type() && find_element_type(matrix.scalar_type()).has_value();
}

at::Tensor row_product(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, at::ScalarType type) {
  const std::int64_t in = matrix.size(1);
  const std::int64_t out = matrix.size(0);
  require(!bias.defined() || (bias.numel() == out && bias.is_contiguous() && find_element_type(bias.scalar_type())),
          "row product: a bias is a row of numbers");
  at::DimVector shape(input.sizes());
  shape.back() = out;
  at::Tensor output = at::empty(shape, input.options().dtype(type));
  void* const to = output.mutable_data_ptr();
  float* const row = row_scratch(in + out);
  float* const sums = row + in;
  widen_row(input.expect_contiguous()->const_data_ptr(), input.scalar_type(), in, row);
  kernels::DenseProductArgs all;
  all.type = *find_element_type(matrix.scalar_type());
  all.matrix = matrix.const_data_ptr();
  all.columns = in;
  all.input = row;
  all.added = bias.defined() ? sums : nullptr;  // a sum begins with what stands in its place
  all.output = sums;
  share_work(out, std::max<std::int64_t>(1, kGrainNumbers / in), [&](std::int64_t begin, std::int64_t end) {
    kernels::DenseProductArgs part = all;
    part.begin = begin;
    part.end = end;
    if (bias.defined()) {
      const auto* const from = static_cast<const std::byte*>(bias.const_data_ptr()) + begin * bias.element_size();
      widen_row(from, bias.scalar_type(), end - begin, sums + begin);
    }
    require(kernels::dense_product_cpu(part) == kernels::LaunchStatus::kOk, "row product: the kernel refused its arguments");
    narrow_row(sums + begin, end - begin, type, to, begin);
  });
  return output;
}

}  // namespace winnow
