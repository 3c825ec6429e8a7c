// Media prefilled clip by clip within a fixed number of slots (phase stream): files by ReadInClips, running sources by run_watch(), both
// through ClipReading.
#pragma once

#include "engine/generation/reading/clip_stream.h"
#include "engine/generation/reading/media_reading.h"

namespace winnow {

class ReadInClips final : public MediaReading {
 public:
  using MediaReading::MediaReading;
  PreparedContext prepare(const RequestContext& context, const UnreadMedia& media) const override;
  ForeseenCache foresee(const Conversation& before, const SegmentTokens& judged, const LayerSlots& slots) const override;
};

// Prefills clips into a prepared context. All arguments must outlive it.
class ClipReading {
 public:
  ClipReading(const RequestContext& context, const Recipe& recipe, PreparedContext& made)
      : context_(context), recipe_(recipe), made_(made) {}

  // Prefills the text before the media, or a clip's tokens.
  void read(TurnSegment segment);
  // After a clip's prefill: scores all media slots and evicts the excess. clip: the conversation's last tokens.
  void compress(ClipStream& stream, const ClipTokens& clip);

 private:
  const RequestContext& context_;
  const Recipe& recipe_;
  PreparedContext& made_;
};

}  // namespace winnow
