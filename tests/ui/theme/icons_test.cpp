// Icons are built in, painted in the colour that is asked for and within their square.
#include "ui/theme/icons.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <set>

namespace winnow::ui {
namespace {

QImage painted(Glyph glyph, const QColor& color) {
  QImage image(48, 48, QImage::Format_ARGB32);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  paintGlyph(painter, glyph, QRectF(0, 0, 48, 48), color);
  return image;
}

TEST(Icons, EveryGlyphIsAFileOfItsOwnInTheColourThatIsAskedFor) {
  std::set<QByteArray> seen;
  for (int i = static_cast<int>(Glyph::kAttach); i <= static_cast<int>(Glyph::kDocument); ++i) {
    const QImage image = painted(static_cast<Glyph>(i), QColor(200, 30, 40));
    int inked = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        const QColor pixel = image.pixelColor(x, y);
        if (pixel.alpha() < 250) continue;
        ++inked;
        EXPECT_NEAR(pixel.red(), 200, 2) << i;
        EXPECT_NEAR(pixel.green(), 30, 2) << i;
      }
    }
    EXPECT_GT(inked, 20) << i;
    EXPECT_TRUE(seen.insert(QByteArray(reinterpret_cast<const char*>(image.constBits()), image.sizeInBytes())).second) << i;
  }
}

TEST(Icons, KeepTheOpacityOfTheirColour) {
  const QImage image = painted(Glyph::kStop, QColor(0, 0, 0, 100));
  EXPECT_NEAR(image.pixelColor(24, 24).alpha(), 100, 2);
}

TEST(Icons, TheProgramHasAMark) {
  const QImage image = applicationIcon().pixmap(64, 64).toImage();
  EXPECT_EQ(image.pixelColor(4, 32), QColor(0x0f, 0x6b, 0x5c));
}

}  // namespace
}  // namespace winnow::ui
