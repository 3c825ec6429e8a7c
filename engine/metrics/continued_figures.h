// Figures of an answer that was cut and went on, as those of one answer.
//
// Used by ui when the rest has been written. Threads: plain function.
#pragma once

#include <algorithm>

#include "engine/metrics/figures.h"

namespace winnow {

// before: of the cut answer; rest: of the turn that went on from it, whose counts of generated tokens and bytes are the whole answer's
// already. Where that turn read the thread again (its prompt has tokens), its figures stand alone.
inline TurnFigures continued_figures(const TurnFigures& before, const TurnFigures& rest) {
  if (rest.tokens.prompt > 0) return rest;
  TurnFigures whole = before;
  whole.tokens.generated = rest.tokens.generated;
  whole.tokens.thought = rest.tokens.thought;
  whole.tokens.drafted += rest.tokens.drafted;
  whole.timings_ms.thought += rest.timings_ms.thought;
  whole.kv_bytes.end = rest.kv_bytes.end;
  whole.kv_bytes.peak = std::max(before.kv_bytes.peak, rest.kv_bytes.peak);
  whole.kv_bytes.allocated = rest.kv_bytes.allocated;
  whole.kv_bytes.metadata = rest.kv_bytes.metadata;
  whole.kv_bytes.full_end = rest.kv_bytes.full_end;
  whole.kv_bytes.states = rest.kv_bytes.states;
  for (std::size_t layer = 0; layer < std::min(whole.layers.size(), rest.layers.size()); ++layer)
    whole.layers[layer].end = rest.layers[layer].end;
  whole.timings_ms.decode_total += rest.timings_ms.decode_total;
  whole.tokens_per_s = rest.tokens_per_s;
  return whole;
}

}  // namespace winnow
