// Decode attention over several kv heads of different lengths: inputs, block tables, the reference's answer and how near one must be.
// Used by the CUDA kernels' tests, copied to where they run (cuda/runner.h).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/api/cuda_decode_attention.h"
#include "kernels/reference/element.h"
#include "tests/kernels/decode_attention_case.h"

namespace winnow::kernels::testing {

struct RaggedDecodeCase {
  RaggedDecodeCase(ElementType element_type, std::int64_t head_dim_, std::int64_t group_, std::vector<std::int32_t> slots_, unsigned seed)
      : type(element_type), head_dim(head_dim_), group(group_), slots(std::move(slots_)) {
    const auto longest = *std::max_element(slots.begin(), slots.end());
    table_stride = (longest + DecodeCase::kBlockSlots - 1) / DecodeCase::kBlockSlots + 1;  // wider than needed: must not matter
    key_blocks.assign(slots.size() * static_cast<std::size_t>(table_stride), nullptr);
    value_blocks = key_blocks;
    for (std::size_t head = 0; head < slots.size(); ++head) {
      heads.push_back(std::make_unique<DecodeCase>(type, head_dim, group, slots[head], seed + static_cast<unsigned>(head)));
      DecodeCase& problem = *heads.back();
      for (float& x : problem.query()) append_query(x);
      expected.emplace_back();
      const DecodeAttentionArgs args = problem.args(expected.back());
      EXPECT_EQ(decode_attention_reference(args), LaunchStatus::kOk);
      const auto blocks = static_cast<std::size_t>((slots[head] + DecodeCase::kBlockSlots - 1) / DecodeCase::kBlockSlots);
      std::copy_n(args.key_blocks, blocks, key_blocks.begin() + static_cast<std::ptrdiff_t>(head) * table_stride);
      std::copy_n(args.value_blocks, blocks, value_blocks.begin() + static_cast<std::ptrdiff_t>(head) * table_stride);
    }
  }

  std::size_t query_heads() const { return slots.size() * static_cast<std::size_t>(group); }
  std::size_t block_bytes() const { return static_cast<std::size_t>(DecodeCase::kBlockSlots * head_dim) * element_bytes(type); }
  std::int64_t probability_stride() const { return *std::max_element(slots.begin(), slots.end()); }

  // Everything but the pointers.
  CudaDecodeAttentionArgs args(std::int64_t parts) const {
    CudaDecodeAttentionArgs args{.type = type,
                                 .kv_heads = static_cast<std::int64_t>(slots.size()),
                                 .group = group,
                                 .head_dim = head_dim,
                                 .table_stride = table_stride,
                                 .slots = slots.data(),
                                 .block_slots = DecodeCase::kBlockSlots};
    args.scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
    args.parts = parts;
    return args;
  }

  struct Result {
    std::vector<std::byte> output;     // of `type`
    std::vector<float> log_sum_exp;    // empty: not asked for
    std::vector<float> probabilities;  // empty: not asked for
  };

  // See decode_attention_test.cpp for the fp32 part; outputs of 16 bits are rounded once more (half a unit in the last place).
  void expect_near(const Result& actual) const {
    constexpr double kEps = 5.960464477539063e-8;
    const double rounding = type == ElementType::kFp32 ? 0.0 : type == ElementType::kBf16 ? std::ldexp(1.0, -8) : std::ldexp(1.0, -11);
    for (std::size_t head = 0; head < slots.size(); ++head) {
      const double logit_error = 1.5 * std::sqrt(static_cast<double>(head_dim)) * static_cast<double>(head_dim) * kEps;
      const double tolerance = 2.0 * logit_error + (16.0 + slots[head]) * kEps;
      for (std::int64_t query = 0; query < group; ++query) {
        const std::size_t row = head * static_cast<std::size_t>(group) + static_cast<std::size_t>(query);
        for (std::int64_t i = 0; i < head_dim; ++i) {
          const double wanted = expected[head].output[static_cast<std::size_t>(query * head_dim + i)];
          const double got = element(actual.output.data(), type, static_cast<std::int64_t>(row) * head_dim + i);
          ASSERT_NEAR(got, wanted, 6.0 * tolerance + rounding * std::fabs(wanted) + (rounding > 0.0 ? 1e-7 : 0.0))
              << "kv head " << head << " query " << query << " element " << i;
        }
        if (!actual.log_sum_exp.empty()) {
          ASSERT_NEAR(actual.log_sum_exp[row], expected[head].log_sum_exp[static_cast<std::size_t>(query)], tolerance + 16 * kEps);
        }
        if (actual.probabilities.empty()) continue;
        for (std::int32_t slot = 0; slot < slots[head]; ++slot) {
          const double wanted = expected[head].probabilities[static_cast<std::size_t>(query * slots[head] + slot)];
          // Against a double: the logarithm of the sum costs its own rounding, relative to e^lse.
          ASSERT_NEAR(actual.probabilities[row * static_cast<std::size_t>(probability_stride()) + static_cast<std::size_t>(slot)], wanted,
                      (2.0 * tolerance + 32 * kEps) * wanted + 1e-30);
        }
      }
    }
  }

  ElementType type;
  std::int64_t head_dim;
  std::int64_t group;
  std::vector<std::int32_t> slots;
  std::int64_t table_stride = 0;
  std::vector<std::byte> query;         // [kv_heads, group, head_dim] of `type`
  std::vector<const void*> key_blocks;  // [kv_heads, table_stride], host
  std::vector<const void*> value_blocks;
  std::vector<DecodeCase::Answer> expected;  // per kv head

 private:
  // Rounds x to what the kernel will see.
  void append_query(float& x) {
    query.resize(query.size() + element_bytes(type));
    std::byte* const last = query.data() + query.size() - element_bytes(type);
    put(last, type, 0, x);
    x = static_cast<float>(element(last, type, 0));
  }
  std::vector<std::unique_ptr<DecodeCase>> heads;
};

}  // namespace winnow::kernels::testing
