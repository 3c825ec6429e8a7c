#include "engine/generation/conversation/decode_step.h"

namespace winnow {
namespace {

// Lets a decode-phase method evict as soon as a layer's attention is done.
class PolicyObserver : public DecodeObserver {
 public:
  PolicyObserver(Conversation& conversation, DecodeObserver* listener) : conversation_(conversation), listener_(listener) {}
  bool wants_probabilities() const override {
    return conversation_.decode_policy->wants_probabilities() || (listener_ != nullptr && listener_->wants_probabilities());
  }
  void after_layer(LayerId layer, const DecodeRow& row) override {
    if (listener_ != nullptr) listener_->after_layer(layer, row);
    conversation_.decode_policy->after_layer(conversation_.cache, layer, row, conversation_.merge_state);
  }
  void leaves_window(LayerId layer, KvHead kv_head, std::int64_t slot) override {
    if (listener_ != nullptr) listener_->leaves_window(layer, kv_head, slot);
    conversation_.decode_policy->leaves_window(layer, kv_head, slot);
  }

 private:
  Conversation& conversation_;
  DecodeObserver* listener_;
};

}  // namespace

at::Tensor append_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token, DecodeObserver* observer) {
  const NextToken next{token, conversation.next_position, conversation.next_original()};
  // Origins first: a decode-phase method may look the new token up while its layer runs.
  conversation.origins.push_back(TokenOrigin{Modality::kText, -1, -1, -1, -1});
  conversation.token_ids.push_back(token);
  conversation.positions.append_text(next.position);
  at::Tensor logits = model.text().decode(next, conversation.cache, observer);
  conversation.next_position += 1;
  return logits;
}

at::Tensor decode_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token, DecodeObserver* listener) {
  PolicyObserver observer(conversation, listener);
  return append_step(model, conversation, token, conversation.decode_policy ? &observer : listener);
}

}  // namespace winnow
