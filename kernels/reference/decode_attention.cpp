// The definition of correct: two passes over the slots per head, everything accumulated in double.
#include "kernels/api/decode_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/check_attention.h"
#include "kernels/reference/element.h"
#include "kernels/reference/half.h"

namespace winnow::kernels {

namespace {

// Element `index` of a row of a block.
double row_element(const DecodeAttentionArgs& args, const void* block, std::int64_t row, std::int64_t index) {
  if (!args.narrow) return element(block, args.kv_type, row * args.head_dim + index);
  const auto* codes = static_cast<const std::uint8_t*>(block);
  const auto* scales = codes + args.block_slots * code_bytes(args.codes, args.head_dim);
  codes += row * code_bytes(args.codes, args.head_dim);
  if (args.codes == RowCodes::kInt8)
    return static_cast<double>(static_cast<std::int8_t>(codes[index])) * static_cast<double>(reinterpret_cast<const float*>(scales)[row]);
  const std::int64_t first = index / kScaleSpan * kScaleSpan;
  const std::int64_t half = (std::min(kScaleSpan, args.head_dim - first) + 1) / 2;
  const std::int64_t within = index - first;
  const int code = within < half ? codes[first / 2 + within] & 15 : codes[first / 2 + within - half] >> 4;
  scales += row * scale_bytes(args.codes, args.head_dim);
  return (code - 8) * static_cast<double>(bf16_to_float(reinterpret_cast<const std::uint16_t*>(scales)[first / kScaleSpan]));
}

// The query's product with the bias that the slot's row lacks.
double bias_product(const DecodeAttentionArgs& args, std::int64_t head, std::int64_t slot) {
  const DecodeKeyBias& bias = args.key_bias;
  if (bias.query == nullptr) return 0.0;
  const std::int16_t* const rotation = bias.rotations + bias.of_slots[slot] * bias.row_units * DecodeKeyBias::kUnit;
  double sum = 0.0;
  for (std::int64_t unit = 0; unit < bias.count; ++unit) {
    const float* const query = bias.query + (unit * args.group + head) * DecodeKeyBias::kUnit;
    for (std::int64_t i = 0; i < DecodeKeyBias::kUnit; ++i) {
      sum += static_cast<double>(query[i]) * static_cast<double>(rotation[bias.units[unit] * DecodeKeyBias::kUnit + i]);
    }
  }
  return sum;
}

double logit(const DecodeAttentionArgs& args, std::int64_t head, std::int64_t slot) {
  const void* block = args.key_blocks[slot / args.block_slots];
  const std::int64_t row = slot % args.block_slots;
  double sum = bias_product(args, head, slot);
  for (std::int64_t i = 0; i < args.head_dim; ++i) {
    sum += static_cast<double>(args.query[head * args.head_dim + i]) * row_element(args, block, row, i);
  }
  return sum * static_cast<double>(args.scale);
}

}  // namespace

LaunchStatus decode_attention_reference(const DecodeAttentionArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t head = 0; head < args.group; ++head) {
    double maximum = -std::numeric_limits<double>::infinity();
    for (std::int64_t slot = 0; slot < args.slots; ++slot) maximum = std::max(maximum, logit(args, head, slot));

    double sum = 0.0;
    double weighted[kMaxHeadDim] = {};
    for (std::int64_t slot = 0; slot < args.slots; ++slot) {
      const double weight = std::exp(logit(args, head, slot) - maximum);
      sum += weight;
      const void* block = args.value_blocks[slot / args.block_slots];
      const std::int64_t row = slot % args.block_slots;
      for (std::int64_t i = 0; i < args.head_dim; ++i) weighted[i] += weight * row_element(args, block, row, i);
      if (args.probabilities != nullptr) args.probabilities[head * args.slots + slot] = static_cast<float>(weight);
    }

    for (std::int64_t i = 0; i < args.head_dim; ++i) args.output[head * args.head_dim + i] = static_cast<float>(weighted[i] / sum);
    if (args.log_sum_exp != nullptr) args.log_sum_exp[head] = static_cast<float>(maximum + std::log(sum));
    if (args.probabilities != nullptr) {
      for (std::int64_t slot = 0; slot < args.slots; ++slot) {
        float& probability = args.probabilities[head * args.slots + slot];
        probability = static_cast<float>(static_cast<double>(probability) / sum);
      }
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
