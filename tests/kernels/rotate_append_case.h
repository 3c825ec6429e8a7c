// A token's queries, keys and values at random, and blocks that they are to be appended to, all in host memory.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "kernels/api/cuda_rotate_append.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

class RotateAppendCase {
 public:
  static constexpr std::int64_t kBlockSlots = 64;

  RotateAppendCase(ElementType type, std::int64_t heads, std::vector<std::int32_t> slots, std::int64_t half)
      : type_(type), heads_(heads), half_(half), slots_(std::move(slots)) {
    std::mt19937 random(static_cast<unsigned>(half * 31 + heads));
    std::normal_distribution<float> normal;
    const auto numbers = [&](std::int64_t count, const auto& next) {
      std::vector<std::byte> memory(static_cast<std::size_t>(count) * element_bytes(type));
      for (std::int64_t i = 0; i < count; ++i) set_element(memory.data(), type, i, next());
      return memory;
    };
    const auto kv_heads = std::ssize(slots_);
    input = numbers((heads + 2 * kv_heads) * 2 * half, [&] { return normal(random); });
    cosine = numbers(half, [&] { return std::cos(10.0F * normal(random)); });
    sine = numbers(half, [&] { return std::sin(10.0F * normal(random)); });
    queries = numbers(heads * 2 * half, [] { return -7.0F; });
    for (const std::int32_t used : slots_) stride_ = std::max<std::int64_t>(stride_, used / kBlockSlots + 1);
    blocks = numbers(2 * kv_heads * stride_ * kBlockSlots * 2 * half, [] { return -7.0F; });
  }

  // [2 (K, V), kv_heads, stride] blocks from here on.
  std::vector<void*> table(std::byte* from) const {
    std::vector<void*> pointers;
    for (std::int64_t i = 0; i < 2 * std::ssize(slots_) * stride_; ++i)
      pointers.push_back(from + static_cast<std::size_t>(i * kBlockSlots * 2 * half_) * element_bytes(type_));
    return pointers;
  }
  CudaRotateAppendArgs args() {
    table_ = table(blocks.data());
    return args(input.data(), cosine.data(), sine.data(), queries.data(), table_.data());
  }
  CudaRotateAppendArgs args(const void* input_at, const void* cosine_at, const void* sine_at, void* queries_at,
                            void* const* table_at) const {
    CudaRotateAppendArgs args{.type = type_,
                              .heads = heads_,
                              .kv_heads = std::ssize(slots_),
                              .half = half_,
                              .input = input_at,
                              .cosine = cosine_at,
                              .sine = sine_at};
    args.queries = queries_at;
    args.slots = slots_.data();
    args.key_blocks = table_at;
    args.value_blocks = table_at + std::ssize(slots_) * stride_;
    args.table_stride = stride_;
    args.block_slots = kBlockSlots;
    return args;
  }

  // Two products and a sum, of which a rounding may go the other way; what nobody writes stays.
  void expect_near(const RotateAppendCase& expected) const {
    const double unit = type_ == ElementType::kFp32 ? 0x1p-22 : type_ == ElementType::kBf16 ? 0x1p-6 : 0x1p-9;
    for (const auto& [now, wanted] : {std::pair(&queries, &expected.queries), std::pair(&blocks, &expected.blocks)}) {
      ASSERT_EQ(now->size(), wanted->size());
      for (std::size_t i = 0; i < now->size() / element_bytes(type_); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        const double value = element(wanted->data(), type_, index);
        ASSERT_NEAR(element(now->data(), type_, index), value, value == -7.0 ? 0.0 : unit * (4.0 + std::abs(value))) << i;
      }
    }
  }

  std::vector<std::byte> input, cosine, sine, queries, blocks;

 private:
  ElementType type_;
  std::int64_t heads_, half_;
  std::vector<std::int32_t> slots_;
  std::int64_t stride_ = 1;
  std::vector<void*> table_;
};

}  // namespace winnow::kernels::testing
