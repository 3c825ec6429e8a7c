#include "engine/layers/shared_entry_attention.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/layers/attention.h"
#include "engine/layers/rotary.h"

namespace winnow {
namespace {

// Per runtime token.
struct RuntimeTokens {
  std::vector<std::int64_t> slot;  // masked tokens: 0, never weighed
  std::vector<float> factor;       // of the slot's logit: the key's length, 1 for direct slots, 0 for masked tokens
  std::vector<float> bias;         // of the logit: 0, or minus infinity for masked tokens
  std::vector<float> weight;       // of the slot's value: 1, 0 for masked tokens
  std::vector<float> position;     // to turn the key to; 0 for direct slots, whose keys are turned already
  bool turned = false;             // positions matter
};

RuntimeTokens runtime_tokens(const KvCache& cache, std::int64_t layer, std::int64_t kv_head) {
  RuntimeTokens tokens;
  const std::span<const std::int32_t> original = cache.original(layer, kv_head);
  std::vector<bool> direct(original.size(), true);
  const SharedEntries* table = cache.shared_entries(layer, kv_head);
  if (table != nullptr) {
    tokens.turned = table->rotation != SharedEntries::Rotation::kStored;
    const float masked = table->zero_counts ? 0.0F : -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < table->size(); ++i) {
      const bool live = table->slot[i] != SharedEntries::kZero;
      tokens.slot.push_back(live ? table->slot[i] : 0);
      tokens.factor.push_back(live ? table->norm[i] : 0.0F);
      tokens.bias.push_back(live ? 0.0F : masked);
      tokens.weight.push_back(live ? 1.0F : 0.0F);
      if (live) direct[static_cast<std::size_t>(table->slot[i])] = false;
    }
  }
  std::int32_t newest = -1;
  std::int64_t behind = 0;  // live tokens at or after the one in turn
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    if (!direct[slot]) continue;
    tokens.slot.push_back(static_cast<std::int64_t>(slot));
    tokens.factor.push_back(1.0F);
    tokens.bias.push_back(0.0F);
    tokens.weight.push_back(1.0F);
    newest = std::max(newest, original[slot]);
    ++behind;
  }
  if (!tokens.turned) return tokens;
  tokens.position.assign(tokens.slot.size(), 0.0F);
  for (std::size_t i = table->size(); i-- > 0;) {
    if (tokens.weight[i] == 0.0F) continue;
    ++behind;
    const bool by_rank = table->rotation == SharedEntries::Rotation::kByRank;
    tokens.position[i] = static_cast<float>(by_rank ? newest + 1 - behind : table->original[i]);
  }
  return tokens;
}

at::Tensor expanded_keys(const KvCache& cache, std::int64_t layer, std::int64_t kv_head, const RuntimeTokens& tokens) {
  const KvShape& shape = cache.shape();
  const at::Tensor slot = at::tensor(tokens.slot, at::kLong).to(shape.device);
  const at::Tensor factor = at::tensor(tokens.factor).to(shape.device).unsqueeze(1);
  const at::Tensor keys = cache.gather_keys(layer, kv_head).to(at::kFloat).index_select(0, slot).mul_(factor);
  if (!tokens.turned) return keys;
  return turned_keys(keys, at::tensor(tokens.position).to(shape.device), shape.rope_theta);
}

}  // namespace

SharedEntryAttention shared_entry_attention(const at::Tensor& query, const KvCache& cache, std::int64_t layer, std::int64_t kv_head, double scale,
                                            bool with_probabilities) {
  const KvShape& shape = cache.shape();
  const RuntimeTokens tokens = runtime_tokens(cache, layer, kv_head);
  const auto count = static_cast<std::int64_t>(tokens.slot.size());
  require(query.dim() == 2 && query.size(1) == shape.head_dim && count > 0, "shared entry attention: query or cache do not fit");
  const at::Tensor slot = at::tensor(tokens.slot, at::kLong).to(shape.device);
  const at::Tensor factor = at::tensor(tokens.factor).to(shape.device);
  const at::Tensor bias = at::tensor(tokens.bias).to(shape.device);
  const at::Tensor weight = at::tensor(tokens.weight).to(shape.device);
  const at::Tensor turned = tokens.turned ? expanded_keys(cache, layer, kv_head, tokens) : at::Tensor();
  const std::vector<at::Tensor> blocks = cache.block_views(layer, kv_head);
  const std::int64_t slots = cache.slots(layer, kv_head);

  const std::int64_t rows = query.size(0);
  const auto fp32 = at::TensorOptions().dtype(at::kFloat).device(shape.device);
  SharedEntryAttention result{at::empty({rows, shape.head_dim}, fp32), at::empty({rows}, fp32),
                              with_probabilities ? at::empty({rows, count}, fp32) : at::Tensor()};
  const std::int64_t tile = std::clamp<std::int64_t>(kPlainTileElements / count, 1, rows);
  for (std::int64_t first = 0; first < rows; first += tile) {
    const std::int64_t here = std::min(tile, rows - first);
    const at::Tensor scaled = query.narrow(0, first, here).to(at::kFloat) * scale;
    at::Tensor logits;  // [here, T]
    if (tokens.turned) {
      logits = at::mm(scaled, turned.t()).add_(bias);
    } else {
      std::vector<at::Tensor> by_slot;
      for (const at::Tensor& block : blocks) by_slot.push_back(at::mm(scaled, block.select(0, 0).to(at::kFloat).t()));
      logits = at::cat(by_slot, 1).index_select(1, slot).mul_(factor).add_(bias);
    }
    const at::Tensor log_sum_exp = at::logsumexp(logits, {1}, /*keepdim=*/true);
    const at::Tensor probabilities = logits.sub_(log_sum_exp).exp_();
    result.log_sum_exp.narrow(0, first, here).copy_(log_sum_exp.squeeze(1));
    if (with_probabilities) result.probabilities.narrow(0, first, here).copy_(probabilities);
    const at::Tensor by_slot = at::zeros({here, slots}, fp32).index_add_(1, slot, probabilities * weight);
    at::Tensor output = result.output.narrow(0, first, here).zero_();
    std::int64_t begin = 0;
    for (const at::Tensor& block : blocks) {
      const std::int64_t width = block.size(1);
      output.addmm_(by_slot.narrow(1, begin, width), block.select(0, 1).to(at::kFloat));
      begin += width;
    }
  }
  return result;
}

at::Tensor runtime_keys(const KvCache& cache, std::int64_t layer, std::int64_t kv_head) {
  return expanded_keys(cache, layer, kv_head, runtime_tokens(cache, layer, kv_head));
}

}  // namespace winnow
