// main() of the window's tests: no display, one font, one language, so that pictures and sizes are the same everywhere.
#include <gtest/gtest.h>

#include <QApplication>
#include <QLocale>

#include "engine/base/error.h"
#include "ui/theme/theme.h"
#include "ui/words/english_plurals.h"

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  testing::InitGoogleTest(&argc, argv);
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedKingdom));
  QApplication application(argc, argv);
  QFont font(QStringLiteral("Noto Sans"));
  font.setPointSizeF(10.5);
  QApplication::setFont(font);
  winnow::ui::installEnglishPlurals(application);
  winnow::ui::theme().install(application);
  return RUN_ALL_TESTS();
}
