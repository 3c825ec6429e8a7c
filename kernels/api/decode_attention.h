// Attention of one query token over one KV head's blocks of cached keys and values.
//
// Used by engine/layers during decode; knows no framework: plain pointers, sizes and a status. The reference is
// kernels/reference/decode_attention.cpp, the vectorised CPU version kernels/cpu. Never throws, never allocates. kBadArgument: a missing
// pointer, a size below 1 or an unknown element type. kUnsupported: more heads or elements than the limits below, or
// an odd head size in 4 bits.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"
#include "kernels/api/narrow_rows.h"

namespace winnow::kernels {

// For rows stored without the key bias (narrow_rows.h): the key is the row plus R(p) b at position p. With b = (x, y) and a query (u, v) in
// halves, q . R(p) b = c . (u x + v y) + s . (v x - u y): c and s are the position's cosines and sines, the rest depends on the query only.
// Frequencies come in units of 8, 8 cosines and their 8 sines. Only units in which b is not zero are read.
struct DecodeKeyBias {
  static constexpr std::int64_t kUnit = 16;  // numbers in a unit

  const float* query = nullptr;             // [count, group, kUnit]: u x + v y, then v x - u y; null: all rows include the bias
  const std::int32_t* units = nullptr;      // [count]: which units of a rotation
  std::int64_t count = 0;                   // >= 1
  const std::int16_t* rotations = nullptr;  // [any, row_units, kUnit]: c, then s, as whole numbers; `query` has their unit as a factor
  std::int64_t row_units = 0;
  const std::int32_t* of_slots = nullptr;  // [slots]: a slot's row of `rotations`; 0, which is zeros: stored with its bias
};

struct DecodeAttentionArgs {
  const float* query = nullptr;  // [group, head_dim], fp32, contiguous: the query heads that share this KV head
  std::int64_t group = 0;
  std::int64_t head_dim = 0;
  ElementType kv_type = ElementType::kFp32;
  // Rows of codes (narrow_rows.h) instead of kv_type: a block is [block_slots] rows of codes, then as many of scales, which must be
  // aligned. They are upcast in registers. Those in 4 bits are rotated: the caller rotates the query, and the output back.
  bool narrow = false;
  RowCodes codes = RowCodes::kInt8;
  DecodeKeyBias key_bias;                     // its query is not rotated
  const void* const* key_blocks = nullptr;    // ceil(slots / block_slots) pointers, each [block_slots, head_dim], contiguous
  const void* const* value_blocks = nullptr;  // as key_blocks
  std::int64_t slots = 0;                     // slots in use, >= 1
  std::int64_t block_slots = 0;
  float scale = 1.0F;
  float* output = nullptr;         // [group, head_dim], fp32
  float* log_sum_exp = nullptr;    // [group], natural log, or null
  float* probabilities = nullptr;  // [group, slots], or null
  float* workspace = nullptr;      // [group, block_slots] floats; required
};

LaunchStatus decode_attention_reference(const DecodeAttentionArgs& args);
// Picks the widest instruction set at run time; equals the reference up to rounding.
LaunchStatus decode_attention_cpu(const DecodeAttentionArgs& args);

}  // namespace winnow::kernels
