// A video that is still running, as clips of sampled frames: a recording in progress, a pipe, a network stream, a camera, the screen.
//
// Used by whoever watches a source (the terminal's `watch`). A thread of its own reads and decodes from construction on. Frame i is the one
// on screen at i * everyS seconds, counted from the beginning of the source as a player does, the first one not before a frame could be
// decoded; it has its own upright size, which may change on the
// way. Files and pipes wait for whoever uses them, and nothing of them is missed; the others do not wait: of theirs at most
// FrameQueue::kMostFrames wait here, the rest is passed over and counted. Memory does not grow with time.
// Errors (next): kInvalidArgument, kUnsupportedFormat, kDamagedFile, kLimitExceeded, kFileNotFound, kFileUnreadable, kDeviceUnavailable,
// kOutOfMemory. Threads: one at a time uses it; finish() may be called from any.
#pragma once

#include <memory>

#include "app/media/files/limits.h"
#include "app/media/files/live/frame_queue.h"
#include "app/media/files/live/live_request.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class LiveSource {
 public:
  // Opens nothing yet that could wait. Throws the errors of requireLegal().
  explicit LiveSource(const LiveRequest& request, const MediaLimits& limits = {});
  ~LiveSource();
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;

  // Waits for `most` frames (at least 1); fewer when the source ended, or when the token was interrupted: the clip then holds what had
  // come, its end is kInterrupted, and the source can be asked again. Never throws Interrupted. A clip with an end may hold frames. An
  // error is thrown when all frames before it were given.
  LiveClip next(int most, const InterruptToken& interrupt);

  // The caller knows that nothing more will come: what is already there is read to its end.
  void finish() noexcept;

  // The most frames that ever waited to be taken.
  std::size_t mostWaiting() const;

 private:
  class Reader;
  std::unique_ptr<Reader> m_reader;
};

}  // namespace winnow::app
