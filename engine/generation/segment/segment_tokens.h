// The facts about a segment's tokens before their prefill. Plain data.
//
// Part of TurnSegment, and of what plan_turn() foresees of one; read by SegmentCompression.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "engine/base/row_span.h"
#include "engine/base/token_origin.h"
#include "engine/metrics/figures.h"

namespace winnow {

struct SegmentTokens {
  std::int32_t first_original = 0;
  std::vector<Modality> modality;
  std::int64_t visual = 0;
  std::vector<std::int32_t> pinned;      // original indices of all that the conversation has pinned, ascending
  std::vector<RowSpan> bidirectional{};  // of rows (VisionLanguageModel::bidirectional_spans)

  // The first attached token; size() if there is none.
  std::int64_t context_begin() const {
    return std::distance(modality.begin(), std::find_if(modality.begin(), modality.end(), is_attached));
  }
  // Pinned ones from there on.
  std::int64_t pinned_in_context() const {
    const std::int64_t first = first_original + context_begin();
    return std::count_if(pinned.begin(), pinned.end(), [first](std::int32_t token) { return token >= first; });
  }
  // One after the last attached token; 0 if there is none.
  std::int64_t context_end() const { return std::distance(std::find_if(modality.rbegin(), modality.rend(), is_attached), modality.rend()); }
  // The first `rows` of them, as a segment of their own.
  SegmentTokens first(std::int64_t rows) const {
    SegmentTokens part{first_original, {modality.begin(), modality.begin() + static_cast<std::ptrdiff_t>(rows)}, 0, pinned};
    part.visual = std::count_if(part.modality.begin(), part.modality.end(), is_attached);
    part.bidirectional = cut_spans(bidirectional, 0, rows);
    return part;
  }

  std::int64_t size() const { return std::ssize(modality); }
  // Without the generated ones.
  TokenCounts counts() const { return {.prompt = size(), .visual = visual, .text = size() - visual}; }
};

}  // namespace winnow
