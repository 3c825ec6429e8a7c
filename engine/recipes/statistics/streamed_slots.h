// Statistics of a kv head's slots of media that come in clips, when a clip has been read (phase stream). Plain numbers, no torch.
//
// Computed by engine/compression/statistics/streamed_keys.h as a scorer declares it, read by Scorer::stream_scores().
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/index.h"

namespace winnow {

// Lists have one entry per slot, in slot order; empty: nobody asked.
struct StreamedSlots {
  LayerId layer{0};
  KvHead head{0};
  std::vector<std::int32_t> originals;  // the tokens' original indices; always there
  std::vector<float> key_likeness;      // cosine between a key and the mean direction of the head's keys
  std::vector<float> value_norms;       // Euclidean
  std::vector<float> change;            // minus the mean cosine between a key and those of the same place in the newest frames; -1 to 1
  std::vector<std::uint8_t> recent;     // 1: of the newest frames themselves; with change
};

}  // namespace winnow
