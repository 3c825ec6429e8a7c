#include "engine/layers/norm.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/rms_norm.h"

namespace winnow {
namespace {

template <class Pointer>
Pointer moved(Pointer from, std::int64_t elements, const at::Tensor& tensor) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const std::byte, std::byte>;
  return from == nullptr ? nullptr : static_cast<Byte*>(from) + elements * static_cast<std::int64_t>(tensor.element_size());
}

// Rows or, where there is but one, its groups [begin, end) of them.
kernels::RmsNormArgs part_of(const kernels::RmsNormArgs& all, std::int64_t begin, std::int64_t end, const at::Tensor& input) {
  kernels::RmsNormArgs part = all;
  const bool by_rows = all.rows != 1;
  (by_rows ? part.rows : part.groups) = end - begin;
  const auto first_of = [&](const kernels::GroupStrides& strides) { return begin * (by_rows ? strides.row : strides.group); };
  part.input = moved(all.input, first_of(all.input_strides), input);
  part.output = moved(all.output, first_of(all.output_strides), input);
  part.added = moved(all.added, begin * all.added_stride, input);
  part.sum = moved(all.sum, first_of(all.input_strides), input);
  return part;
}

void run(const kernels::RmsNormArgs& all, const at::Tensor& input) {
  if (!input.is_cpu()) return require_launched(cuda_plugin().rms_norm(&all), "a norm");
  const bool by_rows = all.rows != 1;
  const std::int64_t numbers = all.features * (by_rows ? all.groups : 1);
  share_work(by_rows ? all.rows : all.groups, std::max<std::int64_t>(1, kGrainNumbers / std::max<std::int64_t>(1, numbers)),
             [&](std::int64_t begin, std::int64_t end) {
               require(kernels::rms_norm_cpu(part_of(all, begin, end, input)) == kernels::LaunchStatus::kOk,
                       "norm: the kernel refused its arguments");
             });
}

// Arguments for `input` of up to three dimensions, without an output.
kernels::RmsNormArgs args_for(const RmsNorm& norm, const at::Tensor& input) {
  require(input.size(-1) == norm.weight.numel() && norm.weight.is_contiguous() && input.stride(-1) == 1,
          "norm: one weight for each number");
  kernels::RmsNormArgs args;
  args.type = element_type(input.scalar_type());
  args.rows = input.dim() < 2 ? 1 : input.size(0);
  args.groups = input.dim() < 3 ? 1 : input.size(1);
  args.features = input.size(-1);
  args.input = input.const_data_ptr();
  args.input_strides = {input.dim() < 2 ? 0 : input.stride(0), input.dim() < 3 ? 0 : input.stride(1)};
  args.weight_type = element_type(norm.weight.scalar_type());
  args.weight = norm.weight.const_data_ptr();
  args.epsilon = static_cast<float>(norm.epsilon);
  return args;
}

}  // namespace

at::Tensor RmsNorm::operator()(const at::Tensor& input) const {
  at::Tensor output = at::empty(input.sizes(), input.options());
  const bool as_it_lies = input.dim() <= 3 && input.stride(-1) == 1;
  const auto given = as_it_lies ? c10::MaybeOwned<at::Tensor>::borrowed(input) : input.expect_contiguous();
  const at::Tensor flat = as_it_lies ? *given : given->view({-1, input.size(-1)});
  kernels::RmsNormArgs args = args_for(*this, flat);
  args.output = output.mutable_data_ptr();
  args.output_strides = {args.groups * args.features, args.features};
  run(args, flat);
  return output;
}

at::Tensor RmsNorm::after_adding(at::Tensor& hidden, const at::Tensor& added) const {
  require(hidden.dim() == 2 && added.sizes() == hidden.sizes() && added.scalar_type() == hidden.scalar_type() && added.stride(1) == 1,
          "norm: what is added fits the rows");
  at::Tensor output = at::empty(hidden.sizes(), hidden.options());
  kernels::RmsNormArgs args = args_for(*this, hidden);
  args.added = added.const_data_ptr();
  args.added_stride = added.stride(0);
  args.sum = hidden.mutable_data_ptr();
  args.output = output.mutable_data_ptr();
  args.output_strides = {args.features, args.features};
  run(args, hidden);
  return output;
}

void RmsNorm::in_place(at::Tensor& rows) const {
  kernels::RmsNormArgs args = args_for(*this, rows);
  args.output = rows.mutable_data_ptr();
  args.output_strides = args.input_strides;
  run(args, rows);
}

at::Tensor LayerNorm::operator()(const at::Tensor& input) const { return at::layer_norm(input, {input.size(-1)}, weight, bias, epsilon); }

}  // namespace winnow
