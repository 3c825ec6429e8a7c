// Similar tokens share a kept slot and are told apart by a look-up table, the least of them are discarded (EMS, arXiv 2412.08521, section
// 4.2, appendix A). What is stored then is kv_cache/shared_entries.h; the arithmetic is compression/reducers/shared_entries.h.
#pragma once

#include "engine/kv_cache/shared_entries.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/reducers/reducer.h"

namespace winnow {

struct SharingRule {
  double magnification = 4.0;     // tokens per stored slot, window aside (gamma_m)
  double least_similarity = 0.6;  // product of key and value cosine for sharing (tau)
  SharedEntries::Rotation rotation = SharedEntries::Rotation::kStored;
  bool zero_counts = false;
};

class SharedEntriesReducer : public Reducer {
 public:
  explicit SharedEntriesReducer(const SharingRule& rule = {}) : rule_(rule) {}
  std::string name() const override { return "shared-entries"; }
  std::optional<Refusal> fits(const Composition& parts) const override {
    if (parts.phase != MethodPhase::kDecode)
      return Refusal{"method", "slots are shared at the event and while decoding; this method has one event only"};
    // Tokens of a shared slot are weighed by what the last rows gave them, too.
    if (parts.decode.local_rows < 1) return Refusal{"reducer", "sharing slots needs the scorer global-local"};
    if (parts.granularity == Granularity::kLayer) return Refusal{"granularity", "sharing slots needs a set per kv head"};
    if (parts.scope == Scope::kVisual) return Refusal{"scope", "sharing slots is made for all tokens"};
    if (parts.protection.window < 1) return Refusal{"window", "sharing slots needs a window of recent tokens"};
    return std::nullopt;
  }
  const SharingRule* sharing() const override { return &rule_; }

 private:
  SharingRule rule_;
};

}  // namespace winnow
