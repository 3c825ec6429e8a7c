// The program's own line icons (resources/icons, built in): sharp at every scale and zoom, coloured from the palette when painted.
//
// Used by every button of ui. A new one is an SVG file on a grid of 24 x 24 that says currentColor, and its name here. UI thread only.
#pragma once

#include <QIcon>

class QPainter;
class QRectF;

namespace winnow::ui {

enum class Glyph : int {
  kAttach = 1,
  kSend,
  kStop,
  kPlus,
  kTrash,
  kCopy,
  kRefresh,
  kSidebar,
  kPanel,
  kClose,
  kImage,
  kFilm,
  kChevronDown,
  kChevronLeft,
  kChevronRight,
  kPencil,
  kCheck,
  kWarning,
  kInfo,
  kFolder,
  kChip,
  kArrowDown,
  kChat,
  kPin,
  kColumns,
  kDiffers,
  kGrid,
  kPlay,
  kPause,
  kSliders,
  kDocument,
};

// Paints the glyph into rect (its largest centred square) in one colour.
void paintGlyph(QPainter& painter, Glyph glyph, const QRectF& rect, const QColor& color);

// Takes the colour of the palette of the theme when it is painted; `onAccent` for buttons filled with the accent colour.
enum class IconColor : int { kText = 1, kMuted = 2, kOnAccent = 3, kDanger = 4 };
QIcon icon(Glyph glyph, IconColor color = IconColor::kText);

// The mark of the program: a grain ear in the accent colour.
QIcon applicationIcon();

}  // namespace winnow::ui
