#include "engine/layers/mlp.h"

#include <limits>

#include "engine/device/host_numbers.h"
#include "engine/layers/row_elements.h"

namespace winnow {

at::Tensor GatedMlp::operator()(const at::Tensor& input) const { return down(gate_up.weight.times_gated(input, gate_up.bias, activation)); }

at::Tensor PlainMlp::operator()(const at::Tensor& input) const {
  at::Tensor inner = first(input);
  activate(activation, inner);
  return second(inner);
}

namespace {

// Scores of experts in groups that are not chosen become less than any other. scores: fp32 [rows, experts].
at::Tensor within_best_groups(const SigmoidChoice& choice, const at::Tensor& scores) {
  if (choice.chosen_groups == choice.groups) return scores;
  const at::Tensor grouped = scores.view({scores.size(0), choice.groups, -1});
  const at::Tensor of_groups = std::get<0>(grouped.topk(2, -1)).sum(-1);
  const at::Tensor best = std::get<1>(of_groups.topk(choice.chosen_groups, -1));
  const at::Tensor left_out = at::ones_like(of_groups, at::kBool).scatter_(1, best, false);
  return grouped.masked_fill(left_out.unsqueeze(-1), -std::numeric_limits<double>::infinity()).view_as(scores);
}

}  // namespace

std::pair<at::Tensor, at::Tensor> ExpertMlp::choice(const at::Tensor& answers) const {
  if (are_few_rows(answers)) {
    std::vector<at::Tensor> weights;
    std::vector<at::Tensor> best;
    for (std::int64_t row = 0; row < answers.size(0); ++row) {
      auto [weights_of_row, best_of_row] = choice(answers.narrow(0, row, 1));
      weights.push_back(std::move(weights_of_row));
      best.push_back(std::move(best_of_row));
    }
    return {at::cat(weights), at::cat(best)};
  }
  if (!sigmoid) {
    auto [weights, best] = at::softmax(answers, -1, at::kFloat).topk(chosen, -1);
    if (sums_to_one) weights = weights / weights.sum(-1, /*keepdim=*/true);
    return {weights, best};
  }
  constexpr double kLeastSum = 1e-20;  // transformers'
  const at::Tensor scores = answers.sigmoid();
  const at::Tensor best = std::get<1>(within_best_groups(*sigmoid, scores + sigmoid->bias).topk(chosen, -1));
  at::Tensor weights = scores.gather(1, best);
  if (sums_to_one) weights = weights / (weights.sum(-1, /*keepdim=*/true) + kLeastSum);
  return {weights * sigmoid->factor, best};
}

at::Tensor ExpertMlp::routed(const at::Tensor& asking, const at::Tensor& input) const {
  auto [weights, best] = choice(router(sigmoid ? asking.to(at::kFloat) : asking));
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
  if (!shared) return sum;
  const at::Tensor of_shared = shared->mlp(input);
  if (!shared->gate) return sum.add_(of_shared);
  at::Tensor open = (*shared->gate)(input);
  change_rows(open, [](at::Tensor& rows) { rows.sigmoid_(); });
  return sum.add_(open * of_shared);
}

}  // namespace winnow
