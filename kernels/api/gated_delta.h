// The gated delta rule: what a recurrent layer remembers of its tokens, and what each token reads of it.
//
// Used by engine/layers (gated_delta.h). The reference is kernels/reference/gated_delta.cpp, the vectorised CPU version kernels/cpu. Per
// value head a matrix S [key_dim, value_dim] goes through the tokens: S = decay S; S += k (beta (v - S^T k))^T; output = S^T q. In fp32.
// Columns of S do not depend on each other, tokens only through S: the same tokens in several calls leave the same bits as in one.
// Never throws, never allocates; calls on different columns are independent. NaN and infinity propagate.
// kBadArgument: a missing pointer, a negative number, a head that there is not, columns beyond value_dim. kUnsupported:
// a key longer than the limit.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxDeltaKey = 1024;

struct GatedDeltaArgs {
  std::int64_t tokens = 0;
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  const float* query = nullptr;  // [tokens, key_heads, key_dim]
  const float* key = nullptr;    // as query
  const float* value = nullptr;  // [tokens, value_heads, value_dim]
  const float* decay = nullptr;  // [tokens, value_heads]
  const float* beta = nullptr;   // as decay
  float* state = nullptr;        // [value_heads, key_dim, value_dim], read and written
  float* output = nullptr;       // as value
  // The part to compute: of value head `head`, which key head `key_head` serves, the columns [first_column, first_column + columns).
  std::int64_t head = 0;
  std::int64_t key_head = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
};

LaunchStatus gated_delta_reference(const GatedDeltaArgs& args);
// Picks the widest instruction set at run time; equals the reference up to fp32 rounding.
LaunchStatus gated_delta_cpu(const GatedDeltaArgs& args);

}  // namespace winnow::kernels
