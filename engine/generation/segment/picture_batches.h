// The pictures of a medium in batches; the next batch is decoded on a thread of its own while one is used.
//
// Used by MediaEncoder, so that decoding overlaps with the vision tower. At most one batch is decoded ahead. A batch whose pixels would
// take more than kMostBytesAhead is decoded when requested. Errors of a batch (Exception, Interrupted) are thrown when it is requested.
// Threads: engine thread; nothing else may use the source while this lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/media/frame_source.h"

namespace winnow {

// Numbers of a source's frames, ascending.
using FrameBatch = std::vector<int>;

// All frames of a source in order, so many at a time.
std::vector<FrameBatch> batches_in_order(int frames, int frames_each);

class PictureBatches {
 public:
  static constexpr std::int64_t kMostBytesAhead = std::int64_t{256} << 20;

  // source is borrowed.
  PictureBatches(FrameSource& source, std::vector<FrameBatch> batches, const InterruptToken& interrupt);
  // Interrupts decoding and waits for its end.
  ~PictureBatches();
  PictureBatches(const PictureBatches&) = delete;
  PictureBatches& operator=(const PictureBatches&) = delete;

  bool left() const { return next_batch_ < batches_.size(); }
  // Waits for the next batch.
  std::vector<SampledFrame> take();

 private:
  void begin(std::launch how);

  FrameSource& source_;
  const std::vector<FrameBatch> batches_;
  InterruptSource ended_;
  std::size_t next_batch_ = 0;
  std::future<std::vector<SampledFrame>> next_;
};

}  // namespace winnow
