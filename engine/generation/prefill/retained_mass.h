// The share of a scorer's total score that the best tokens hold, by retention. The retention slider shows it.
//
// Used by SegmentCompression for CacheReport. O(tokens) per layer and head: scores are binned instead of sorted. Pure.
#pragma once

#include <vector>

#include "engine/compression/segment_compressor.h"
#include "engine/messages/events.h"

namespace winnow {

// Twenty retentions from 1 % to 100 % over the candidates of the recipe's scope, mean over layers and heads. Negative and non-finite scores
// count as 0. Empty if the segment was not scored.
std::vector<RetainedMass> retained_mass(const SegmentCompressor& compressor);

}  // namespace winnow
