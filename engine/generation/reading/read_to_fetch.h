// Media before a question, kept whole: each question fetches what fits it, layer by layer (phase retrieve).
#pragma once

#include "engine/generation/reading/media_reading.h"

namespace winnow {

class ReadToFetch final : public MediaReading {
 public:
  using MediaReading::MediaReading;
  PreparedContext prepare(const RequestContext& context, const UnreadMedia& media) const override;
  ReadyTurn read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question,
                          Conversation working) const override;
  ForeseenCache foresee_question(const Conversation& prepared, const SegmentTokens& judged, const LayerSlots& slots) const override;
};

}  // namespace winnow
