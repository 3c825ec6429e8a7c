// Cache bytes of one turn over time, as the window drew them: filled while the answer is written, saved with it, drawn again later.
//
// Plain data. Bytes are K and V of slots in use. Milliseconds count from the question. Threads: any.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace winnow::app {

struct TimelinePoint {
  // Codes are stored: never renumbered.
  enum class Mark : int {
    kNone = 0,
    kPrefillEnd = 1,  // bytes: the most that was held on the way
    kEvent = 2,       // right after the compression event
    kEviction = 3,    // the first slot of the prompt or an earlier turn that left while writing
    kEnd = 4,
  };

  double ms = 0.0;
  double text = 0.0;  // bytes of prompts' text and earlier answers
  double image = 0.0;
  double video = 0.0;
  double generated = 0.0;  // of this answer
  double full = 0.0;       // what the same tokens take uncompressed
  double tokensPerS = 0.0;
  Mark mark = Mark::kNone;

  double total() const { return text + image + video + generated; }
  friend bool operator==(const TimelinePoint&, const TimelinePoint&) = default;
};

struct TurnTimeline {
  static constexpr std::size_t kMostPoints = 600;

  std::vector<TimelinePoint> points;  // ascending in time

  bool empty() const { return points.empty(); }
  // Appends; when there are too many, every second one without a mark goes.
  void add(const TimelinePoint& point) {
    points.push_back(point);
    if (points.size() <= kMostPoints) return;
    std::vector<TimelinePoint> thinner;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i % 2 == 0 || i + 1 == points.size() || points[i].mark != TimelinePoint::Mark::kNone) thinner.push_back(points[i]);
    }
    points = std::move(thinner);
  }
  friend bool operator==(const TurnTimeline&, const TurnTimeline&) = default;
};

}  // namespace winnow::app
