// Colours of heat-maps: from the background's side of the palette to the far side, even in lightness, told apart with every kind of colour
// blindness.
//
// Used by ui/kept_map. Follows the theme: pale to dark in the light one, dark to pale in the dark one. UI thread only.
#pragma once

#include <QColor>

namespace winnow::ui {

// A share in [0, 1]. The scale is that of the square root: what methods keep is mostly under a fifth.
QColor shareColor(double share);
// The same of the light theme whatever the present one: for what is printed.
QColor shareColorOnPaper(double share);
// A difference of shares in [-1, 1]: blue below zero, neutral at zero, orange above; square root to both sides.
QColor differenceColor(double difference);
// The colour of text on such a colour.
QColor inkOn(const QColor& ground);

}  // namespace winnow::ui
