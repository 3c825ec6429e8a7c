// New keys and values with strides, and blocks that they are to be appended to, all in host memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/api/append_slots.h"

namespace winnow::kernels::testing {

class AppendCase {
 public:
  static constexpr std::int64_t kBlockSlots = 64;

  // slots: per kv head, in use before. Tokens lie head by head within a token, as a decoder's fused projection leaves them.
  AppendCase(std::int64_t element_bytes, std::int64_t tokens, std::int64_t head_dim, std::vector<std::int32_t> slots)
      : element_bytes_(element_bytes), tokens_(tokens), head_dim_(head_dim), slots_(std::move(slots)) {
    const auto heads = static_cast<std::int64_t>(slots_.size());
    source_.resize(static_cast<std::size_t>(2 * heads * tokens * head_dim * element_bytes));
    for (std::size_t i = 0; i < source_.size(); ++i) source_[i] = static_cast<std::byte>((i * 31 + 7) % 251);
    for (const std::int32_t used : slots_) stride_ = std::max<std::int64_t>(stride_, (used + tokens + kBlockSlots - 1) / kBlockSlots);
    memory_.resize(static_cast<std::size_t>(2 * heads * stride_ * block_bytes()));
    for (std::int64_t i = 0; i < heads * stride_; ++i) {
      key_blocks_.push_back(memory_.data() + i * block_bytes());
      value_blocks_.push_back(memory_.data() + (heads * stride_ + i) * block_bytes());
    }
  }

  std::int64_t block_bytes() const { return kBlockSlots * head_dim_ * element_bytes_; }
  const std::vector<std::byte>& source() const { return source_; }  // [tokens, 2 (K, V), kv_heads, head_dim]
  std::vector<std::byte>& memory() { return memory_; }              // [2 (K, V), kv_heads, table_stride] blocks

  AppendSlotsArgs args() {
    const auto heads = static_cast<std::int64_t>(slots_.size());
    AppendSlotsArgs args{.key = source_.data(), .value = source_.data() + heads * head_dim_ * element_bytes_};
    args.key_head_stride = args.value_head_stride = head_dim_;
    args.key_token_stride = args.value_token_stride = 2 * heads * head_dim_;
    args.element_bytes = element_bytes_;
    args.kv_heads = heads;
    args.tokens = tokens_;
    args.head_dim = head_dim_;
    args.slots = slots_.data();
    args.key_blocks = key_blocks_.data();
    args.value_blocks = value_blocks_.data();
    args.table_stride = stride_;
    args.block_slots = kBlockSlots;
    return args;
  }

 private:
  std::int64_t element_bytes_, tokens_, head_dim_;
  std::int64_t stride_ = 1;
  std::vector<std::int32_t> slots_;
  std::vector<std::byte> source_, memory_;
  std::vector<void*> key_blocks_, value_blocks_;
};

}  // namespace winnow::kernels::testing
