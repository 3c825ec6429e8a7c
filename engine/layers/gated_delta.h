// Gated DeltaNet: in place of attention a matrix per head that each token decays, corrects and reads (Yang et al., "Gated Delta Networks",
// arXiv 2412.06464; transformers' Qwen3_5GatedDeltaNet).
//
// Used by engine/models for layers without slots; the state lies in the KvCache (kv_cache/layer_states.h). Queries, keys and values go
// through a causal convolution over the last tokens, queries and keys are normalised to length 1, the output is normalised and gated. On
// the CPU all tokens go through one kernel (kernels/api/gated_delta.h), so that a prompt leaves the same bits in however many pieces it is
// read; on a GPU libtorch computes 64 tokens at a time. Inference only. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "engine/kv_cache/layer_states.h"
#include "engine/layers/delta_sizes.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"

namespace winnow {

struct GatedDelta {
  DeltaSizes sizes;
  Linear input;             // [channels + values, hidden]: queries, keys, values, and what gates the output
  Linear rates;             // [2 * value_heads, hidden]: how much a token corrects, and how much it keeps
  at::Tensor convolution;   // fp32 [kernel, channels], the oldest token first
  at::Tensor decay;         // fp32 [value_heads], negative: the logarithm of what is kept, times softplus of its rate
  at::Tensor decay_offset;  // fp32 [value_heads], added to that rate
  RmsNorm norm;             // [value_dim]
  Linear output;            // [hidden, values]

  // rows: [t, hidden], consecutive tokens. Changes the state to that after them.
  at::Tensor operator()(const at::Tensor& rows, LayerState& state) const;
  // rows: [n, hidden], one token each. state_of: its state, asked for once the rows before it have changed theirs.
  at::Tensor operator()(const at::Tensor& rows, const std::function<LayerState&(std::int64_t row)>& state_of) const;

 private:
  // Returns the rows that `output` reads. products: of `input`; rate: of `rates`.
  at::Tensor gated(const at::Tensor& products, const at::Tensor& rate, LayerState& state) const;
  at::Tensor convolved(const at::Tensor& channels, at::Tensor& recent) const;
};

// The gated delta rule by products of matrices, a chunk of tokens at a time: for devices that take a product of many rows as fast as of
// one.
//
// Within a chunk the corrections of its tokens are the solution of a triangular system (transformers' torch_chunk_gated_delta_rule); a
// single token has none. Equals kernels/api/gated_delta.h up to rounding.

// The rows that the gated delta rule reads of consecutive tokens. All fp32 and contiguous.
struct DeltaRows {
  at::Tensor query;  // [t, key_heads, key_dim], of length 1 / sqrt(key_dim)
  at::Tensor key;    // [t, key_heads, key_dim], of length 1
  at::Tensor value;  // [t, value_heads, value_dim]
  at::Tensor decay;  // [t, value_heads], the logarithm of what is kept: not positive
  at::Tensor beta;   // [t, value_heads], in [0, 1]
};

// memory: fp32 [value_heads, key_dim, value_dim], changed in place. Returns fp32 [t, value_heads, value_dim].
at::Tensor delta_by_chunks(const DeltaRows& rows, at::Tensor& memory);

}  // namespace winnow
