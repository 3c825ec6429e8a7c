// Boxes and points over a picture, each in its label's colour with a rim, so that it is seen on light and dark pictures alike.
//
// Used by the transcript and by the viewers of pictures. UI thread only.
#pragma once

#include <QRectF>
#include <QString>
#include <vector>

class QPainter;

namespace winnow::ui {

struct DrawnBox {
  QRectF place;    // shares of the picture's width and height; of a point without a size
  QString label;   // may be empty
  int colour = 0;  // the number of its label among those of the answer
};

// picture: where all of it is drawn.
void paintBoxes(QPainter& painter, const QRectF& picture, const std::vector<DrawnBox>& boxes);

}  // namespace winnow::ui
