#include "engine/generation/conversation/token_choice.h"

#include <algorithm>
#include <vector>

#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"

namespace winnow {

std::int64_t TokenChoice::choose(const at::Tensor& logits, std::span<const std::int64_t> seen) {
  if (!logits.is_cpu()) return choose_on_device(logits, seen);
  return sampler_.sample({logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel())}, seen);
}

std::int64_t TokenChoice::choose_on_device(const at::Tensor& logits, std::span<const std::int64_t> seen) {
  const at::Tensor scores = logits.contiguous();
  kernels::SampleTokenArgs args = sampler_.next_choice();
  args.logits = scores.const_data_ptr<float>();
  args.vocabulary = scores.numel();
  at::Tensor fresh;
  if (penalises_) {
    if (!was_seen_.defined()) was_seen_ = at::zeros(scores.sizes(), scores.options().dtype(at::kBool));
    const auto unnoted = seen.subspan(std::min(noted_, seen.size()));
    noted_ = seen.size();
    args.seen = static_cast<std::uint8_t*>(was_seen_.mutable_data_ptr());
    if (!unnoted.empty()) {
      fresh = numbers_on(scores.device(), std::vector<std::int64_t>(unnoted.begin(), unnoted.end()));
      args.fresh = fresh.const_data_ptr<std::int64_t>();
      args.fresh_count = fresh.numel();
    }
  }
  const auto number = scores.options().dtype(at::kLong);
  if (!workspace_.defined()) workspace_ = at::empty({kernels::choice_workspace(args.vocabulary)}, number);
  args.workspace = static_cast<std::uint64_t*>(workspace_.mutable_data_ptr());
  const at::Tensor choice = at::empty({}, number);
  args.choice = choice.mutable_data_ptr<std::int64_t>();
  require_launched(cuda_plugin().sample_token(&args), "the choice of a token");
  return chosen_id(choice.item<std::int64_t>());
}

}  // namespace winnow
