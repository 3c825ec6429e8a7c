// The end of a prompt's positions, from media headers alone, so that a prompt that does not fit is refused before decoding.
//
// Used by prepare_segment() and plan_turn(), which have to agree. Engine thread only.
#pragma once

#include <cstdint>
#include <span>

#include "engine/generation/segment/media_encoder.h"
#include "engine/generation/segment/prompt.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// The position after the prompt's text and videos, of which nothing is pruned; on one axis without about what `before` leaves unread.
// Images are left out: they are few.
std::int64_t foreseen_position(const VisionLanguageModel& network, const PromptSegment& prompt, std::span<const OpenedMedia> media,
                               std::int64_t next_position, const BeforeDecoder& before);

}  // namespace winnow
