// Media prefilled and kept uncompressed; each question retrieves matching frames, layer by layer (phase retrieve).
#pragma once

#include "engine/generation/reading/media_reading.h"

namespace winnow {

class ReadToFetch final : public MediaReading {
 public:
  using MediaReading::MediaReading;
  PreparedContext prepare(const RequestContext& context, const UnreadMedia& media) const override;
  ReadyTurn read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question,
                          Conversation working) const override;
  ForeseenCache foresee(const Conversation& before, const SegmentTokens& judged, const LayerSlots& slots) const override;
  ForeseenCache foresee_question(const Conversation& prepared, const SegmentTokens& judged, const LayerSlots& slots) const override;
};

}  // namespace winnow
