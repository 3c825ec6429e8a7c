// Media before a question, read clip by clip and held within a number of slots (phase stream): of files by ReadInClips, of sources that are
// still running by run_watch(), both through ClipReading.
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

// Clips on their way into a prepared context. All that it is given must outlive it.
class ClipReading {
 public:
  ClipReading(const RequestContext& context, const Recipe& recipe, PreparedContext& made)
      : context_(context), recipe_(recipe), made_(made) {}

  // Through all layers behind the cache: what stands before the media, or a clip's tokens.
  void read(TurnSegment segment);
  // The clip was read: all of the media are judged, and what is too much leaves. clip: the conversation's last tokens.
  void compress(ClipStream& stream, const ClipTokens& clip);

 private:
  const RequestContext& context_;
  const Recipe& recipe_;
  PreparedContext& made_;
};

}  // namespace winnow
