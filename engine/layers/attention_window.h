// Which earlier tokens of a segment a row attends to, where that is not all of them.
//
// Read by engine/layers/attention.h; given by methods that read media through a window (ReKV, arXiv 2503.00540). No torch.
#pragma once

#include <cstdint>

namespace winnow {

struct AttentionWindow {
  std::int64_t tokens = 0;  // last ones that a row sees, itself included; 0: all
  std::int64_t lead = 0;    // first ones of the segment that every row sees beside them, as it does what is cached
  bool operator==(const AttentionWindow&) const = default;
};

}  // namespace winnow
