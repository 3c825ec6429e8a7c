#include "engine/layers/activation.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/row_elements.h"

namespace winnow {

namespace {

void activate_all(Activation activation, at::Tensor& values) {
  switch (activation) {
    case Activation::kSilu: at::silu_(values); return;
    case Activation::kGelu: at::gelu_(values); return;
    case Activation::kGeluTanh: at::gelu_(values, "tanh"); return;
    case Activation::kQuickGelu: values.mul_(at::sigmoid(values * 1.702)); return;
    case Activation::kRelu: at::relu_(values); return;
  }
  throw Exception(ErrorCode::kInternal, "", "unknown activation");
}

}  // namespace

at::Tensor& activate(Activation activation, at::Tensor& values) {
  change_rows(values, [&](at::Tensor& rows) { activate_all(activation, rows); });
  return values;
}

at::Tensor activate_gated(Activation activation, const at::Tensor& gate_up) {
  require(gate_up.dim() == 2 && gate_up.size(1) % 2 == 0 && gate_up.stride(1) == 1, "gated activation: rows of gates and what they weigh");
  const std::int64_t rows = gate_up.size(0);
  const std::int64_t columns = gate_up.size(1) / 2;
  const std::int64_t bytes = gate_up.element_size();
  at::Tensor output = at::empty({rows, columns}, gate_up.options());
  const auto* const from = static_cast<const std::byte*>(gate_up.const_data_ptr());
  auto* const to = static_cast<std::byte*>(output.mutable_data_ptr());
  // A single row may have any stride.
  const std::int64_t stride = rows == 1 ? 2 * columns : gate_up.stride(0);
  const kernels::GatedActivationArgs all{
      activation, element_type(gate_up.scalar_type()), from, from + columns * bytes, stride, rows, columns, to};
  if (!gate_up.is_cpu()) {
    require_launched(cuda_plugin().gated_activation(&all), "an activation");
    return output;
  }
  share_work(rows, std::max<std::int64_t>(1, kGrainNumbers / columns), [&](std::int64_t begin, std::int64_t end) {
    kernels::GatedActivationArgs part = all;
    part.gate = from + begin * stride * bytes;
    part.up = from + (begin * stride + columns) * bytes;
    part.rows = end - begin;
    part.output = to + begin * columns * bytes;
    require(kernels::gated_activation_cpu(part) == kernels::LaunchStatus::kOk, "gated activation: the kernel refused its arguments");
  });
  return output;
}

}  // namespace winnow
