#include "engine/layers/upcast_matrix.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/dequantised_product.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/dense_gemv.h"

namespace winnow {

UpcastMatrix::UpcastMatrix(at::Tensor numbers) : numbers_(std::move(numbers)) {
  require(numbers_.dim() == 2 && numbers_.numel() > 0 && numbers_.is_contiguous() && numbers_.device().is_cpu() &&
              (numbers_.scalar_type() == at::kBFloat16 || numbers_.scalar_type() == at::kHalf),
          "narrow matrix: rows of numbers in 16 bits");
}

at::Tensor UpcastMatrix::times(const at::Tensor& input) const {
  require(input.scalar_type() == at::kFloat, "narrow matrix: multiplied in fp32");
  const at::Tensor flat = input.reshape({-1, in()});
  at::DimVector shape(input.sizes());
  shape.back() = out();
  return (flat.size(0) <= kFewRows ? times_few(flat) : times_many(flat)).view(shape);
}

at::Tensor UpcastMatrix::times_few(const at::Tensor& input) const {
  const auto rows = input.expect_contiguous();
  const std::int64_t inputs = rows->size(0);
  at::Tensor output = at::empty({inputs, out()}, input.options());
  if (inputs == 0) return output;
  kernels::DenseGemvArgs all;
  all.type = *find_element_type(numbers_.scalar_type());
  all.matrix = numbers_.const_data_ptr();
  all.columns = in();
  all.input = rows->const_data_ptr<float>();
  all.output = output.mutable_data_ptr<float>();
  all.inputs = inputs;
  all.output_stride = out();
  share_work(out(), std::max<std::int64_t>(1, kGrainNumbers / in()), [&](std::int64_t begin, std::int64_t end) {
    kernels::DenseGemvArgs part = all;
    part.begin = begin;
    part.end = end;
    require(kernels::dense_gemv_cpu(part) == kernels::LaunchStatus::kOk, "narrow matrix: the kernel refused its arguments");
  });
  return output;
}

at::Tensor UpcastMatrix::times_many(const at::Tensor& input) const {
  at::Tensor wide;  // of the first, which is the largest
  return dequantised_product(input, out(), [&](std::int64_t first, std::int64_t count) {
    if (!wide.defined()) wide = at::empty({count, in()}, input.options());
    const at::Tensor numbers = numbers_.narrow(0, first, count);
    const auto* const from = static_cast<const std::byte*>(numbers.const_data_ptr());
    auto* const to = wide.mutable_data_ptr<float>();
    share_work(count, std::max<std::int64_t>(1, kGrainNumbers / in()), [&](std::int64_t begin, std::int64_t end) {
      upcast_row(from + begin * in() * numbers.element_size(), numbers.scalar_type(), (end - begin) * in(), to + begin * in());
    });
    return wide.narrow(0, 0, count);
  });
}

at::Tensor UpcastMatrix::columns(std::int64_t first, std::int64_t count) const { return numbers_.narrow(1, first, count).to(at::kFloat); }

at::Tensor UpcastMatrix::rows(const at::Tensor& ids) const { return numbers_.index_select(0, ids.to(at::kCPU)).to(at::kFloat); }

}  // namespace winnow
