// The definition of correct: two passes over the tokens of a query head, everything but the angles accumulated in double.
#include "kernels/api/cuda_shared_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/check_attention.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {

namespace {

struct Token {
  std::int32_t slot = 0;
  double factor = 1.0;
  float position = 0.0F;
};

Token token_at(const CudaSharedAttentionArgs& args, std::int64_t kv_head, std::int64_t index) {
  if (index >= args.listed[kv_head]) return {static_cast<std::int32_t>(index - args.listed[kv_head] + args.covered[kv_head])};
  const std::int64_t entry = kv_head * args.entry_stride + index;
  return {args.entry_slot[entry], static_cast<double>(args.entry_factor[entry]),
          args.entry_position != nullptr ? args.entry_position[entry] : 0.0F};
}

// Element `index` of a slot's row.
double row_element(const CudaSharedAttentionArgs& args, const void* const* blocks, std::int64_t kv_head, std::int32_t slot,
                   std::int64_t index) {
  return element(blocks[kv_head * args.table_stride + slot / args.block_slots], args.type, slot % args.block_slots * args.head_dim + index);
}

double logit(const CudaSharedAttentionArgs& args, std::int64_t head, const Token& token) {
  if (token.slot == kMaskedToken) return -std::numeric_limits<double>::infinity();
  if (token.slot == kZeroToken) return 0.0;
  const std::int64_t kv_head = head / args.group;
  const auto query = [&](std::int64_t i) { return element(args.query, args.type, head * args.head_dim + i); };
  const auto key = [&](std::int64_t i) { return row_element(args, args.key_blocks, kv_head, token.slot, i); };
  double sum = 0.0;
  if (args.entry_position == nullptr) {
    for (std::int64_t i = 0; i < args.head_dim; ++i) sum += query(i) * key(i);
  } else {
    const std::int64_t half = args.head_dim / 2;
    for (std::int64_t i = 0; i < half; ++i) {
      // Rounded to fp32, as a prefill's angles are: at the far end of a context that is what they are.
      const auto angle = static_cast<double>(token.position * args.frequencies[i]);
      sum += query(i) * (key(i) * std::cos(angle) - key(half + i) * std::sin(angle)) +
             query(half + i) * (key(half + i) * std::cos(angle) + key(i) * std::sin(angle));
    }
  }
  return sum * token.factor * static_cast<double>(args.scale);
}

}  // namespace

LaunchStatus cuda_shared_attention_reference(const CudaSharedAttentionArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t kv_head = 0; kv_head < args.kv_heads; ++kv_head) {
    for (std::int64_t i = 0; i < args.listed[kv_head]; ++i) {
      const std::int32_t slot = args.entry_slot[kv_head * args.entry_stride + i];
      if (slot < kZeroToken || slot >= args.slots[kv_head]) return LaunchStatus::kBadArgument;
    }
  }
  for (std::int64_t head = 0; head < args.kv_heads * args.group; ++head) {
    const std::int64_t kv_head = head / args.group;
    const std::int64_t tokens = shared_tokens(args, kv_head);
    double maximum = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < tokens; ++i) maximum = std::max(maximum, logit(args, head, token_at(args, kv_head, i)));

    double sum = 0.0;
    double weighted[kMaxHeadDim] = {};
    for (std::int64_t i = 0; i < tokens; ++i) {
      const Token token = token_at(args, kv_head, i);
      const double weight = std::exp(logit(args, head, token) - maximum);
      sum += weight;
      if (token.slot < 0) continue;
      for (std::int64_t e = 0; e < args.head_dim; ++e) {
        weighted[e] += weight * row_element(args, args.value_blocks, kv_head, token.slot, e);
      }
    }
    for (std::int64_t e = 0; e < args.head_dim; ++e) {
      set_element(args.output, args.type, head * args.head_dim + e, static_cast<float>(weighted[e] / sum));
    }
    if (args.log_sum_exp != nullptr) args.log_sum_exp[head] = static_cast<float>(maximum + std::log(sum));
    if (args.probabilities == nullptr) continue;
    float* const row = args.probabilities + kv_head * args.probability_stride;
    for (std::int64_t i = 0; i < tokens; ++i) {
      const double share = std::exp(logit(args, head, token_at(args, kv_head, i)) - maximum) / sum / static_cast<double>(args.group);
      row[i] = static_cast<float>(head % args.group == 0 ? share : static_cast<double>(row[i]) + share);
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
