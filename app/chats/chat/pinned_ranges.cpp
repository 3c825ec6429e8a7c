#include "app/chats/chat/pinned_ranges.h"

#include <algorithm>
#include <cmath>

namespace winnow::app {

namespace {
constexpr double kLeastS = 0.05;
}

PinnedRanges withRange(const PinnedRanges& ranges, PinnedRange added) {
  PinnedRanges result;
  for (const PinnedRange& range : ranges) {
    if (range.toS < added.fromS || range.fromS > added.toS) {
      result.push_back(range);
    } else {
      added = {std::min(added.fromS, range.fromS), std::max(added.toS, range.toS)};
    }
  }
  const auto place = std::find_if(result.begin(), result.end(), [&](const PinnedRange& range) { return range.fromS > added.toS; });
  result.insert(place, added);
  return result;
}

PinnedRanges withoutRange(const PinnedRanges& ranges, PinnedRange removed) {
  PinnedRanges result;
  for (const PinnedRange& range : ranges) {
    if (range.toS < removed.fromS || range.fromS > removed.toS) {
      result.push_back(range);
      continue;
    }
    if (removed.fromS - range.fromS > kLeastS) result.push_back({range.fromS, removed.fromS});
    if (range.toS - removed.toS > kLeastS) result.push_back({removed.toS, range.toS});
  }
  return result;
}

bool anyContains(const PinnedRanges& ranges, double seconds) {
  return std::any_of(ranges.begin(), ranges.end(), [seconds](const PinnedRange& range) { return range.contains(seconds); });
}

bool covered(const PinnedRanges& ranges, PinnedRange range) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const PinnedRange& each) { return each.fromS <= range.fromS + kLeastS && each.toS >= range.toS - kLeastS; });
}

PinnedRanges reachingFrames(const PinnedRanges& ranges, const std::vector<double>& frames, double marginS) {
  PinnedRanges result;
  for (PinnedRange range : ranges) {
    const bool sure = std::any_of(frames.begin(), frames.end(),
                                  [&](double time) { return time - marginS >= range.fromS && time + marginS <= range.toS; });
    if (!sure && !frames.empty()) {
      const double middle = (range.fromS + range.toS) / 2.0;
      const double nearest = *std::min_element(frames.begin(), frames.end(),
                                               [middle](double a, double b) { return std::abs(a - middle) < std::abs(b - middle); });
      range = {std::min(range.fromS, nearest - marginS), std::max(range.toS, nearest + marginS)};
    }
    result = withRange(result, range);
  }
  return result;
}

}  // namespace winnow::app
