// How a document with pages is read where nobody says: as text, or as pictures of its pages.
//
// Shared by terminal and window. A model that reads gets text. One that sees gets the pages of a scan, which has no text, and of what has
// few pages: figures, formulas and tables are seen as they are, and a long book would fill its context. Plain functions.
#pragma once

#include <cstdint>

namespace winnow::app {

enum class PaperForm : int { kByModel = 1, kText = 2, kPages = 3 };

inline constexpr std::int64_t kFewPages = 16;

// pages: that are asked for, 0 for a document without pages; words: in all of it.
inline bool seenAsPages(std::int64_t pages, std::int64_t words) { return pages > 0 && (words == 0 || pages <= kFewPages); }

}  // namespace winnow::app
