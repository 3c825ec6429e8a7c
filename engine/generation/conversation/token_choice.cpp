#include "engine/generation/conversation/token_choice.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"

namespace winnow {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// values: fp64 [vocabulary] relative to the best, -inf where never. Each drops what its setting drops, in place.
void keep_top_k(at::Tensor& values, std::int64_t k) {
  if (k == 0 || k >= values.numel()) return;
  const at::Tensor kth = std::get<0>(values.topk(k)).select(0, k - 1);
  values.masked_fill_(values.lt(kth), kNever);
}

void keep_top_p(at::Tensor& values, double top_p) {
  if (top_p >= 1.0) return;
  const auto [best_first, ids] = values.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  const at::Tensor weights = best_first.exp();
  const at::Tensor before = weights.cumsum(0).sub_(weights).div_(weights.sum());
  at::Tensor dropped = before.ge(top_p);
  dropped.narrow(0, 0, 1).fill_(false);
  values.masked_fill_(at::zeros_like(dropped).scatter_(0, ids, dropped), kNever);
}

void keep_min_p(at::Tensor& values, double min_p) {
  if (min_p > 0.0) values.masked_fill_(values.exp().lt(min_p), kNever);
}

// The first id whose running sum exceeds the draw; the last possible one where rounding left the draw at the very end.
at::Tensor drawn(const at::Tensor& values, double uniform) {
  const at::Tensor weights = values.exp();
  const at::Tensor sums = weights.cumsum(0);
  const std::int64_t last = weights.numel() - 1;
  const at::Tensor beyond = sums.gt(sums.select(0, last) * uniform).to(at::kInt);
  const at::Tensor last_possible = weights.gt(0.0).to(at::kInt).flip(0).argmax().neg().add(last);
  return at::where(beyond.max().gt(0), beyond.argmax(), last_possible);
}

}  // namespace

at::Tensor choice_on_device(const at::Tensor& scores, const Sampling& settings, double uniform) {
  const at::Tensor highest = scores.max();
  at::Tensor choice;
  if (settings.temperature == 0) {
    choice = scores.argmax();  // the first of equal ones
  } else {
    // Relative to the best, so that a tiny temperature gives 0 and -inf, never NaN.
    at::Tensor values = (scores - highest).div_(settings.temperature).masked_fill_(scores.eq(highest), 0.0);
    keep_top_k(values, settings.top_k);
    keep_top_p(values, settings.top_p);
    keep_min_p(values, settings.min_p);
    choice = drawn(values, uniform);
  }
  const at::Tensor bad = scores.isnan().logical_or_(scores.eq(std::numeric_limits<double>::infinity())).any();
  return choice.masked_fill(highest.eq(kNever), kNothingLeft).masked_fill(bad, kNotANumber);
}

at::Tensor TokenChoice::penalised(const at::Tensor& scores, std::span<const std::int64_t> seen) {
  if (settings_.repetition_penalty == 1.0) return scores;
  if (!was_seen_.defined()) was_seen_ = at::zeros(scores.sizes(), scores.options().dtype(at::kBool));
  std::vector<std::int64_t> fresh;
  for (const std::int64_t id : seen.subspan(std::min(noted_, seen.size()))) {
    if (id >= 0 && id < scores.numel()) fresh.push_back(id);
  }
  noted_ = seen.size();
  if (!fresh.empty()) was_seen_.index_fill_(0, numbers_on(scores.device(), fresh), true);
  const double penalty = settings_.repetition_penalty;
  return at::where(was_seen_, at::where(scores.lt(0.0), scores * penalty, scores / penalty), scores);
}

std::int64_t TokenChoice::choose(const at::Tensor& logits, std::span<const std::int64_t> seen) {
  if (logits.is_cpu()) return sampler_.sample({logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel())}, seen);
  const at::Tensor scores = penalised(logits.to(at::kDouble), seen);
  const auto id = choice_on_device(scores, settings_, sampler_.next_uniform()).item<std::int64_t>();
  if (id == kNotANumber) throw_not_a_number();
  if (id == kNothingLeft) throw_nothing_left();
  return id;
}

}  // namespace winnow
