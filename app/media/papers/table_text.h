// The cells of an Excel document (.xlsx) as text: sheet after sheet, a row a line, cells parted by "|".
//
// Used by papers.h. Cells hold what was last computed; formulas are not. Dates are told by their cells' formats and written as 2026-11-29.
// Beyond kMostSheets and kMostRows a notice says what was left. Errors: archive.h; kDamagedFile. Pure.
#pragma once

#include <vector>

#include "app/media/papers/archive.h"
#include "app/media/papers/marked_text.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

inline constexpr int kMostSheets = 50;
inline constexpr int kMostRows = 50'000;  // of a sheet

void readSheets(Archive& archive, MarkedText& into, std::vector<MediaNotice>& notices);

}  // namespace winnow::app
