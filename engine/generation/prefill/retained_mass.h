// How much of what a scorer counts the best tokens hold, for any share kept: what the retention slider shows before a question is sent
// again.
//
// Used by SegmentCompression for CacheReport. O(tokens) per layer and head: scores are put into narrow classes instead of being sorted.
// Pure.
#pragma once

#include <vector>

#include "engine/compression/segment_compressor.h"
#include "engine/messages/events.h"

namespace winnow {

// Twenty shares from 1 % to 100 %, the candidates of the recipe's scope alone counted, mean over layers and heads. Scores below zero and
// not finite ones count as nothing. Empty unless the segment was scored.
std::vector<RetainedMass> retained_mass(const SegmentCompressor& compressor);

}  // namespace winnow
