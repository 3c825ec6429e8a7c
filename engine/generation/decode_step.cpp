#include "engine/generation/decode_step.h"

#include <vector>

namespace winnow {
namespace {

// Lets a decode-phase method evict as soon as a layer's attention is done.
class PolicyObserver : public DecodeObserver {
 public:
  explicit PolicyObserver(Conversation& conversation) : conversation_(conversation) {}
  bool wants_probabilities() const override { return conversation_.decode_policy->wants_probabilities(); }
  void after_layer(std::int64_t layer, const DecodeRow& row) override {
    conversation_.decode_policy->after_layer(conversation_.cache, layer, row, conversation_.merge_state);
  }

 private:
  Conversation& conversation_;
};

}  // namespace

at::Tensor append_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token, DecodeObserver* observer) {
  const std::vector<std::int64_t> position(static_cast<std::size_t>(model.position_axes()), conversation.next_position);
  const std::int32_t original = conversation.next_original();
  // Origins first: a decode-phase method may look the new token up while its layer runs.
  conversation.origins.push_back(TokenOrigin{Modality::kText, -1, -1, -1, -1});
  conversation.token_ids.push_back(token);
  at::Tensor logits = model.text().decode(token, position, original, conversation.cache, observer);
  conversation.next_position += 1;
  return logits;
}

at::Tensor decode_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token) {
  PolicyObserver observer(conversation);
  return append_step(model, conversation, token, conversation.decode_policy ? &observer : nullptr);
}

}  // namespace winnow
