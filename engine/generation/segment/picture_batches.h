// The pictures of a medium, a batch at a time: while one is used, the next is read on a thread of its own.
//
// Used by MediaEncoder, so that frames are decoded while the vision tower works on those before them. At most one batch is ahead, and none
// where its pixels would take more than kMostBytesAhead: it is then read when it is asked for. What reading a batch throws (Exception,
// Interrupted) is thrown when that batch is asked for. Threads: engine thread; nobody else uses the source while this lives.
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
  // Ends what is being read and waits for that.
  ~PictureBatches();
  PictureBatches(const PictureBatches&) = delete;
  PictureBatches& operator=(const PictureBatches&) = delete;

  // The first frame of the next batch, and how many there are in it; none after the last.
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
