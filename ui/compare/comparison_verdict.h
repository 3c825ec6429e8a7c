// The outcome of a comparison in one sentence: which methods say what the reference says, and with how much of its memory.
//
// Used by comparison_view.h. UI thread only (translations).
#pragma once

#include <QString>

namespace winnow::ui {

class ComparisonModel;

// "All 3 say the same; SnapKV · 10 % with 11 % of the memory." Empty while it runs, and where fewer than two answers came to their end.
// Answers are the same if they have the same words.
QString comparisonVerdict(const ComparisonModel& model);

}  // namespace winnow::ui
