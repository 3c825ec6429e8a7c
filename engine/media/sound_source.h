// Sound for the engine: plain samples, in pieces, and what a file of sound says of itself.
//
// Delivered by a MediaOpener (frame_source.h), whose codecs live above. Samples are mono at kSoundRate, fp32 in [-1, 1], from the beginning
// of the file on; where a file's sound begins later or has gaps, they are silence, so that their times are those of its frames. An hour is
// never in memory at once. No torch here. Threads: used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"

namespace winnow {

inline constexpr std::int64_t kSoundRate = 16'000;  // samples a second

struct SoundRequest {
  std::string path;       // as MediaRequest::path
  std::string content{};  // as MediaRequest::content
};

class SoundSource {
 public:
  virtual ~SoundSource() = default;
  // The container's word; 0 where it says nothing.
  virtual double duration_s() const = 0;
  // The same as FrameSource::content_hash().
  virtual std::string content_hash() const = 0;
  // The next samples, at most `count`; fewer at the end alone. Throws Exception (damaged file, limits) or Interrupted.
  virtual std::vector<float> read(std::int64_t count, const InterruptToken& interrupt) = 0;
  // Back to the first sample.
  virtual void rewind() = 0;
};

}  // namespace winnow
