// Selects a head's rows for a number of slots: pins, rows that the composition protects, then the best scored.
//
// Used by SegmentCompressor, once per layer and kv head. How many stay never depends on the scores. Immutable, no torch. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/recipes/candidate_rows.h"
#include "engine/recipes/composition.h"

namespace winnow {

class SlotChoice {
 public:
  // kept_tail: so many last rows stay in any case (of a text segment too short for an event of its own).
  explicit SlotChoice(const Composition& parts, std::int64_t kept_tail = 0);

  // Rows that may be dropped, and the pinned ones among them.
  std::int64_t competing(const CandidateRows& rows) const;
  // Scope visual or context: which they are, and which of them (as indices) are pinned.
  const std::vector<std::int32_t>& competing_rows(const CandidateRows& rows) const;
  std::vector<std::int32_t> pinned_among(const CandidateRows& rows) const;
  // Ascending rows that stay if these (indices of competing_rows()) do.
  std::vector<std::int32_t> beside(const CandidateRows& rows, std::span<const std::int32_t> chosen) const;
  std::int64_t competing_pins(const CandidateRows& rows) const;
  // Slots protected by number: pins, and beside them sinks, the window, and one more (the last token, or room for a vote). Scope visual or
  // context: pins alone.
  std::int64_t protected_slots(const CandidateRows& rows) const;

  // Ascending rows that stay; budget: slots for those that compete. scores: one per row; protection: likewise, or empty. Text that does
  // not compete stays beside the budget.
  std::vector<std::int32_t> choose(const CandidateRows& rows, std::span<const float> scores, std::span<const float> protection,
                                   std::int64_t budget) const;
  // How many that are.
  std::int64_t count(const CandidateRows& rows, std::int64_t budget) const;

 private:
  std::vector<std::int32_t> choose_of_all(const CandidateRows& rows, std::span<const float> scores, std::span<const float> protection,
                                          std::int64_t budget) const;
  std::vector<std::int32_t> choose_of_media(const CandidateRows& rows, std::span<const float> scores, std::int64_t budget) const;
  std::vector<std::int32_t> choose_beside_text(const CandidateRows& rows, std::span<const float> scores, std::int64_t budget,
                                               std::int64_t recent) const;

  Scope scope_;
  Protection protection_;
  std::int64_t spare_;  // slots beside what is protected
  std::int64_t kept_tail_;
  bool evenly_spaced_;
};

}  // namespace winnow
