// The logit rows that a turn's trace needs of each segment.
#pragma once

#include <ATen/ATen.h>

#include "engine/generation/context/turn_trace.h"
#include "engine/generation/prefill/segment_prefill.h"

namespace winnow {

// trace: may be null. untraced: the rows that the caller itself needs.
LogitRows rows_of(const TurnTrace* trace, LogitRows untraced);

// Adds a segment's rows to the trace, if there is one. logits: may be undefined.
void trace_rows(TurnTrace* trace, const at::Tensor& positions, const at::Tensor& logits);

}  // namespace winnow
