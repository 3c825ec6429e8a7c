// Attention over shared slots: heads with tables and appended slots at random, the reference's answer and how near one must be. Copied to
// where the operator runs (cuda/runner.h); with host pointers for the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/cuda_shared_attention.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class SharedAttentionCase {
 public:
  static constexpr std::int64_t kBlockSlots = 64;

  struct Head {
    std::int32_t listed = 0;   // tokens in the table
    std::int32_t covered = 0;  // slots that they share; 0: all are masked
    std::int32_t direct = 0;   // slots behind them
  };
  struct Shape {
    ElementType type = ElementType::kFp32;
    std::int64_t head_dim = 16;
    std::int64_t group = 1;
    std::vector<Head> heads;
    bool rotated = false;

    std::string name() const {
      std::string text = "type " + std::to_string(static_cast<int>(type)) + " head_dim " + std::to_string(head_dim) + " group " +
                         std::to_string(group) + (rotated ? " rotated" : "") + " heads";
      for (const Head& head : heads) {
        text += " " + std::to_string(head.listed) + "/" + std::to_string(head.covered) + "/" + std::to_string(head.direct);
      }
      return text;
    }
  };
  // Where everything lies, here or on a device; null: not wanted.
  struct Memory {
    const std::byte* query = nullptr;
    const void* const* key_blocks = nullptr;
    const void* const* value_blocks = nullptr;
    const std::int32_t* entry_slot = nullptr;
    const float* entry_factor = nullptr;
    const float* entry_position = nullptr;
    const float* frequencies = nullptr;
    std::byte* output = nullptr;
    float* log_sum_exp = nullptr;
    float* probabilities = nullptr;
    float* workspace = nullptr;
  };
  struct Result {
    std::vector<std::byte> output;
    std::vector<float> log_sum_exp;
    std::vector<float> probabilities;  // empty: not asked for
  };
  static constexpr float kUntouched = -7.0F;

  explicit SharedAttentionCase(const Shape& shape) : shape(shape) {
    std::mt19937 random(static_cast<unsigned>(shape.head_dim * 31 + shape.group * 7 + std::ssize(shape.heads)));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> lengths(0.5F, kLongest);
    query.resize(static_cast<std::size_t>(query_heads() * shape.head_dim) * element_bytes(shape.type));
    for (std::int64_t i = 0; i < query_heads() * shape.head_dim; ++i) put(query.data(), shape.type, i, normal(random));
    for (const Head& head : shape.heads) {
      slots.push_back(head.covered + head.direct);
      listed.push_back(head.listed);
      covered.push_back(head.covered);
      entry_stride = std::max<std::int64_t>(entry_stride, head.listed + 3);
      table_stride = std::max(table_stride, blocks_of(slots.back()) + 1);  // wider than needed: must not matter
    }
    // Entries that are no head's.
    const auto entries = static_cast<std::size_t>(kv_heads() * entry_stride);
    entry_slot.assign(entries, 1 << 30);
    entry_factor.assign(entries, std::numeric_limits<float>::quiet_NaN());
    entry_position.assign(entries, std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t head = 0; head < kv_heads(); ++head) {
      for (std::int64_t i = 0; i < listed[at(head)]; ++i) {
        const std::size_t entry = at(head * entry_stride + i);
        const unsigned kind = covered[at(head)] == 0 ? 0 : random() % 8;
        entry_slot[entry] = kind == 0   ? kMaskedToken
                            : kind == 1 ? kZeroToken
                                        : static_cast<std::int32_t>(random() % static_cast<unsigned>(covered[at(head)]));
        entry_factor[entry] = lengths(random);
        entry_position[entry] = static_cast<float>(random() % (i % 5 == 0 ? 200'000 : 3000));
      }
    }
    for (std::int64_t i = 0; i < shape.head_dim / 2; ++i) {
      frequencies.push_back(static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(shape.head_dim))));
    }
    // Rows past a head's slots hold NaN: they must not be read into the result.
    for (const std::int32_t count : slots) {
      for (int part = 0; part < 2; ++part) {
        std::vector<std::byte> rows(static_cast<std::size_t>(blocks_of(count)) * block_bytes(), std::byte{0xFF});
        for (std::int64_t i = 0; i < count * shape.head_dim; ++i) put(rows.data(), shape.type, i, normal(random));
        blocks.insert(blocks.end(), rows.begin(), rows.end());
      }
    }
    expected_ = result(true);
    std::vector<float> workspace(1);
    const Tables tables(*this, blocks.data());
    EXPECT_EQ(cuda_shared_attention_reference(args(memory(tables, expected_, workspace.data()), 1)), LaunchStatus::kOk);
  }

  // [kv_heads, table_stride] each, of blocks that begin at `base`.
  struct Tables {
    Tables(const SharedAttentionCase& problem, const std::byte* base)
        : keys(problem.at(problem.kv_heads() * problem.table_stride), nullptr), values(keys) {
      for (std::int64_t head = 0; head < problem.kv_heads(); ++head) {
        for (auto* const table : {&keys, &values}) {
          for (std::int64_t block = 0; block < blocks_of(problem.slots[problem.at(head)]); ++block, base += problem.block_bytes()) {
            (*table)[problem.at(head * problem.table_stride + block)] = base;
          }
        }
      }
    }
    std::vector<const void*> keys, values;
  };

  Result result(bool probabilities) const {
    return {std::vector<std::byte>(query.size(), std::byte{0x7F}), std::vector<float>(at(query_heads()), kUntouched),
            std::vector<float>(probabilities ? at(kv_heads() * probability_stride()) : 0, kUntouched)};
  }

  Memory memory(const Tables& tables, Result& result, float* workspace) const {
    return {query.data(),
            tables.keys.data(),
            tables.values.data(),
            entry_slot.data(),
            entry_factor.data(),
            entry_position.data(),
            frequencies.data(),
            result.output.data(),
            result.log_sum_exp.data(),
            result.probabilities.empty() ? nullptr : result.probabilities.data(),
            workspace};
  }

  CudaSharedAttentionArgs args(const Memory& memory, std::int64_t parts) const {
    CudaSharedAttentionArgs args{.query = memory.query,
                                 .output = memory.output,
                                 .type = shape.type,
                                 .kv_heads = kv_heads(),
                                 .group = shape.group,
                                 .head_dim = shape.head_dim,
                                 .key_blocks = memory.key_blocks};
    args.value_blocks = memory.value_blocks;
    args.table_stride = table_stride;
    args.block_slots = kBlockSlots;
    args.slots = slots.data();
    args.listed = listed.data();
    args.covered = covered.data();
    args.entry_stride = entry_stride;
    args.entry_slot = memory.entry_slot;
    args.entry_factor = memory.entry_factor;
    args.entry_position = shape.rotated ? memory.entry_position : nullptr;
    args.frequencies = shape.rotated ? memory.frequencies : nullptr;
    args.scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
    args.log_sum_exp = memory.log_sum_exp;
    args.probabilities = memory.probabilities;
    args.probability_stride = memory.probabilities != nullptr ? probability_stride() : 0;
    args.parts = parts;
    args.workspace = memory.workspace;
    return args;
  }

  // fp32 rounding only, as RaggedDecodeCase derives it, of logits that a factor makes longer (below 30, rounded twice) and that are rotated
  // by sines and cosines of two units in the last place; outputs of 16 bits are rounded once more (half a unit in the last place).
  void expect_near(const Result& actual) const {
    constexpr double kEps = 0x1p-24;
    const double rounding = shape.type == ElementType::kFp32 ? 0.0 : shape.type == ElementType::kBf16 ? 0x1p-8 : 0x1p-11;
    const auto d = static_cast<double>(shape.head_dim);
    const double logit_error = kLongest * 1.5 * std::sqrt(d) * (d + (shape.rotated ? 8.0 : 0.0)) * kEps;
    for (std::int64_t head = 0; head < kv_heads(); ++head) {
      const std::int64_t tokens = tokens_of(head);
      const double tolerance = 2.0 * logit_error + (64.0 + static_cast<double>(tokens)) * kEps;
      for (std::int64_t row = head * shape.group; row < (head + 1) * shape.group; ++row) {
        for (std::int64_t i = row * shape.head_dim; i < (row + 1) * shape.head_dim; ++i) {
          const double wanted = element(expected_.output.data(), shape.type, i);
          ASSERT_NEAR(element(actual.output.data(), shape.type, i), wanted,
                      6.0 * tolerance + 2.0 * rounding * std::fabs(wanted) + (rounding > 0.0 ? 1e-7 : 0.0))
              << "kv head " << head << " query head " << row << " element " << i % shape.head_dim;
        }
        ASSERT_NEAR(actual.log_sum_exp[at(row)], expected_.log_sum_exp[at(row)], tolerance + 32 * kEps) << "query head " << row;
      }
      if (actual.probabilities.empty()) continue;
      for (std::int64_t i = 0; i < probability_stride(); ++i) {
        const std::size_t place = at(head * probability_stride() + i);
        const double wanted = expected_.probabilities[place];
        const double near = i < tokens ? (2.0 * tolerance + static_cast<double>(32 + shape.group) * kEps) * wanted + 1e-30 : 0.0;
        ASSERT_NEAR(actual.probabilities[place], wanted, near) << "kv head " << head << " token " << i;
      }
    }
  }

  std::int64_t kv_heads() const { return std::ssize(shape.heads); }
  std::int64_t query_heads() const { return kv_heads() * shape.group; }
  std::int64_t tokens_of(std::int64_t head) const { return listed[at(head)] + slots[at(head)] - covered[at(head)]; }
  std::int64_t probability_stride() const {
    std::int64_t longest = 0;
    for (std::int64_t head = 0; head < kv_heads(); ++head) longest = std::max(longest, tokens_of(head));
    return longest + 2;
  }
  std::size_t block_bytes() const { return static_cast<std::size_t>(kBlockSlots * shape.head_dim) * element_bytes(shape.type); }
  const Result& expected() const { return expected_; }

  const Shape shape;
  std::vector<std::byte> query, blocks;  // blocks: per head those of K, then those of V
  std::vector<std::int32_t> slots, listed, covered, entry_slot;
  std::vector<float> entry_factor, entry_position, frequencies;
  std::int64_t table_stride = 0, entry_stride = 0;

 private:
  static constexpr float kLongest = 2.0F;  // factor
  static std::int64_t blocks_of(std::int64_t slots) { return (slots + kBlockSlots - 1) / kBlockSlots; }
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  Result expected_;
};

// Tables around tiles of 64 tokens: none, of masked tokens alone, longer than the slots; heads of one token.
inline std::vector<std::vector<SharedAttentionCase::Head>> shared_heads() {
  return {{{0, 0, 1}}, {{63, 10, 1}, {0, 0, 65}, {1, 1, 64}}, {{200, 0, 5}, {300, 70, 33}}};
}

}  // namespace winnow::kernels::testing
