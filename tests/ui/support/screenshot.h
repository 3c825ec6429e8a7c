// Saves what a widget shows as a PNG for people to look at: in the build's screenshots folder, and in WINNOW_SCREENSHOT_DIR where that is
// set.
#pragma once

#include <gtest/gtest.h>

#include <QDir>
#include <QImage>
#include <QPixmap>
#include <QWidget>
#include <QtTest/QTest>

namespace winnow::test {

inline void saveScreenshot(const QString& name, QWidget* shown) {
  QTest::qWait(150);
  const QImage image = shown->grab().toImage();
  ASSERT_FALSE(image.isNull());
  QStringList folders{QStringLiteral(WINNOW_SCREENSHOTS)};
  const QString wanted = qEnvironmentVariable("WINNOW_SCREENSHOT_DIR");
  if (!wanted.isEmpty()) folders << wanted;
  for (const QString& folder : folders) {
    ASSERT_TRUE(QDir().mkpath(folder));
    ASSERT_TRUE(image.save(QDir(folder).filePath(name + QStringLiteral(".png"))));
  }
}

}  // namespace winnow::test
