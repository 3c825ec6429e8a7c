#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/base/error.h"

namespace winnow {

double counter_uniform(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

void throw_not_a_number() { throw Exception(ErrorCode::kNumericFailure, "logits", "the model computed a value that is not a number"); }

void throw_nothing_left() { throw Exception(ErrorCode::kNumericFailure, "logits", "the model excludes every token"); }

Sampler::Sampler(const Sampling& settings, std::uint64_t draws) : settings_(settings), draws_(draws) {
  const auto check = [](bool good, const char* name, const char* reason) {
    if (!good) throw Exception(ErrorCode::kInvalidArgument, name, reason);
  };
  // Written so that NaN fails.
  check(settings.temperature >= 0 && std::isfinite(settings.temperature), "temperature", "must be 0 or a positive number");
  check(settings.top_k >= 0, "top_k", "must not be negative");
  check(settings.top_p >= 0 && settings.top_p <= 1, "top_p", "must be between 0 and 1");
  check(settings.min_p >= 0 && settings.min_p <= 1, "min_p", "must be between 0 and 1");
  check(settings.repetition_penalty > 0 && std::isfinite(settings.repetition_penalty), "repetition_penalty", "must be a positive number");
}

double Sampler::next_uniform() { return counter_uniform(settings_.seed, draws_++); }

void Sampler::load(std::span<const float> logits, std::span<const std::int64_t> seen) {
  require(!logits.empty(), "logits of at least one token");
  scores_.assign(logits.begin(), logits.end());
  bool any = false;
  for (const double score : scores_) {
    if (std::isnan(score) || score == std::numeric_limits<double>::infinity()) throw_not_a_number();
    any = any || std::isfinite(score);
  }
  if (!any) throw_nothing_left();
  if (settings_.repetition_penalty == 1.0) return;
  penalised_.assign(scores_.size(), false);
  for (const std::int64_t id : seen) {
    if (id < 0 || static_cast<std::size_t>(id) >= scores_.size() || penalised_[static_cast<std::size_t>(id)]) continue;
    penalised_[static_cast<std::size_t>(id)] = true;
    double& score = scores_[static_cast<std::size_t>(id)];
    score = score < 0 ? score * settings_.repetition_penalty : score / settings_.repetition_penalty;
  }
}

std::int64_t Sampler::sample(std::span<const float> logits, std::span<const std::int64_t> seen) {
  load(logits, seen);
  const auto best = std::max_element(scores_.begin(), scores_.end());  // the first of equal ones
  if (settings_.temperature == 0) {
    ++draws_;
    return best - scores_.begin();
  }
  // Relative to the best, so that a tiny temperature gives 0 and -inf, never NaN.
  const double highest = *best;
  candidates_.clear();
  for (std::size_t id = 0; id < scores_.size(); ++id) {
    const double value = scores_[id] == highest ? 0.0 : (scores_[id] - highest) / settings_.temperature;
    if (value > -std::numeric_limits<double>::infinity()) candidates_.push_back({static_cast<std::int64_t>(id), value});
  }
  keep_top_k();
  keep_top_p();
  keep_min_p();
  return draw();
}

void Sampler::keep_top_k() {
  const auto k = static_cast<std::size_t>(settings_.top_k);
  if (k == 0 || k >= candidates_.size()) return;
  std::vector<double> values(candidates_.size());
  std::transform(candidates_.begin(), candidates_.end(), values.begin(), [](const Candidate& c) { return c.value; });
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(k - 1), values.end(), std::greater<>());
  const double threshold = values[k - 1];
  std::erase_if(candidates_, [&](const Candidate& c) { return c.value < threshold; });
}

void Sampler::keep_top_p() {
  if (settings_.top_p >= 1.0) return;
  double total = 0;
  for (const Candidate& c : candidates_) total += std::exp(c.value);
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.value != b.value ? a.value > b.value : a.id < b.id; });
  // A token stays while the ones before it hold less than top_p; the first one always does.
  double before = 0;
  std::size_t kept = 0;
  while (kept < candidates_.size() && (kept == 0 || before < settings_.top_p)) before += std::exp(candidates_[kept++].value) / total;
  candidates_.resize(kept);
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
}

void Sampler::keep_min_p() {
  if (settings_.min_p <= 0.0) return;
  // The best has value 0, so exp(value) is its probability relative to the best's.
  std::erase_if(candidates_, [&](const Candidate& c) { return std::exp(c.value) < settings_.min_p; });
}

std::int64_t Sampler::draw() {
  require(!candidates_.empty(), "a candidate to draw");
  double total = 0;
  for (Candidate& c : candidates_) total += c.value = std::exp(c.value);
  const double target = next_uniform() * total;
  double sum = 0;
  std::int64_t last_possible = candidates_.front().id;
  for (const Candidate& c : candidates_) {
    sum += c.value;
    if (c.value > 0) last_possible = c.id;
    if (sum > target) return c.id;
  }
  return last_possible;  // rounding left the target at the very end
}

}  // namespace winnow
