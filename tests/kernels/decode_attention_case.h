// One random decode attention problem with its blocks, for the test grid and the benchmark.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/api/decode_attention.h"
#include "kernels/api/int8_rows.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class DecodeCase {
 public:
  static constexpr std::int64_t kBlockSlots = 64;

  // Rows of `type`, or those in eight bits; or those of which two in three lack their keys' bias.
  enum class Rows { kWide, kNarrow, kUnbiased };

  DecodeCase(ElementType type, std::int64_t head_dim, std::int64_t group, std::int64_t slots, unsigned seed, Rows rows = Rows::kWide)
      : type_(type), rows_(rows), head_dim_(head_dim), group_(group), slots_(slots) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    query_.resize(static_cast<std::size_t>(group * head_dim));
    for (float& x : query_) x = normal(random);
    const std::int64_t blocks = (slots + kBlockSlots - 1) / kBlockSlots;
    const std::size_t element = type == ElementType::kFp32 ? 4 : 2;
    for (auto* side : {&keys_, &values_}) {
      for (std::int64_t b = 0; b < blocks; ++b) {
        // Rows past `slots` hold NaN: they must not be read into the result.
        std::vector<std::byte> block(static_cast<std::size_t>(kBlockSlots * head_dim) * element, std::byte{0xFF});
        for (std::int64_t i = 0; i < std::min(kBlockSlots, slots - b * kBlockSlots) * head_dim; ++i) {
          put(block.data(), type, i, normal(random));
        }
        side->push_back(rows == Rows::kWide ? std::move(block) : narrowed(block, std::min(kBlockSlots, slots - b * kBlockSlots)));
      }
    }
    for (const auto& block : keys_) key_blocks_.push_back(block.data());
    for (const auto& block : values_) value_blocks_.push_back(block.data());
    if (rows == Rows::kUnbiased) {
      for (auto* const numbers : {&bias_query_, &rotations_}) {
        numbers->resize(static_cast<std::size_t>((numbers == &rotations_ ? kRotations : group) * head_dim));
        for (float& x : *numbers) x = normal(random);
      }
      for (std::int64_t slot = 0; slot < slots; ++slot)
        of_slots_.push_back(slot % 3 == 1 ? 0 : static_cast<std::int32_t>(1 + slot % (kRotations - 1)));
    }
    workspace_.resize(static_cast<std::size_t>(group * kBlockSlots));
  }

  struct Answer {
    std::vector<float> output, log_sum_exp, probabilities;
    LaunchStatus status;
  };

  DecodeAttentionArgs args(Answer& answer) {
    answer.output.assign(static_cast<std::size_t>(group_ * head_dim_), -7.0F);  // must be overwritten
    answer.log_sum_exp.assign(static_cast<std::size_t>(group_), -7.0F);
    answer.probabilities.assign(static_cast<std::size_t>(group_ * slots_), -7.0F);
    DecodeAttentionArgs args;
    args.query = query_.data();
    args.group = group_;
    args.head_dim = head_dim_;
    args.kv_type = type_;
    args.narrow = rows_ != Rows::kWide;
    if (rows_ == Rows::kUnbiased) args.key_bias = {bias_query_.data(), rotations_.data(), of_slots_.data()};
    args.key_blocks = key_blocks_.data();
    args.value_blocks = value_blocks_.data();
    args.slots = slots_;
    args.block_slots = kBlockSlots;
    args.scale = 1.0F / std::sqrt(static_cast<float>(head_dim_));
    args.output = answer.output.data();
    args.log_sum_exp = answer.log_sum_exp.data();
    args.probabilities = answer.probabilities.data();
    args.workspace = workspace_.data();
    return args;
  }

  std::vector<float>& query() { return query_; }
  // Bytes of K and V that one call has to read.
  std::int64_t kv_bytes() const {
    if (rows_ != Rows::kWide) return 2 * slots_ * narrow_row_bytes(head_dim_);
    return 2 * slots_ * head_dim_ * (type_ == ElementType::kFp32 ? 4 : 2);
  }

 private:
  // Codes of all slots, then scales; those past `count` stay bytes that make NaN.
  std::vector<std::byte> narrowed(const std::vector<std::byte>& block, std::int64_t count) const {
    std::vector<std::byte> narrow(static_cast<std::size_t>(kBlockSlots * narrow_row_bytes(head_dim_)), std::byte{0xFF});
    auto* const codes = reinterpret_cast<std::int8_t*>(narrow.data());
    auto* const scales = reinterpret_cast<float*>(codes + kBlockSlots * head_dim_);
    int8_rows({type_, block.data(), head_dim_, count, head_dim_, codes, scales});
    return narrow;
  }

  static constexpr std::int64_t kRotations = 4096;

  ElementType type_;
  Rows rows_;
  std::int64_t head_dim_, group_, slots_;
  std::vector<float> query_, workspace_, bias_query_, rotations_;
  std::vector<std::int32_t> of_slots_;
  std::vector<std::vector<std::byte>> keys_, values_;
  std::vector<const void*> key_blocks_, value_blocks_;
};

}  // namespace winnow::kernels::testing
