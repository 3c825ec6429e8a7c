// The segment of tokens that one compression event is about. Plain data, no torch.
//
// Made by engine/generation before the prefill, read by every part of engine/compression. Rows are 0-based within the segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/base/row_span.h"
#include "engine/base/token_origin.h"

namespace winnow {

struct RetainedSlots;

// With turn policy whole the parts see an extended segment (candidates.h): first what earlier turns left in the cache, then the new tokens.
struct SegmentInfo {
  std::int64_t tokens = 0;               // n
  std::span<const Modality> modality{};  // n entries, borrowed: must outlive the compressor
  std::int32_t first_original = 0;       // original token index of row 0
  std::int64_t layers = 0;
  std::int64_t heads = 0;  // query heads, a multiple of kv_heads
  std::int64_t kv_heads = 0;
  bool compressed_before = false;  // an event with visual tokens has already happened in this conversation (turn policy first-only)
  // Original indices of everything that the user pinned in this conversation, ascending, earlier segments' tokens first; borrowed. No
  // method drops them or merges them away; others may be merged into them.
  std::span<const std::int32_t> pinned{};
  const RetainedSlots* retained = nullptr;          // turn policy whole on a cache that holds something; borrowed
  const PerLayer<std::int64_t>* windows = nullptr;  // as KvShape's; borrowed, null: none
  std::span<const RowSpan> bidirectional{};         // bidirectional spans of rows, ascending (a picture's tokens); borrowed
  // For an extended segment.
  std::int64_t first_row = 0;                    // rows before it are retained slots: keys without queries
  std::span<const std::int32_t> originals{};     // per row; empty: counted from first_original
  std::span<const std::int32_t> earlier_rows{};  // per retained row: queries that saw it before this segment; empty: not followed
  KvHead first_head{};                           // number of the first of kv_heads in its layer

  // Tokens that the one after the segment sees in this layer, itself included; 0: all.
  std::int64_t window(LayerId layer) const { return slides() ? (*windows)[layer] : 0; }
  bool slides() const { return windows != nullptr && !windows->empty(); }
  // The first of them: what came before is never seen again, and competes for nothing.
  std::int32_t first_seen(LayerId layer) const {
    const std::int64_t after = first_original + tokens + 1;
    return window(layer) == 0 ? 0 : static_cast<std::int32_t>(std::max<std::int64_t>(0, after - window(layer)));
  }
  std::int32_t original(std::int64_t row) const {
    return originals.empty() ? first_original + static_cast<std::int32_t>(row) : originals[static_cast<std::size_t>(row)];
  }
  // Queries that saw this key so far; in a layer with a window, of the rows that are left.
  std::int64_t rows_that_saw(std::int64_t row) const {
    const RowSpan* const whole = span_of(bidirectional, row);
    if (row >= first_row) return tokens - (whole != nullptr ? whole->first : row);
    return tokens - first_row + (earlier_rows.empty() ? 0 : earlier_rows[static_cast<std::size_t>(row)]);
  }
  // Leading rows whose original index is below `limit`.
  std::int64_t rows_before(std::int64_t limit) const {
    if (originals.empty()) return std::clamp<std::int64_t>(limit - first_original, 0, tokens);
    return std::lower_bound(originals.begin(), originals.end(), limit) - originals.begin();
  }

  // Row of the last attached token; -1 if there is none.
  std::int64_t last_visual() const {
    for (std::int64_t row = tokens - 1; row >= 0; --row) {
      if (is_attached(modality[static_cast<std::size_t>(row)])) return row;
    }
    return -1;
  }
  // Rows from the first attached token to the last: the first, and how many; none without an attached token.
  std::pair<std::int64_t, std::int64_t> context_rows() const {
    const std::int64_t first = std::find_if(modality.begin(), modality.end(), is_attached) - modality.begin();
    return {first, std::max<std::int64_t>(0, last_visual() + 1 - first)};
  }
  // Pinned rows, ascending.
  std::vector<std::int32_t> pinned_rows() const {
    std::vector<std::int32_t> rows;
    for (const std::int32_t token : pinned) {
      const std::int64_t row = rows_before(token);
      if (row < tokens && original(row) == token) rows.push_back(static_cast<std::int32_t>(row));
    }
    return rows;
  }
};

}  // namespace winnow
