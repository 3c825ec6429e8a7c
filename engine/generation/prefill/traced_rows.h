// What a turn's trace wants of each segment that is read for it.
#pragma once

#include <ATen/ATen.h>

#include "engine/generation/context/turn_trace.h"
#include "engine/generation/prefill/segment_prefill.h"

namespace winnow {

// trace: null for none. untraced: what the caller itself needs.
LogitRows rows_of(const TurnTrace* trace, LogitRows untraced);

// Adds a segment's rows to the trace of a turn; nothing without one. logits: undefined where none were made.
void trace_rows(TurnTrace* trace, const at::Tensor& positions, const at::Tensor& logits);

}  // namespace winnow
