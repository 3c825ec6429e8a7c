// Similar tokens share a kept slot and are told apart by a look-up table, the least of them are discarded (EMS, arXiv 2412.08521, section
// 4.2, appendix A). What is stored then is kv_cache/shared_entries.h; the arithmetic is compression/reducers/shared_entries.h.
#pragma once

#include "engine/kv_cache/shared_entries.h"
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
  std::optional<Refusal> fits(const Composition& parts) const override;
  const SharingRule* sharing() const override { return &rule_; }

 private:
  SharingRule rule_;
};

}  // namespace winnow
