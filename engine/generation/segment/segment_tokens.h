// What is known of a segment's tokens before the first of them is read. Plain data.
//
// Part of TurnSegment, and of what plan_turn() foresees of one; read by SegmentCompression.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/metrics/figures.h"

namespace winnow {

struct SegmentTokens {
  std::int32_t first_original = 0;
  std::vector<Modality> modality;
  std::int64_t visual = 0;
  std::vector<std::int32_t> pinned;  // original indices of all that the conversation has pinned, ascending

  std::int64_t size() const { return std::ssize(modality); }
  // Without the generated ones.
  TokenCounts counts() const {
    TokenCounts counts;
    counts.prompt = size();
    counts.visual = visual;
    counts.text = size() - visual;
    return counts;
  }
};

}  // namespace winnow
