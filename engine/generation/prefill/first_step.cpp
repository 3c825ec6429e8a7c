#include "engine/generation/prefill/first_step.h"

#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/conversation/decode_step.h"
#include "engine/generation/conversation/token_choice.h"

namespace winnow {
namespace {

class ScoresObserver : public DecodeObserver {
 public:
  explicit ScoresObserver(SegmentCompressor& compressor) : compressor_(compressor) {}
  bool wants_probabilities() const override { return true; }
  void after_layers(LayerId first, std::span<const DecodeRow> rows) override {
    for (LayerId layer = first; const DecodeRow& row : rows) {
      compressor_.on_first_token(layer, row);
      ++layer;
    }
  }

 private:
  SegmentCompressor& compressor_;
};

}  // namespace

ChooseFirst sampled_first(const LoadedModel& model, const Sampling& sampling) {
  return [&](const at::Tensor& prompt_logits, const Conversation& conversation) -> std::optional<std::int64_t> {
    if (sampling.max_new_tokens < 2) return std::nullopt;
    const std::int64_t token = TokenChoice(sampling).choose(prompt_logits, conversation.token_ids);
    return model.stop_token_ids.contains(token) ? std::nullopt : std::optional(token);
  };
}

ChooseFirst given_first(std::span<const std::int64_t> answer) {
  return [answer](const at::Tensor&, const Conversation&) { return answer.size() > 1 ? std::optional(answer.front()) : std::nullopt; };
}

std::optional<FirstStep> read_first_token(const VisionLanguageModel& network, SegmentCompressor& compressor, const ChooseFirst& choose,
                                          const at::Tensor& prompt_logits, Conversation& working) {
  if (!compressor.awaits_first_token()) return std::nullopt;
  const std::optional<std::int64_t> token = choose(prompt_logits, working);
  if (!token) {
    compressor.without_first_token();
    return std::nullopt;
  }
  const Stopwatch watch;
  compressor.add_first_token();
  ScoresObserver observer(compressor);
  FirstStep step{.token = *token, .logits = append_step(network, working, *token, &observer)};
  synchronize_device();
  step.elapsed_ms = watch.elapsed_ms();
  return step;
}

}  // namespace winnow
