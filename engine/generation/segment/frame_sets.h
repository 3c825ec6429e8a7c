// The sets of a video's frames that a request reads: frames that the model joins, numbered in the whole plan, of which a request may take a
// part (FramePlan::taken).
//
// Used by MediaEncoder, which encodes and remembers them one by one where the encoder is slow. Pure arithmetic.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/generation/segment/picture_batches.h"
#include "engine/media/coarse_order.h"

namespace winnow {

// The sets of a video's frames that a request reads, in coarse_order() of the whole plan.
class FrameSets {
 public:
  FrameSets(const OpenedMedia& media, int set_frames) : set_frames_(set_frames) {
    const FramePlan& plan = media.request.plan;
    const int planned = media.source->planned_frames();
    numbers_ = taken_frames(planned, plan.taken, plan.set_frames);
    for (const int set : coarse_order(planned, set_frames)) {
      if (!frames_of(set).empty()) sets_.push_back(set);
    }
  }

  const std::vector<int>& sets() const { return sets_; }
  // The frames of a set, as the source numbers them.
  FrameBatch frames_of(int set) const {
    FrameBatch frames;
    const auto first = std::ranges::lower_bound(numbers_, set * set_frames_);
    for (auto at = first; at != numbers_.end() && *at < (set + 1) * set_frames_; ++at)
      frames.push_back(static_cast<int>(at - numbers_.begin()));
    return frames;
  }
  std::string key(const std::string& plan, int set) const { return set_keys(plan) + std::to_string(set); }
  std::string set_keys(const std::string& plan) const { return plan + "|set of " + std::to_string(set_frames_) + " "; }

 private:
  int set_frames_;
  std::vector<int> numbers_;  // of the frames that the source delivers, in the whole plan
  std::vector<int> sets_;
};

}  // namespace winnow
