#include "engine/generation/segment/picture_batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

bool fits_ahead(const FrameSource& source, const FrameBatch& batch) {
  const PictureSize size = source.picture_size();
  return std::int64_t{3} * size.width_px * size.height_px * std::ssize(batch) <= PictureBatches::kMostBytesAhead;
}

// Frames that follow each other are read at once, which several decoders can share.
std::vector<SampledFrame> read_batch(FrameSource& source, const FrameBatch& batch, const InterruptToken& interrupt) {
  std::vector<SampledFrame> frames;
  for (auto first = batch.begin(); first != batch.end();) {
    const auto end = std::adjacent_find(first, batch.end(), [](int a, int b) { return b != a + 1; });
    const auto behind = end == batch.end() ? end : std::next(end);
    std::ranges::move(source.read(*first, static_cast<int>(behind - first), interrupt), std::back_inserter(frames));
    first = behind;
  }
  require(frames.size() == batch.size(), "a source must deliver the pictures of its plan");
  return frames;
}

}  // namespace

std::vector<FrameBatch> batches_in_order(int frames, int frames_each) {
  std::vector<FrameBatch> batches;
  for (int frame = 0; frame < frames; ++frame) {
    if (frame % frames_each == 0) batches.emplace_back();
    batches.back().push_back(frame);
  }
  return batches;
}

PictureBatches::PictureBatches(FrameSource& source, std::vector<FrameBatch> batches, const InterruptToken& interrupt)
    : source_(source), batches_(std::move(batches)), ended_(interrupt) {
  begin(std::launch::deferred);  // nothing to do meanwhile
}

PictureBatches::~PictureBatches() { ended_.request_cancel(); }

std::vector<SampledFrame> PictureBatches::take() {
  require(left(), "no batch is left");
  std::vector<SampledFrame> frames = next_.get();
  ++next_batch_;
  // If there is no thread to be had, it is read when it is asked for, too.
  begin(left() && fits_ahead(source_, batches_[next_batch_]) ? std::launch::async | std::launch::deferred : std::launch::deferred);
  return frames;
}

void PictureBatches::begin(std::launch how) {
  if (!left()) return;
  next_ =
      std::async(how, [this, &batch = batches_[next_batch_], interrupt = ended_.token()] { return read_batch(source_, batch, interrupt); });
}

}  // namespace winnow
