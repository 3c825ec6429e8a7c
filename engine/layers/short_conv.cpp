#include "engine/layers/short_conv.h"

#include <vector>

namespace winnow {

at::Tensor ShortConv::operator()(const at::Tensor& rows, LayerState& state) const { return output(gated(input(rows), state)); }

at::Tensor ShortConv::operator()(const at::Tensor& rows, const std::function<LayerState&(std::int64_t row)>& state_of) const {
  const at::Tensor products = input(rows);
  std::vector<at::Tensor> each;
  for (std::int64_t row = 0; row < rows.size(0); ++row) each.push_back(gated(products.narrow(0, row, 1), state_of(row)));
  return output(at::cat(each));
}

at::Tensor ShortConv::gated(const at::Tensor& products, LayerState& state) const {
  const std::int64_t hidden = products.size(1) / 3;
  const auto part = [&](std::int64_t index) { return products.narrow(1, index * hidden, hidden); };
  at::Tensor sum = causal_convolution(part(0) * part(2), convolution, state.recent);
  if (bias.defined()) sum.add_(bias);
  return sum.to(products.scalar_type()).mul_(part(1));
}

at::Tensor causal_convolution(const at::Tensor& rows, const at::Tensor& kernel, at::Tensor& recent) {
  const std::int64_t tokens = rows.size(0);
  const at::Tensor all = at::cat({recent, rows}, 0);
  recent.copy_(all.narrow(0, tokens, recent.size(0)));
  const at::Tensor wide = all.to(at::kFloat);
  at::Tensor sum = wide.narrow(0, 0, tokens) * kernel.select(0, 0);
  for (std::int64_t i = 1; i < kernel.size(0); ++i) sum.addcmul_(wide.narrow(0, i, tokens), kernel.select(0, i));
  return sum;
}

}  // namespace winnow
