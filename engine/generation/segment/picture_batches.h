// The pictures of a medium in batches; the next batch is decoded on a thread of its own while one is used.
//
// Used by MediaEncoder, so that decoding overlaps with the vision tower. At most one batch is decoded ahead. A batch whose pixels would
// take more than kMostBytesAhead is decoded when requested. Errors of a batch (Exception, Interrupted) are thrown when it is requested.
// Threads: engine thread; nothing else may use the source while this lives.
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/media/frame_source.h"

namespace winnow {

class PictureBatches {
 public:
  static constexpr std::int64_t kMostBytesAhead = std::int64_t{256} << 20;

  // source is borrowed.
  PictureBatches(FrameSource& source, int frames_each, const InterruptToken& interrupt);
  // Interrupts decoding and waits for its end.
  ~PictureBatches();
  PictureBatches(const PictureBatches&) = delete;
  PictureBatches& operator=(const PictureBatches&) = delete;

  // The first frame of the next batch, and its number of frames; 0 after the last batch.
  int first() const { return first_; }
  int count() const;
  // Waits for that batch.
  std::vector<SampledFrame> take();

 private:
  void begin(std::launch how);

  FrameSource& source_;
  const int frames_each_;
  const bool ahead_;
  InterruptSource ended_;
  int first_ = 0;
  std::future<std::vector<SampledFrame>> next_;
};

}  // namespace winnow
