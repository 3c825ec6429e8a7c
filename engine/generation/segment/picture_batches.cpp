#include "engine/generation/segment/picture_batches.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {
namespace {

bool fits_ahead(const FrameSource& source, int frames) {
  const PictureSize size = source.picture_size();
  return std::int64_t{3} * size.width_px * size.height_px * frames <= PictureBatches::kMostBytesAhead;
}

}  // namespace

PictureBatches::PictureBatches(FrameSource& source, int frames_each, const InterruptToken& interrupt)
    : source_(source), frames_each_(frames_each), ahead_(fits_ahead(source, frames_each)), ended_(interrupt) {
  begin(std::launch::deferred);  // nothing to do meanwhile
}

PictureBatches::~PictureBatches() { ended_.request_cancel(); }

int PictureBatches::count() const { return std::min(frames_each_, source_.frame_count() - first_); }

std::vector<SampledFrame> PictureBatches::take() {
  require(count() > 0, "no batch is left");
  std::vector<SampledFrame> frames = next_.get();
  require(static_cast<int>(frames.size()) == count(), "a source must deliver the pictures of its plan");
  first_ += count();
  // If there is no thread to be had, it is read when it is asked for, too.
  begin(ahead_ ? std::launch::async | std::launch::deferred : std::launch::deferred);
  return frames;
}

void PictureBatches::begin(std::launch how) {
  if (count() <= 0) return;
  next_ = std::async(
      how, [this, first = first_, frames = count(), interrupt = ended_.token()] { return source_.read(first, frames, interrupt); });
}

}  // namespace winnow
