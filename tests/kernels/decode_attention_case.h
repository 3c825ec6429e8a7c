// One random decode attention problem with its blocks, for the test grid and the benchmark.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "kernels/api/decode_attention.h"
#include "kernels/api/narrow_rows.h"
#include "tests/kernels/line_aligned.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class DecodeCase {
 public:
  static constexpr std::int64_t kBlockSlots = 64;

  // Rows of `type`, or those in eight or four bits; or those of which two in three lack their keys' bias, which stands in all units of the
  // head's elements, or in every fourth.
  enum class Rows { kWide, kNarrow, kUnbiased, kUnbiasedFew, kFour, kFourUnbiased, kWideUnbiased };

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
        LineAligned<std::byte> block(static_cast<std::size_t>(kBlockSlots * head_dim) * element, std::byte{0xFF});
        for (std::int64_t i = 0; i < std::min(kBlockSlots, slots - b * kBlockSlots) * head_dim; ++i) {
          put(block.data(), type, i, normal(random));
        }
        side->push_back(is_wide() ? std::move(block) : narrowed(block, std::min(kBlockSlots, slots - b * kBlockSlots)));
      }
    }
    for (const auto& block : keys_) key_blocks_.push_back(block.data());
    for (const auto& block : values_) value_blocks_.push_back(block.data());
    if (rows == Rows::kUnbiased || rows == Rows::kUnbiasedFew || rows >= Rows::kFourUnbiased) draw_bias(random);
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
    args.narrow = !is_wide();
    args.codes = form();
    if (!units_.empty()) {
      args.key_bias = {bias_query_.data(), units_.data(), std::ssize(units_), rotations_.data(), row_units(), of_slots_.data()};
    }
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

  LineAligned<float>& query() { return query_; }
  // Bytes of K and V that one call has to read.
  std::int64_t kv_bytes() const {
    if (!is_wide()) return 2 * slots_ * narrow_row_bytes(form(), head_dim_);
    return 2 * slots_ * head_dim_ * (type_ == ElementType::kFp32 ? 4 : 2);
  }

 private:
  bool is_wide() const { return rows_ == Rows::kWide || rows_ == Rows::kWideUnbiased; }
  RowCodes form() const { return rows_ >= Rows::kFour ? RowCodes::kInt4 : RowCodes::kInt8; }

  // Codes of all slots, then scales; those past `count` stay bytes that make NaN.
  LineAligned<std::byte> narrowed(const LineAligned<std::byte>& block, std::int64_t count) const {
    LineAligned<std::byte> narrow(static_cast<std::size_t>(kBlockSlots * narrow_row_bytes(form(), head_dim_)), std::byte{0xFF});
    std::byte* const scales = narrow.data() + kBlockSlots * code_bytes(form(), head_dim_);
    narrow_rows({.type = type_,
                 .values = block.data(),
                 .value_stride = head_dim_,
                 .rows = count,
                 .length = head_dim_,
                 .codes = narrow.data(),
                 .scales = scales,
                 .form = form()});
    return narrow;
  }

  static constexpr std::int64_t kRotations = 4096;
  static constexpr std::int16_t kWhole = 32767;

  std::int64_t row_units() const { return (head_dim_ + DecodeKeyBias::kUnit - 1) / DecodeKeyBias::kUnit; }

  void draw_bias(std::mt19937& random) {
    for (auto unit = static_cast<std::int32_t>(row_units() - 1); unit >= 0; unit -= rows_ == Rows::kUnbiasedFew ? 4 : 1)
      units_.push_back(unit);
    std::normal_distribution<float> normal;
    bias_query_.resize(units_.size() * static_cast<std::size_t>(group_ * DecodeKeyBias::kUnit));
    for (float& x : bias_query_) x = normal(random) / kWhole;
    rotations_.resize(static_cast<std::size_t>(kRotations * row_units() * DecodeKeyBias::kUnit));
    std::uniform_int_distribution<int> code(-kWhole, kWhole);
    const auto first = rotations_.begin() + row_units() * DecodeKeyBias::kUnit;  // row 0 is zeros
    std::generate(first, rotations_.end(), [&] { return static_cast<std::int16_t>(code(random)); });
    for (std::int64_t slot = 0; slot < slots_; ++slot)
      of_slots_.push_back(slot % 3 == 1 ? 0 : static_cast<std::int32_t>(1 + slot % (kRotations - 1)));
  }

  ElementType type_;
  Rows rows_;
  std::int64_t head_dim_, group_, slots_;
  LineAligned<float> query_, workspace_, bias_query_;
  LineAligned<std::int16_t> rotations_;
  std::vector<std::int32_t> units_, of_slots_;
  std::vector<LineAligned<std::byte>> keys_, values_;
  std::vector<const void*> key_blocks_, value_blocks_;
};

}  // namespace winnow::kernels::testing
