// A depthwise convolution over the last tokens, which goes on from a state. Used by gated_delta.h and short_conv.h.
//
// Inference only. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

namespace winnow {

// rows: [t, channels], consecutive tokens; kernel: fp32 [tokens, channels], the oldest token first. recent: [tokens - 1, channels] of what
// came before, of the rows' dtype; then of what comes last. Returns fp32 [t, channels].
at::Tensor causal_convolution(const at::Tensor& rows, const at::Tensor& kernel, at::Tensor& recent);

}  // namespace winnow
