#include "engine/generation/reading/newest_frames.h"

#include <algorithm>
#include <limits>

namespace winnow {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kFramesTold = 4096.0F;  // more than can be protected (kMostNewestFrames), and few enough for a float to tell them apart

}  // namespace

NewestFrames::NewestFrames(std::span<const StreamedPlace> places, std::int64_t count) : first_(std::ssize(places)) {
  std::int32_t newest = -1;
  std::int32_t frame = -1;
  while (count > 0 && first_ > 0) {
    const std::int32_t shown = places[static_cast<std::size_t>(first_ - 1)].frame;
    if (shown >= 0) {
      newest = std::max(newest, shown);
      if (newest - shown >= count) break;
      frame = shown;
    }
    since_.push_back(frame < 0 ? 0 : newest - frame);
    --first_;
  }
  std::reverse(since_.begin(), since_.end());
}

float NewestFrames::score(std::int64_t token, float own) const {
  if (token < first_) return std::min(own, 0.5F * kLargest);
  return kLargest * (1.0F - static_cast<float>(since_[static_cast<std::size_t>(token - first_)]) / kFramesTold);
}

}  // namespace winnow
