// Protects the tokens of a stream's newest frames.
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
  // places: of every media token so far, in order. count: number of newest frames; 0: none. Text before a frame (its time) belongs to that
  // frame; tokens after the last frame belong to the last.
  NewestFrames(std::span<const StreamedPlace> places, std::int64_t count);

  // Replaces the score `own` of a token (counted from the media's first). Tokens of newer protected frames rank before those of older ones,
  // and all of them before the other tokens, whose order is unchanged.
  float score(std::int64_t token, float own) const;

 private:
  std::int64_t first_ = 0;           // first token of the newest frames
  std::vector<std::int32_t> since_;  // per token from there: number of frames after its own
};

}  // namespace winnow
