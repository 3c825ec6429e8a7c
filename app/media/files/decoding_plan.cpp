#include "app/media/files/decoding_plan.h"

#include <algorithm>
#include <cstddef>

namespace winnow::app {
namespace {

// Each of FFmpeg's threads keeps a picture back that may not be wanted.
constexpr int kMostThreadsEach = 4;

}  // namespace

DecodingPlan planDecoding(const std::vector<double>& askedS, const std::vector<std::int64_t>& keyframes, std::int64_t framePixels,
                          const MediaLimits& limits) {
  DecodingPlan plan;
  const std::size_t frames = askedS.size();
  std::vector<std::int64_t> group(frames, 0);
  for (std::size_t i = 1; i < frames; ++i) {
    const bool starts = keyframes[i] != keyframes[i - 1] && askedS[i] - askedS[i - 1] > kAlwaysDecodeOnS;
    group[i] = group[i - 1] + (starts ? 1 : 0);
    plan.lastOfGroup.push_back(starts);
  }
  plan.lastOfGroup.push_back(true);

  const std::int64_t affordable = std::max<std::int64_t>(1, limits.videoFramePixels / std::max<std::int64_t>(1, framePixels));
  const std::int64_t threads = std::min<std::int64_t>(limits.decoders, affordable);
  const std::int64_t groupsAtOnce = (group.back() + 1) * kFramesAskedTogether / static_cast<std::int64_t>(frames);
  plan.decoders = static_cast<int>(std::clamp<std::int64_t>(std::min(threads, groupsAtOnce), 1, group.back() + 1));
  plan.threadsEach = static_cast<int>(std::clamp<std::int64_t>(threads / plan.decoders, 1, kMostThreadsEach));
  for (const std::int64_t number : group) plan.decoder.push_back(static_cast<int>(number % plan.decoders));
  return plan;
}

}  // namespace winnow::app
