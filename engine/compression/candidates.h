// Who competes in a compression event: the new segment's tokens, or, with turn policy whole, also the slots of earlier turns before them.
//
// Made once per event by SegmentCompressor. Statistics, scorers and allocators see one SegmentInfo per set of candidates: usually one for
// all KV heads of a layer. If the heads of a layer hold different tokens, every head has its own set. Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/compression/retained_slots.h"
#include "engine/layers/layer_view.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/slot_choice.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

struct Candidates : CandidateRows {
  const RetainedSlots* retained = nullptr;
  LayerId layer;
  std::int32_t first_seen = 0;  // as SegmentInfo::first_seen()

  // The view that statistics use: retained keys become keys of the segment.
  LayerView view_of(const LayerView& view) const;
  // Adds the attention that retained rows got in earlier turns. rows of `statistics`: all, or the last `local_rows`.
  void add_earlier(RowStatistics& statistics, std::int64_t local_rows) const;

 private:
  LayerView seen_of(const LayerView& view) const;
};

class CandidateSets {
 public:
  explicit CandidateSets(const SegmentInfo& segment);
  CandidateSets(CandidateSets&&) noexcept = default;
  CandidateSets& operator=(CandidateSets&&) noexcept = default;

  std::span<const Candidates> of_layer(LayerId layer) const;
  const Candidates& of(LayerId layer, KvHead kv_head) const { return of_layer(layer)[set_index(layer, kv_head)]; }
  std::size_t set_index(LayerId layer, KvHead kv_head) const { return of_layer(layer).size() > 1 ? static_cast<std::size_t>(kv_head) : 0; }
  // This head's row in its set's HeadScores.
  std::int64_t row_of(LayerId layer, KvHead kv_head) const { return of_layer(layer).size() > 1 ? 0 : kv_head; }

 private:
  PerLayer<std::vector<Candidates>> layers_;  // one entry for all layers without retained slots and windows
};

}  // namespace winnow
