// Which tokens of a segment a row attends to, if that is not simply itself and all before it.
//
// Read by engine/layers/attention.h; given by methods that read media through a window (ReKV, arXiv 2503.00540), and by what a model says
// of its pictures (VisionLanguageModel::bidirectional_spans). No torch.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace winnow
