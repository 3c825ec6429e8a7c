// Selects a head's rows for a number of slots: pins, rows that the composition protects, then the best scored.
//
// Used by SegmentCompressor, once per layer and kv head. How many stay never depends on the scores. Immutable, no torch. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/recipes/composition.h"
#include "engine/recipes/segment_info.h"

namespace winnow {

// Rows that compete for the slots of one kv head, or of all heads of a layer that hold the same tokens. Numbers only, no torch.
//
// Made by compression/candidates.h, read by SlotChoice.
struct CandidateRows {
  CandidateRows() = default;
  CandidateRows(CandidateRows&&) noexcept = default;  // what info borrows moves along; a copy would borrow from the original
  CandidateRows& operator=(CandidateRows&&) noexcept = default;

  // Fills what follows from info.
  void find_rows() {
    for (std::int32_t row = 0; row < info.tokens; ++row) {
      if (is_attached(info.modality[static_cast<std::size_t>(row)])) visual.push_back(row);
    }
    for (std::int32_t row = visual.empty() ? 0 : visual.front(); !visual.empty() && row <= visual.back(); ++row) context.push_back(row);
    pinned = info.pinned_rows();
  }

  SegmentInfo info;  // borrows from the segment, or from modality and originals
  std::vector<Modality> modality;
  std::vector<std::int32_t> originals;
  std::vector<RowSpan> bidirectional;  // as info's
  std::vector<std::int32_t> visual;    // rows of visual tokens, ascending
  std::vector<std::int32_t> context;   // from the first visual token to the last
  std::vector<std::int32_t> pinned;    // rows that the user pinned, ascending
};

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
