// Which tokens a row attends to, if that is not simply itself and all before it: of its segment, and of the slots before the segment in a
// sliding-window layer.
//
// Read by engine/layers/attention.h. Windows within a segment are given by methods that read media through one (ReKV, arXiv 2503.00540),
// and by what a model says of its pictures (VisionLanguageModel::bidirectional_spans).
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "engine/base/index.h"
#include "engine/base/row_span.h"

namespace winnow {

struct AttentionWindow {
  std::int64_t tokens = 0;  // last ones that a row sees, itself included; 0: all
  std::int64_t lead = 0;    // first ones of the segment that every row sees beside them, as it does what is cached
  // Ascending, apart from each other: rows of such a span see all of it, those that come later and those that a window hides, too.
  std::vector<RowSpan> bidirectional{};
  bool hides_of_spans = false;  // rows of a span see what comes later in it, but not what the window hides (Gemma 4)
  bool operator==(const AttentionWindow&) const = default;
};

// Which earlier slots a segment's rows attend to in a sliding-window layer.
//
// Made by a decoder for each layer's prefill, read by attention.h and, through LayerView, by statistics. Rows are a segment's tokens with
// consecutive original indices; slots may be any earlier tokens in any order, and differ between heads. A row sees tokens less than a
// window older than itself. Without a window it sees everything.
struct PastWindow {
  std::int64_t tokens = 0;          // most recent ones that a row sees, itself included; 0: all, and the fields below are empty
  std::int32_t first_original = 0;  // of the segment
  std::vector<std::vector<std::int32_t>> original;  // per KV head, of the slots before the segment; empty without a window

  // bool [rows, slots] on `device`, true where the row does not see the slot; undefined if every row sees all of them.
  at::Tensor hidden(KvHead head, RowSpan rows, RowSpan slots, at::Device device) const;
  // For a segment's rows, [rows, columns]: true where the column is a window or more before the row; undefined if none is.
  at::Tensor hidden_columns(RowSpan rows, RowSpan columns, at::Device device) const;
  // Slots of a head whose tokens are at or after `first`, in slot order.
  std::vector<std::int64_t> slots_from(KvHead head, std::int32_t first) const;
};

}  // namespace winnow
