#include "engine/generation/answer_loop.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/cache_figures.h"
#include "engine/generation/decode_step.h"
#include "engine/sampling/sampler.h"
#include "engine/sampling/stop_matcher.h"
#include "engine/text/detokenizer.h"

namespace winnow {
namespace {

constexpr double kSampleEveryMs = 100.0;  // live figures: at most ten a second

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Answer AnswerLoop::run(const at::Tensor& first_logits, const Sampling& sampling, Conversation& conversation, const EmitEvent& emit,
                       const std::function<void()>& on_first_text, const InterruptToken& interrupt) const {
  Answer answer;
  Sampler sampler(sampling);
  Detokenizer detokenizer(tokenizer_, SpecialTokens::kSkip);
  StopMatcher stops(sampling.stop_strings);
  const std::int64_t full_bytes_per_token = model_.info().kv_bytes_per_token;
  std::vector<double> step_ms;
  Stopwatch since_sample;
  double step_total_ms = 0.0;

  const std::int32_t first_generated = conversation.next_original();
  answer.layers = slot_counts(conversation.cache, conversation.origins, first_generated);
  const auto count_slots = [&] {
    if (conversation.decode_policy) {
      answer.layers = slot_counts(conversation.cache, conversation.origins, first_generated);
    } else {
      add_growth(conversation.cache, answer.layers);
    }
  };
  const auto deliver = [&](const std::string& text) {
    if (text.empty()) return;
    if (answer.text.empty()) on_first_text();
    answer.text += text;
    emit(TextDelta{text});
  };
  const auto sample_event = [&] {
    DecodeSample sample;
    sample.generated_tokens = static_cast<std::int64_t>(answer.token_ids.size());
    const double typical = median(step_ms);
    sample.tokens_per_s = typical > 0.0 ? 1000.0 / typical : 0.0;
    sample.kv_bytes_now = conversation.cache.bytes_in_use();
    sample.kv_bytes_full_now = full_bytes_per_token * conversation.full_tokens();
    count_slots();
    sample.layers = answer.layers;
    emit(std::move(sample));
    since_sample.restart_ms();
  };

  at::Tensor logits = first_logits;
  answer.reason = StopReason::kLength;
  for (int step = 0; step < sampling.max_new_tokens; ++step) {
    const Interrupt state = interrupt.state();
    if (state == Interrupt::kCancel) throw Interrupted(state);
    if (state == Interrupt::kStop) {
      answer.reason = StopReason::kInterrupted;
      break;
    }
    const at::Tensor on_host = logits.to(at::kCPU);  // waits for the device; the tensor itself on a CPU
    const std::span<const float> scores(on_host.const_data_ptr<float>(), static_cast<std::size_t>(on_host.numel()));
    const std::int64_t token = sampler.sample(scores, conversation.token_ids);
    answer.token_ids.push_back(token);
    if (stop_token_ids_.contains(token)) {
      answer.reason = StopReason::kStopToken;
      break;
    }
    deliver(stops.push(detokenizer.push(token)));
    if (stops.matched()) {
      answer.reason = StopReason::kStopString;
      break;
    }
    if (step + 1 == sampling.max_new_tokens) break;

    Stopwatch watch;
    logits = decode_step(model_, conversation, token);
    const double elapsed = watch.elapsed_ms();
    step_total_ms += elapsed;
    if (step > 0) step_ms.push_back(elapsed);
    if (since_sample.elapsed_ms() >= kSampleEveryMs) sample_event();
  }
  if (!stops.matched()) deliver(stops.push(detokenizer.flush()) + stops.flush());
  answer.decode_total_ms = step_total_ms;
  const double typical = median(step_ms);
  answer.tokens_per_s = typical > 0.0 ? 1000.0 / typical : 0.0;
  sample_event();
  return answer;
}

}  // namespace winnow
