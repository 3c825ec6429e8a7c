#include "engine/layers/shared_entry_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/layers/attention.h"
#include "engine/layers/rotary.h"
#include "engine/layers/runtime_tokens.h"

namespace winnow {
namespace {

constexpr std::int64_t kSmallElements = 1 << 16;  // rows x tokens

at::Tensor expanded_keys(const KvCache& cache, LayerId layer, KvHead kv_head, const RuntimeTokens& tokens) {
  const KvShape& shape = cache.shape();
  const at::Tensor slot = numbers_on(shape.device, tokens.slot);
  const at::Tensor factor = numbers_on(shape.device, tokens.factor).unsqueeze(1);
  at::Tensor keys = cache.gather_keys(layer, kv_head).to(at::kFloat).index_select(0, slot).mul_(factor);
  if (!tokens.rotated) return keys;
  return rotated_keys(keys, numbers_on(shape.device, tokens.position).unsqueeze(0), shape.rotary);
}

// Softmax over runtime tokens and its sums per slot, for so few elements that a library call costs more than the work. logits: [R, slots],
// or [R, T] where tokens are rotated one by one; by_slot: [R, slots], zeros. CPU, fp32, contiguous.
void small_softmax(const RuntimeTokens& tokens, const at::Tensor& logits, at::Tensor& by_slot, SharedEntryAttention& result) {
  const auto count = tokens.slot.size();
  std::vector<float> probabilities(count);
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    const float* const from = logits.const_data_ptr<float>() + row * logits.size(1);
    float highest = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < count; ++i) {
      const float logit = tokens.rotated ? from[i] : from[tokens.slot[i]] * tokens.factor[i];
      probabilities[i] = logit + tokens.bias[i];
      highest = std::max(highest, probabilities[i]);
    }
    float sum = 0.0F;
    for (float& p : probabilities) {
      p = std::exp(p - highest);
      sum += p;
    }
    float* const slots = by_slot.mutable_data_ptr<float>() + row * by_slot.size(1);
    for (std::size_t i = 0; i < count; ++i) {
      probabilities[i] /= sum;
      slots[tokens.slot[i]] += probabilities[i] * tokens.weight[i];
    }
    result.log_sum_exp.mutable_data_ptr<float>()[row] = highest + std::log(sum);
    if (result.probabilities.defined()) {
      std::copy(probabilities.begin(), probabilities.end(),
                result.probabilities.mutable_data_ptr<float>() + row * static_cast<std::int64_t>(count));
    }
  }
}

}  // namespace

SharedEntryAttention shared_entry_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, KvHead kv_head, double scale,
                                            bool with_probabilities) {
  const KvShape& shape = cache.shape();
  const RuntimeTokens tokens = runtime_tokens(cache, layer, kv_head);
  const auto count = static_cast<std::int64_t>(tokens.slot.size());
  require(query.dim() == 2 && query.size(1) == shape.head_dim && count > 0, "shared entry attention: query or cache do not fit");
  const at::Tensor rotated = tokens.rotated ? expanded_keys(cache, layer, kv_head, tokens) : at::Tensor();
  const std::int64_t slots = cache.slots(layer, kv_head);
  const std::int64_t blocks = KvCache::blocks_for(slots);

  const std::int64_t rows = query.size(0);
  const auto fp32 = at::TensorOptions().dtype(at::kFloat).device(shape.device);
  SharedEntryAttention result{at::empty({rows, shape.head_dim}, fp32), at::empty({rows}, fp32),
                              with_probabilities ? at::empty({rows, count}, fp32) : at::Tensor()};
  const auto slot_logits = [&](const at::Tensor& scaled) {
    if (tokens.rotated) return at::mm(scaled, rotated.t());
    std::vector<at::Tensor> parts;
    parts.reserve(static_cast<std::size_t>(blocks));
    for (std::int64_t block = 0; block < blocks; ++block)
      parts.push_back(at::mm(scaled, cache.block_view(layer, kv_head, KvPart::kKeys, block).to(at::kFloat).t()));
    return parts.size() == 1 ? parts.front() : at::cat(parts, 1);
  };
  const auto add_values = [&](const at::Tensor& output, const at::Tensor& by_slot) {
    std::int64_t begin = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const at::Tensor values = cache.block_view(layer, kv_head, KvPart::kValues, block);
      output.addmm_(by_slot.narrow(1, begin, values.size(0)), values.to(at::kFloat));
      begin += values.size(0);
    }
  };
  if (shape.device.is_cpu() && rows * count <= kSmallElements) {
    at::Tensor by_slot = at::zeros({rows, slots}, fp32);
    small_softmax(tokens, slot_logits(query.to(at::kFloat) * scale).contiguous(), by_slot, result);
    add_values(result.output.zero_(), by_slot);
    return result;
  }

  const at::Tensor slot = numbers_on(shape.device, tokens.slot);
  const at::Tensor factor = numbers_on(shape.device, tokens.factor);
  const at::Tensor bias = numbers_on(shape.device, tokens.bias);
  const at::Tensor weight = numbers_on(shape.device, tokens.weight);
  const std::int64_t tile = std::clamp<std::int64_t>(kPlainTileElements / count, 1, rows);
  for (std::int64_t first = 0; first < rows; first += tile) {
    const std::int64_t here = std::min(tile, rows - first);
    at::Tensor logits = slot_logits(query.narrow(0, first, here).to(at::kFloat) * scale);
    if (!tokens.rotated) logits = logits.index_select(1, slot).mul_(factor);
    logits.add_(bias);  // [here, T]
    const at::Tensor log_sum_exp = at::logsumexp(logits, {1}, /*keepdim=*/true);
    const at::Tensor probabilities = logits.sub_(log_sum_exp).exp_();
    result.log_sum_exp.narrow(0, first, here).copy_(log_sum_exp.squeeze(1));
    if (with_probabilities) result.probabilities.narrow(0, first, here).copy_(probabilities);
    add_values(result.output.narrow(0, first, here).zero_(), at::zeros({here, slots}, fp32).index_add_(1, slot, probabilities * weight));
  }
  return result;
}

std::int64_t runtime_token_count(const KvCache& cache, LayerId layer, KvHead kv_head) {
  return static_cast<std::int64_t>(runtime_tokens(cache, layer, kv_head).size());
}

at::Tensor runtime_keys(const KvCache& cache, LayerId layer, KvHead kv_head) {
  return expanded_keys(cache, layer, kv_head, runtime_tokens(cache, layer, kv_head));
}

}  // namespace winnow
