#include "engine/layers/mlp.h"

namespace winnow {

at::Tensor GatedMlp::operator()(const at::Tensor& input) const {
  const at::Tensor both = gate_up(input);
  const std::int64_t intermediate = both.size(-1) / 2;
  at::Tensor gate = both.narrow(-1, 0, intermediate);
  activate(activation, gate);
  // A fresh product rather than gate.mul_(): its rows lie together, which the next matrix product wants.
  at::Tensor product = at::empty({both.size(0), intermediate}, both.options());
  at::mul_out(product, gate, both.narrow(-1, intermediate, intermediate));
  return down(product);
}

at::Tensor PlainMlp::operator()(const at::Tensor& input) const {
  at::Tensor inner = first(input);
  activate(activation, inner);
  return second(inner);
}

}  // namespace winnow
