// A gated short convolution in place of attention (LFM2; transformers' Lfm2ShortConv): a token's input is gated, goes through a causal
// convolution over the last few tokens, and is gated again.
//
// Used by engine/models for layers without slots; the state, what the convolution reads of the last tokens, lies in the KvCache
// (kv_cache/layer_states.h). A prompt leaves the same bits in however many pieces it is read. Inference only. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "engine/kv_cache/layer_states.h"
#include "engine/layers/linear.h"

namespace winnow {

struct ShortConv {
  Linear input;            // [3 * hidden, hidden]: what gates the input, what gates the output, and the input
  at::Tensor convolution;  // fp32 [tokens, hidden], the oldest token first
  at::Tensor bias;         // fp32 [hidden], of the convolution; undefined: none
  Linear output;           // [hidden, hidden]

  // rows: [t, hidden], consecutive tokens. Changes the state to that after them.
  at::Tensor operator()(const at::Tensor& rows, LayerState& state) const;
  // rows: [n, hidden], one token each. state_of: its state, asked for once the rows before it have changed theirs.
  at::Tensor operator()(const at::Tensor& rows, const std::function<LayerState&(std::int64_t row)>& state_of) const;

 private:
  // Returns the rows that `output` reads. products: of `input`.
  at::Tensor gated(const at::Tensor& products, LayerState& state) const;
};

// A depthwise convolution over the last tokens, which goes on from a state.
//
// Inference only.

// rows: [t, channels], consecutive tokens; kernel: fp32 [tokens, channels], the oldest token first. recent: [tokens - 1, channels] of what
// came before, of the rows' dtype; then of what comes last. Returns fp32 [t, channels].
at::Tensor causal_convolution(const at::Tensor& rows, const at::Tensor& kernel, at::Tensor& recent);

}  // namespace winnow
