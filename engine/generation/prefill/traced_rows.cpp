#include "engine/generation/prefill/traced_rows.h"

namespace winnow {

LogitRows rows_of(const TurnTrace* trace, LogitRows untraced) {
  return trace != nullptr && trace->wanted == TraceLogits::kAllPositions ? LogitRows::kAll : untraced;
}

void trace_rows(TurnTrace* trace, const at::Tensor& positions, const at::Tensor& logits) {
  if (trace == nullptr) return;
  const at::Tensor here = positions.to(at::kCPU);
  trace->position_ids = trace->position_ids.defined() ? at::cat({trace->position_ids, here}, 1) : here.contiguous();
  if (!logits.defined()) return;
  const at::Tensor scores = logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  trace->logits = trace->logits.defined() ? at::cat({trace->logits, scores}) : scores;
}

}  // namespace winnow
