#include "engine/layers/causal_convolution.h"

namespace winnow {

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
