#include "engine/layers/row_product.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "kernels/api/dense_product.h"

namespace winnow {
namespace {

// Numbers of a matrix below which a second thread is not worth waking.
constexpr std::int64_t kGrainNumbers = std::int64_t{1} << 15;

}  // namespace

bool has_row_product(const at::Tensor& input, const at::Tensor& matrix) {
  return input.numel() == matrix.size(1) && input.numel() > 0 && input.device().is_cpu() && matrix.device().is_cpu() &&
         matrix.is_contiguous() && input.scalar_type() == matrix.scalar_type() && find_element_type(matrix.scalar_type()).has_value();
}

at::Tensor row_product(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias) {
  const at::Tensor row = input.reshape({-1}).to(at::kFloat);
  const at::Tensor added = bias.defined() ? bias.to(at::kFloat).contiguous() : bias;
  std::vector<std::int64_t> shape = input.sizes().vec();
  shape.back() = matrix.size(0);
  at::Tensor output = at::empty(shape, at::kFloat);
  kernels::DenseProductArgs all;
  all.type = *find_element_type(matrix.scalar_type());
  all.matrix = matrix.const_data_ptr();
  all.columns = matrix.size(1);
  all.input = row.const_data_ptr<float>();
  all.added = added.defined() ? added.const_data_ptr<float>() : nullptr;
  all.output = output.mutable_data_ptr<float>();
  share_work(matrix.size(0), std::max<std::int64_t>(1, kGrainNumbers / matrix.size(1)), [&](std::int64_t begin, std::int64_t end) {
    kernels::DenseProductArgs part = all;
    part.begin = begin;
    part.end = end;
    require(kernels::dense_product_cpu(part) == kernels::LaunchStatus::kOk, "row product: the kernel refused its arguments");
  });
  return output;
}

}  // namespace winnow
