#include "engine/generation/answer/answer_loop.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/conversation/cache_figures.h"
#include "engine/generation/conversation/decode_step.h"

namespace winnow {
namespace {

constexpr double kSampleEveryMs = 100.0;  // live figures: at most ten a second

// Tokens per second of the median step.
double typical_speed(std::vector<double> step_ms) {
  if (step_ms.empty()) return 0.0;
  const auto middle = step_ms.begin() + static_cast<std::ptrdiff_t>(step_ms.size() / 2);
  std::nth_element(step_ms.begin(), middle, step_ms.end());
  return *middle > 0.0 ? 1000.0 / *middle : 0.0;
}

}  // namespace

AnswerLoop::AnswerLoop(const LoadedModel& model, const at::Tensor& first_logits, std::optional<FirstStep> first_step,
                       const Sampling& sampling, Conversation& conversation, const EmitEvent& emit, std::function<void()> on_first_text)
    : model_(model),
      sampling_(sampling),
      conversation_(conversation),
      emit_(emit),
      on_first_text_(std::move(on_first_text)),
      sampler_(sampling),
      detokenizer_(*model.tokenizer, SpecialTokens::kSkip),
      stops_(sampling.stop_strings),
      first_step_(std::move(first_step)),
      logits_(first_logits),
      first_generated_(conversation.next_original() - (first_step_ ? 1 : 0)) {
  answer_.layers = slot_counts(conversation, model.network->image_token_id(), first_generated_);
}

void AnswerLoop::deliver(const std::string& text) {
  if (text.empty()) return;
  if (answer_.text.empty()) on_first_text_();
  answer_.text += text;
  emit_(TextDelta{text});
}

void AnswerLoop::sample_event() {
  DecodeSample sample;
  sample.generated_tokens = static_cast<std::int64_t>(answer_.token_ids.size());
  sample.tokens_per_s = typical_speed(step_ms_);
  sample.kv_bytes_now = conversation_.cache.bytes_in_use();
  sample.kv_bytes_full_now = model_.network->info().kv_bytes_per_token * conversation_.full_tokens();
  if (conversation_.decode_policy) {
    answer_.layers = slot_counts(conversation_, model_.network->image_token_id(), first_generated_);
  } else {
    add_growth(conversation_.cache, answer_.layers);
  }
  sample.layers = answer_.layers;
  emit_(std::move(sample));
  since_sample_.restart_ms();
}

bool AnswerLoop::end(StopReason reason) {
  answer_.reason = reason;
  over_ = true;
  return false;
}

bool AnswerLoop::step(const InterruptToken& interrupt) {
  if (over_ || steps_ >= sampling_.max_new_tokens) return false;
  const Interrupt state = interrupt.state();
  if (state == Interrupt::kCancel) throw Interrupted(state);
  if (state == Interrupt::kStop) return end(StopReason::kInterrupted);
  const at::Tensor on_host = logits_.to(at::kCPU);  // waits for the device; the tensor itself on a CPU
  const std::span<const float> scores(on_host.const_data_ptr<float>(), static_cast<std::size_t>(on_host.numel()));
  const bool read_before = steps_ == 0 && first_step_;
  const std::span<const std::int64_t> ids = conversation_.token_ids;
  const std::int64_t token = sampler_.sample(scores, read_before ? ids.first(ids.size() - 1) : ids);
  answer_.token_ids.push_back(token);
  if (model_.stop_token_ids.contains(token)) return end(StopReason::kStopToken);
  deliver(stops_.push(detokenizer_.push(token)));
  if (stops_.matched()) return end(StopReason::kStopString);
  if (steps_ + 1 == sampling_.max_new_tokens) return end(StopReason::kLength);

  double elapsed = 0.0;
  if (read_before) {
    require(token == first_step_->token, "AnswerLoop: another first token than the one that was read");
    logits_ = first_step_->logits;
    elapsed = first_step_->elapsed_ms;
  } else {
    const Stopwatch watch;
    logits_ = decode_step(*model_.network, conversation_, token);
    elapsed = watch.elapsed_ms();
  }
  answer_.decode_total_ms += elapsed;
  if (steps_ > 0) step_ms_.push_back(elapsed);
  ++steps_;
  if (since_sample_.elapsed_ms() >= kSampleEveryMs) sample_event();
  return true;
}

Answer AnswerLoop::finish() {
  if (!stops_.matched()) deliver(stops_.push(detokenizer_.flush()) + stops_.flush());
  answer_.tokens_per_s = typical_speed(step_ms_);
  sample_event();
  return std::move(answer_);
}

}  // namespace winnow
