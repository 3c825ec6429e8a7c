// The watched source and its reader: a source that is still running, clip by clip.
//
// Implemented where the codecs are and handed in by bootstrap; used by live_watch.h on its reading thread. No codecs here. Errors:
// Exception, Interrupted. Threads: a reader is made, used and destroyed by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

struct WatchRequest {
  enum class Kind : int { kFile = 1, kNetwork = 2, kCamera = 3, kScreen = 4 };
  Kind kind = Kind::kCamera;
  std::string address;           // UTF-8; of a file that grows: its name as bytes
  double everyS = 0.5;           // between frames
  std::int64_t capSlots = 2000;  // of a layer and kv head, that may stay
};

class ClipReader {
 public:
  struct Clip {
    std::vector<SampledFrame> frames{};  // asked_s rises over all clips, in steps of everyS
    bool ended = false;                  // nothing follows; frames may still be the last ones
    std::string endedBecause{};          // an English clause; may be empty
    std::vector<MediaNotice> notices{};
  };

  virtual ~ClipReader() = default;
  // `most` frames, in order; fewer at the end, with something to say, or when it is asked to stop waiting (Interrupt::kStop): then what has
  // come, which may be nothing, and it can be asked again. Cancelled it throws Interrupted. Polls the token while it waits.
  virtual Clip next(int most, const InterruptToken& interrupt) = 0;
};

// Opens the source; polls the token while it waits for an answer. Throws Exception or Interrupted.
using ClipReaderFactory = std::function<std::unique_ptr<ClipReader>(const WatchRequest&, const InterruptToken&)>;

}  // namespace winnow::app
