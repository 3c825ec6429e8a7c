// main() of the window's tests: no display, one font, one language, so that pictures and sizes are the same everywhere.
//
// WINNOW_TEST_FONT names another font, to see the same layouts with narrower or wider letters. A font that is not installed is an error:
// Qt would take another one, and a test of sizes would say nothing.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFontInfo>
#include <QLocale>
#include <cstdio>

#include "app/words/english_plurals.h"
#include "ui/theme/theme.h"

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  testing::InitGoogleTest(&argc, argv);
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedKingdom));
  QApplication application(argc, argv);
  QFont font(qEnvironmentVariable("WINNOW_TEST_FONT", QStringLiteral("DejaVu Sans")));
  font.setPointSizeF(10.5);
  if (QFontInfo(font).family() != font.family()) {
    std::fprintf(stderr, "the font “%s” is not installed: packaging/deps/debian.txt names its package\n", qPrintable(font.family()));
    return 1;
  }
  QApplication::setFont(font);
  winnow::app::installEnglishPlurals(application);
  winnow::ui::theme().install(application);
  return RUN_ALL_TESTS();
}
