#include "engine/layers/short_conv.h"

#include "engine/layers/causal_convolution.h"

namespace winnow {

at::Tensor ShortConv::operator()(const at::Tensor& rows, LayerState& state) const {
  const at::Tensor products = input(rows);
  const std::int64_t hidden = rows.size(1);
  const auto part = [&](std::int64_t index) { return products.narrow(1, index * hidden, hidden); };
  at::Tensor sum = causal_convolution(part(0) * part(2), convolution, state.recent);
  if (bias.defined()) sum.add_(bias);
  return output(sum.to(rows.scalar_type()).mul_(part(1)));
}

}  // namespace winnow
