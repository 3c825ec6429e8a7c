// A method as a composition of parts: allocator + scorer + protected slots + phase. What does not fit together is refused by Recipe.
//
// Made by the files in methods/, owned by Recipe. The reducer is always "drop": slots outside the kept set are discarded. No torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/compression/allocators/allocator.h"
#include "engine/compression/scorers/scorer.h"

namespace winnow {

enum class MethodPhase : int {
  kOnce = 1,    // one event after the prefill; decoding only appends
  kDecode = 2,  // as once, and one slot leaves per decoded token so that the budget holds
};

// Slots that stay whatever their score, inside the budget. The last token of a segment always does.
struct Protection {
  std::int64_t sinks = 0;     // first tokens of the conversation
  std::int64_t window = 0;    // last tokens of the segment, by number
  double recent_share = 0.0;  // last tokens of the segment, as a share of the layer's budget (at least 1 if positive)
};

struct Composition {
  std::string method;
  std::unique_ptr<const Allocator> allocator;  // both null: full cache, no event
  std::unique_ptr<const Scorer> scorer;
  Protection protection;
  MethodPhase phase = MethodPhase::kOnce;
  double min_fraction = 0.0;    // of the segment, per layer
  bool faithful_clip = false;  // budgets clipped without redistribution, as the paper prints it; the total may differ from the request
};

}  // namespace winnow
