// Which picture of a video is on screen at a time, found by its packets alone: nothing is decoded.
//
// Used by VideoFrameSource to plan. Times rise from call to call. Reads on from where it is, and jumps to a keyframe where one lies
// between; a time is known when a packet came whose decoding begins after it. Packets that show nothing do not count: what an edit list
// hides, VP8's hidden reference pictures, what comes before the first keyframe. Errors: as VideoContainer. Threads: one at a time; the
// container's position afterwards is anywhere. An index of pictures that all last the same time tells by itself.
#pragma once

#include <cstdint>
#include <limits>
#include <set>

#include "app/media/files/frame_plan.h"
#include "app/media/files/keyframe_search.h"
#include "app/media/files/video_container.h"
#include "app/media/files/video_probe.h"

namespace winnow::app {

class ShownPictures {
 public:
  // Both are borrowed.
  ShownPictures(VideoContainer& container, const VideoFacts& facts);

  // The picture that is there at timeS; until infinity for the last one.
  OnScreen at(double timeS);

 private:
  bool worthSeeking(std::int64_t target) const;
  void seekTo(std::int64_t target);
  void readOne();
  void note(const AVPacket& packet);
  void add(std::int64_t start);

  VideoContainer& m_container;
  const VideoFacts& m_facts;
  AvPacket m_packet;
  ShowTimes m_showTimes;
  std::set<std::int64_t> m_starts;  // of pictures near the last time
  std::int64_t m_lastDts = AV_NOPTS_VALUE;
  std::int64_t m_firstShowable = std::numeric_limits<std::int64_t>::min();
  bool m_ended = false;
  bool m_keyframes = true;  // the container has some
  bool m_untimed = false;   // there are pictures of which nothing tells when they are shown
};

}  // namespace winnow::app
