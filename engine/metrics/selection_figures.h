// The full cache's attention to a choice of slots, over one answer: figures as plain data (definitions: selection_quality.h).
//
// Made by engine/generation/answer/selection_judge.h in the teacher-forced pass, used in events and by evaluations. Attention rows are
// those of the answer's tokens in the full cache, mean over a kv head's group of query heads; every figure is a mean over layers, kv heads
// and rows.
#pragma once

#include <optional>
#include <vector>

#include "engine/metrics/fields_of.h"

namespace winnow {

struct SelectionFigures {
  // Share of the best prompt columns that were kept, as many as were kept, by the first row. Absent where the method took tokens out of the
  // prompt itself, so that columns do not stand for the same tokens.
  std::optional<double> hit_rate;
  // Per layer, at the first token that was read on the compressed cache; empty if there is none.
  std::vector<double> output_error;
  double visual_contribution = 0.0;  // share of the attention to the prompt that goes to images and videos; threshold 0.01
  double visual_coverage = 0.0;      // share of them among the best columns, as many as the method kept of the prompt
  double sparsity = 0.0;             // of the rows; threshold 0.01
  // Share of the attention to the prompt that goes to columns that were kept; absent where hit_rate is.
  std::optional<double> kept_attention;

  friend bool operator==(const SelectionFigures&, const SelectionFigures&) = default;
};
WINNOW_FIELDS(SelectionFigures, hit_rate, output_error, visual_contribution, visual_coverage, sparsity, kept_attention)

}  // namespace winnow
