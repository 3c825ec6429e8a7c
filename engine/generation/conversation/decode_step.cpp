#include "engine/generation/conversation/decode_step.h"

#include <algorithm>
#include <array>
#include <deque>

#include "engine/base/error.h"
#include "engine/layers/shared_entry_attention.h"
#include "engine/layers/window_slots.h"

namespace winnow {
namespace {

// Lets a decode-phase method evict as soon as a layer's attention is done.
class PolicyObserver : public DecodeObserver {
 public:
  PolicyObserver(Conversation& conversation, DecodeObserver* listener) : conversation_(conversation), listener_(listener) {}
  bool wants_probabilities() const override {
    return conversation_.decode_policy->wants_probabilities() || (listener_ != nullptr && listener_->wants_probabilities());
  }
  void after_layers(LayerId first, std::span<const DecodeRow> rows) override {
    if (listener_ != nullptr) listener_->after_layers(first, rows);
    conversation_.decode_policy->after_layers(conversation_.cache, first, rows, conversation_.merge_state);
  }
  void leaves_window(LayerId layer, KvHead kv_head, std::int64_t slot) override {
    if (listener_ != nullptr) listener_->leaves_window(layer, kv_head, slot);
    conversation_.decode_policy->leaves_window(layer, kv_head, slot);
  }

 private:
  Conversation& conversation_;
  DecodeObserver* listener_;
};

// Origins first: a decode-phase method may look the new token up while its layer runs.
NextToken enter(Conversation& conversation, std::int64_t token) {
  const NextToken next{token, conversation.next_position, conversation.next_original()};
  conversation.origins.push_back(TokenOrigin{Modality::kText, -1, -1, -1, -1});
  conversation.token_ids.push_back(token);
  conversation.positions.append_text(next.position);
  return next;
}

// Attention of nothing to all that a layer holds.
DecodeRow empty_row(const KvCache& cache, LayerId layer) {
  DecodeRow row;
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head)
    row.probabilities.emplace_back(static_cast<std::size_t>(runtime_token_count(cache, layer, head)), 0.0F);
  return row;
}

}  // namespace

at::Tensor append_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token, DecodeObserver* observer) {
  const NextToken next = enter(conversation, token);
  at::Tensor logits = model.text().decode(next, conversation.cache, observer);
  conversation.next_position += 1;
  return logits;
}

at::Tensor decode_step(const VisionLanguageModel& model, Conversation& conversation, std::int64_t token, DecodeObserver* listener) {
  PolicyObserver observer(conversation, listener);
  return append_step(model, conversation, token, conversation.decode_policy ? &observer : listener);
}

void decode_step_together(const VisionLanguageModel& model, std::span<TokenToRead> tokens) {
  std::deque<PolicyObserver> observers;  // they stay where they are
  std::vector<StepRow> rows;
  for (TokenToRead& each : tokens) {
    Conversation& conversation = *each.conversation;
    PolicyObserver* const observer = conversation.decode_policy ? &observers.emplace_back(conversation, nullptr) : nullptr;
    const auto read = [&](std::int64_t token) -> StepRow& {
      StepRow& row = rows.emplace_back(StepRow{enter(conversation, token), &conversation.cache, observer});
      conversation.next_position += 1;
      return row;
    };
    read(each.token);
    each.states_before.resize(each.draft.size());
    for (std::size_t i = 0; i < each.draft.size(); ++i) read(each.draft[i]).states_before = &each.states_before[i];
  }
  const at::Tensor logits = model.text().decode_together(rows);
  std::size_t first = 0;
  for (TokenToRead& each : tokens) {
    const std::size_t count = 1 + each.draft.size();
    each.logits = logits.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    std::vector<at::Tensor> hidden;
    for (std::size_t i = first; i < first + count; ++i) {
      if (!each.failure) each.failure = rows[i].failure;
      if (rows[i].hidden.defined()) hidden.push_back(std::move(rows[i].hidden));
    }
    if (!hidden.empty()) each.hidden = at::cat(hidden);
    first += count;
  }
}

bool can_take_back(const Conversation& conversation) {
  const KvCache& cache = conversation.cache;
  const KvShape& shape = cache.shape();
  if (!shape.device.is_cpu() || !shape.windows.empty() || shape.sliding || conversation.decode_policy) return false;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    if (cache.has_shared_entries(layer)) return false;
  }
  return true;
}

std::int64_t draft_before_rounding(const KvCache& cache) {
  std::int64_t tokens = KvCache::kBlockSlots - 1;
  for (LayerId layer{0}; layer < cache.shape().layers && cache.shape().wide_ends; ++layer) {
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head)
      tokens = std::min(tokens, KvCache::kBlockSlots - 1 - cache.slots(layer, head) % KvCache::kBlockSlots);
  }
  return tokens;
}

void take_back(Conversation& conversation, std::int64_t tokens, const std::vector<LayerState>& before) {
  require(can_take_back(conversation) && tokens <= conversation.next_original(), "take_back: these tokens cannot be taken back");
  KvCache& cache = conversation.cache;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
      for (std::int64_t i = 0; i < tokens; ++i) cache.evict(layer, head, cache.slots(layer, head) - 1);
    }
  }
  auto state = before.begin();
  for (LayerId layer{0}; layer < cache.shape().layers && state != before.end(); ++layer) {
    for (std::int64_t which = 0; which < cache.states().of_layer(layer); ++which) cache.states().to_write(layer, which) = *state++;
  }
  const auto left = static_cast<std::size_t>(conversation.next_original() - tokens);
  conversation.origins.resize(left);
  conversation.token_ids.resize(left);
  conversation.positions.cut(static_cast<std::int64_t>(left));
  conversation.next_position -= tokens;
}

void count_step(Conversation& conversation, std::int64_t token) {
  const std::array<std::int32_t, 1> original = {enter(conversation, token).original};
  KvCache& cache = conversation.cache;
  const KvShape& shape = cache.shape();
  const at::Tensor nothing = at::zeros({shape.kv_heads, 1, shape.head_dim}, at::TensorOptions(shape.device).dtype(shape.dtype));
  PolicyObserver policy(conversation, nullptr);
  PolicyObserver* const observer = conversation.decode_policy ? &policy : nullptr;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    cache.append(layer, nothing, nothing, original);
    const DecodeRow row = observer != nullptr && observer->wants_probabilities() ? empty_row(cache, layer) : DecodeRow();
    finish_layers(cache, layer, {&row, 1}, original.front(), observer);
  }
  conversation.next_position += 1;
}

}  // namespace winnow
