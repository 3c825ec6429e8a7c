// The places of words in a text that is shown: case does not matter, and a line's end counts as a space.
//
// Used by whatever looks for words in a text. Plain function, any thread.
#pragma once

#include <QString>
#include <utility>
#include <vector>

namespace winnow::app {

// [from, to) each, in order, not overlapping. Empty words stand nowhere.
std::vector<std::pair<int, int>> placesOfWords(QString text, const QString& words);

}  // namespace winnow::app
