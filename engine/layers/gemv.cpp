#include "engine/layers/gemv.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/cuda_gemv.h"
#include "kernels/api/dense_gemv.h"

namespace winnow {
namespace {

bool begins_a_piece(const at::Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % kernels::kGemvAlignment == 0;
}

// A GPU requires this, too.
bool lies_in_pieces(const at::Tensor& input, const at::Tensor& matrix) {
  const auto row_bytes = matrix.size(1) * static_cast<std::int64_t>(matrix.element_size());
  return input.is_contiguous() && row_bytes % kernels::kGemvAlignment == 0 && begins_a_piece(input) && begins_a_piece(matrix);
}

void multiply_on_gpu(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, at::Tensor& output,
                     std::optional<Activation> gated = {}) {
  require(!bias.defined() || bias.scalar_type() == matrix.scalar_type(), "row product: a bias is of the matrix's type");
  kernels::CudaGemvArgs args;
  args.type = element_type(matrix.scalar_type());
  args.matrix = matrix.const_data_ptr();
  args.rows = gated ? matrix.size(0) / 2 : matrix.size(0);
  args.columns = matrix.size(1);
  args.input = input.const_data_ptr();
  args.bias = bias.defined() ? bias.const_data_ptr() : nullptr;
  args.output_type = element_type(output.scalar_type());
  args.output = output.mutable_data_ptr();
  args.gated = gated;
  require_launched(cuda_plugin().gemv(&args), "a product of one row");
}

void multiply_on_cpu(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, at::Tensor& output) {
  const at::ScalarType type = output.scalar_type();
  const std::int64_t in = matrix.size(1);
  const std::int64_t out = matrix.size(0);
  const std::int64_t inputs = input.numel() / in;
  void* const to = output.mutable_data_ptr();
  float* const rows = row_scratch(inputs * (in + out));
  float* const sums = rows + inputs * in;
  upcast_row(input.expect_contiguous()->const_data_ptr(), input.scalar_type(), inputs * in, rows);
  kernels::DenseGemvArgs all;
  all.type = *find_element_type(matrix.scalar_type());
  all.matrix = matrix.const_data_ptr();
  all.columns = in;
  all.input = rows;
  all.added = bias.defined() ? sums : nullptr;  // a sum begins with what stands in its place
  all.output = sums;
  all.inputs = inputs;
  all.output_stride = out;
  share_work(out, std::max<std::int64_t>(1, kGrainNumbers / in), [&](std::int64_t begin, std::int64_t end) {
    kernels::DenseGemvArgs part = all;
    part.begin = begin;
    part.end = end;
    if (bias.defined()) {
      const auto* const from = static_cast<const std::byte*>(bias.const_data_ptr()) + begin * bias.element_size();
      upcast_row(from, bias.scalar_type(), end - begin, sums + begin);
    }
    require(kernels::dense_gemv_cpu(part) == kernels::LaunchStatus::kOk, "row product: the kernel refused its arguments");
    for (std::int64_t row = 0; row < inputs; ++row) narrow_row(sums + row * out + begin, end - begin, type, to, row * out + begin);
  });
}

void require_bias_fits(const at::Tensor& bias, const at::Tensor& matrix) {
  require(!bias.defined() || (bias.numel() == matrix.size(0) && bias.is_contiguous() && bias.device() == matrix.device() &&
                              find_element_type(bias.scalar_type())),
          "row product: a bias is a row of numbers");
}

at::Tensor output_of(const at::Tensor& input, std::int64_t out, at::ScalarType type) {
  at::DimVector shape(input.sizes());
  shape.back() = out;
  return at::empty(shape, input.options().dtype(type));
}

}  // namespace

bool has_gemv(const at::Tensor& input, const at::Tensor& matrix) {
  const std::int64_t most = matrix.is_cpu() ? kFewRows * matrix.size(1) : matrix.size(1);
  const bool fits = matrix.numel() > 0 && input.numel() > 0 && input.size(-1) == matrix.size(1) && input.numel() <= most &&
                    input.device() == matrix.device() && matrix.is_contiguous() && input.scalar_type() == matrix.scalar_type() &&
                    find_element_type(matrix.scalar_type()).has_value();
  return fits && (matrix.is_cpu() || (matrix.is_cuda() && lies_in_pieces(input, matrix)));
}

at::Tensor gemv(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, at::ScalarType type) {
  require_bias_fits(bias, matrix);
  at::Tensor output = output_of(input, matrix.size(0), type);
  matrix.is_cpu() ? multiply_on_cpu(input, matrix, bias, output) : multiply_on_gpu(input, matrix, bias, output);
  return output;
}

at::Tensor gated_gemv(const at::Tensor& input, const at::Tensor& matrix, const at::Tensor& bias, Activation activation) {
  require(matrix.is_cuda() && matrix.size(0) % 2 == 0, "row product: gates on a GPU, and as many rows that they weigh");
  require_bias_fits(bias, matrix);
  at::Tensor output = output_of(input, matrix.size(0) / 2, matrix.scalar_type());
  multiply_on_gpu(input, matrix, bias, output, activation);
  return output;
}

}  // namespace winnow
