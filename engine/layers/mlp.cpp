#include "engine/layers/mlp.h"

#include "engine/device/host_numbers.h"

namespace winnow {

at::Tensor GatedMlp::operator()(const at::Tensor& input) const { return down(gate_up.weight.times_gated(input, gate_up.bias, activation)); }

at::Tensor PlainMlp::operator()(const at::Tensor& input) const {
  at::Tensor inner = first(input);
  activate(activation, inner);
  return second(inner);
}

at::Tensor ExpertMlp::routed(const at::Tensor& asking, const at::Tensor& input) const {
  auto [weights, best] = at::softmax(router(asking), -1, at::kFloat).topk(chosen, -1);
  if (sums_to_one) weights = weights / weights.sum(-1, /*keepdim=*/true);
  if (scales.defined()) weights = weights * scales.index_select(0, best.flatten()).view(best.sizes());
  const at::Tensor on_host = best.to(at::kCPU).contiguous();
  const std::int64_t* const expert_of = on_host.const_data_ptr<std::int64_t>();
  std::vector<std::vector<std::int64_t>> places(experts.size());  // in `best`, by expert
  for (std::int64_t place = 0; place < on_host.numel(); ++place) places[static_cast<std::size_t>(expert_of[place])].push_back(place);
  const at::Tensor flat = weights.flatten();
  at::Tensor sum = at::zeros(input.sizes(), input.options());
  for (std::size_t expert = 0; expert < experts.size(); ++expert) {
    if (places[expert].empty()) continue;
    const at::Tensor mine = numbers_on(input.device(), places[expert]);
    const at::Tensor rows = at::div(mine, chosen, "floor");
    const at::Tensor said = experts[expert](input.index_select(0, rows)) * flat.index_select(0, mine).unsqueeze(1);
    sum.index_add_(0, rows, said.to(sum.scalar_type()));
  }
  return shared ? sum.add_(shared->gate(input).sigmoid() * shared->mlp(input)) : sum;
}

}  // namespace winnow
