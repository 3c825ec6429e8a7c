// Rows that compete for the slots of one kv head, or of all heads of a layer that hold the same tokens. Numbers only, no torch.
//
// Made by compression/candidates.h, read by SlotChoice.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/recipes/segment_info.h"

namespace winnow {

struct CandidateRows {
  CandidateRows() = default;
  CandidateRows(CandidateRows&&) noexcept = default;  // what info borrows moves along; a copy would borrow from the original
  CandidateRows& operator=(CandidateRows&&) noexcept = default;

  // Fills what follows from info.
  void find_rows() {
    for (std::int32_t row = 0; row < info.tokens; ++row) {
      if (is_attached(info.modality[static_cast<std::size_t>(row)])) visual.push_back(row);
    }
    for (std::int32_t row = visual.empty() ? 0 : visual.front(); !visual.empty() && row <= visual.back(); ++row) context.push_back(row);
    pinned = info.pinned_rows();
  }

  SegmentInfo info;  // borrows from the segment, or from modality and originals
  std::vector<Modality> modality;
  std::vector<std::int32_t> originals;
  std::vector<RowSpan> bidirectional;  // as info's
  std::vector<std::int32_t> visual;    // rows of visual tokens, ascending
  std::vector<std::int32_t> context;   // from the first visual token to the last
  std::vector<std::int32_t> pinned;    // rows that the user pinned, ascending
};

}  // namespace winnow
