// Which tokens of a stream belong to its newest frames, and in which order these stay.
//
// Used by ClipStream for the option newest. No torch. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compression/statistics/streamed_keys.h"

namespace winnow {

class NewestFrames {
 public:
  // places: of every token of the media so far, in their order. count: so many frames; 0: none. Text before a frame (its time) belongs to
  // it, what stands behind the last frame to that one.
  NewestFrames(std::span<const StreamedPlace> places, std::int64_t count);

  // The score by which the token (counted from the media's first) competes, in place of its own: any token of a newer frame is before all
  // of an older one, and all of them before the other tokens, in whose order nothing changes.
  float score(std::int64_t token, float own) const;

 private:
  std::int64_t first_ = 0;           // token; those before it belong to older frames
  std::vector<std::int32_t> since_;  // of every token from there: frames that came after its own
};

}  // namespace winnow
