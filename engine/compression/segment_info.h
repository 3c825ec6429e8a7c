// The segment of tokens that one compression event is about. Plain data, no torch.
//
// Made by engine/generation before the prefill, read by every part of engine/compression. Rows are 0-based within the segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/token_origin.h"

namespace winnow {

struct SegmentInfo {
  std::int64_t tokens = 0;             // n
  std::span<const Modality> modality;  // n entries, borrowed: must outlive the compressor
  std::int32_t first_original = 0;     // original token index of row 0
  std::int64_t layers = 0;
  std::int64_t heads = 0;     // query heads, a multiple of kv_heads
  std::int64_t kv_heads = 0;
  bool compressed_before = false;  // an event with visual tokens has already happened in this conversation (turn policy first-only)
  // Original indices of everything that the user pinned in this conversation, ascending, earlier segments' tokens first; borrowed. No method
  // drops them or merges them away; others may be merged into them.
  std::span<const std::int32_t> pinned;

  // Row of the last visual token; -1 if there is none.
  std::int64_t last_visual() const {
    for (std::int64_t row = tokens - 1; row >= 0; --row) {
      if (modality[static_cast<std::size_t>(row)] == Modality::kVisual) return row;
    }
    return -1;
  }
  // Pinned rows of this segment, ascending.
  std::vector<std::int32_t> pinned_rows() const {
    std::vector<std::int32_t> rows;
    for (auto at = std::lower_bound(pinned.begin(), pinned.end(), first_original); at != pinned.end() && *at < first_original + tokens; ++at) {
      rows.push_back(*at - first_original);
    }
    return rows;
  }
};

}  // namespace winnow
