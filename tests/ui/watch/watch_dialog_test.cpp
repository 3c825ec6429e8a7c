// What can be typed in to be watched, and what comes of it.
#include "ui/watch/watch_dialog.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSpinBox>
#include <QtTest>
#include <optional>

namespace winnow::ui {
namespace {

using Kind = app::WatchRequest::Kind;

class WatchDialogTest : public testing::Test {
 protected:
  WatchDialogTest() {
    dialog->setAttribute(Qt::WA_DeleteOnClose, false);
    QObject::connect(dialog.get(), &WatchDialog::watchRequested, [this](const app::WatchRequest& request) { asked = request; });
    dialog->show();
  }
  void choose(Kind kind) { dialog->kind()->setCurrentIndex(dialog->kind()->findData(int(kind))); }

  std::optional<app::WatchRequest> asked;
  std::unique_ptr<WatchDialog> dialog =
      std::make_unique<WatchDialog>(WatchCosts{8192, 9}, std::vector<app::Camera>{{"/dev/video0", "Integrated Camera"}});
};

TEST_F(WatchDialogTest, BeginsWithTheFirstCamera) {
  EXPECT_EQ(dialog->address()->text(), QStringLiteral("/dev/video0"));
  EXPECT_FALSE(dialog->browseButton()->isVisible());
  EXPECT_EQ(dialog->watchButton()->text(), QStringLiteral("Watch"));
  dialog->watchButton()->click();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->kind, Kind::kCamera);
  EXPECT_EQ(asked->address, "/dev/video0");
  EXPECT_EQ(asked->everyS, 0.5);
  EXPECT_EQ(asked->capSlots, 2000);
}

TEST_F(WatchDialogTest, EveryKindHasItsHintAndRemembersItsAddress) {
  QStringList hints;
  for (const Kind kind : {Kind::kCamera, Kind::kScreen, Kind::kNetwork}) {
    choose(kind);
    EXPECT_TRUE(dialog->problem().isEmpty());
    hints << dialog->hint();
  }
  EXPECT_EQ(hints[0], QString()) << "what is chosen by its name needs no explanation";
  EXPECT_EQ(hints[1], QString());
  EXPECT_FALSE(hints[2].isEmpty());
  dialog->address()->setText(QStringLiteral("udp://10.0.0.7:5000"));
  choose(Kind::kScreen);
  EXPECT_EQ(dialog->address()->text(), QStringLiteral("screen:"));
  choose(Kind::kNetwork);
  EXPECT_EQ(dialog->address()->text(), QStringLiteral("udp://10.0.0.7:5000"));
}

TEST_F(WatchDialogTest, WithoutACameraNoneIsChosen) {
  dialog = std::make_unique<WatchDialog>(WatchCosts{}, std::vector<app::Camera>{});
  dialog->setAttribute(Qt::WA_DeleteOnClose, false);
  dialog->show();
  EXPECT_EQ(dialog->kind()->currentData().toInt(), int(Kind::kScreen));
  EXPECT_EQ(dialog->kind()->itemText(0), QStringLiteral("Camera (none was found)"));
  choose(Kind::kCamera);
  EXPECT_TRUE(dialog->address()->isVisible()) << "a device can still be named";
}

TEST_F(WatchDialogTest, TheScreenIsChosenWithoutAnAddress) {
  choose(Kind::kScreen);
  EXPECT_TRUE(dialog->screen()->isVisible());
  EXPECT_FALSE(dialog->address()->isVisible());
  dialog->screen()->setCurrentIndex(1);
  EXPECT_TRUE(dialog->address()->isVisible());
  EXPECT_FALSE(dialog->hint().isEmpty());
  dialog->screen()->setCurrentIndex(0);
  dialog->watchButton()->click();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->address, "screen:");
}

TEST_F(WatchDialogTest, WhatCannotWorkCannotBeWatched) {
  choose(Kind::kNetwork);
  for (const char* wrong : {"", "127.0.0.1:9000", "tcp://", "://camera"}) {
    dialog->address()->setText(QLatin1String(wrong));
    EXPECT_FALSE(dialog->watchButton()->isEnabled()) << wrong;
    EXPECT_EQ(dialog->hint(), dialog->problem());
    dialog->accept();
    EXPECT_FALSE(asked) << wrong;
  }
  dialog->address()->setText(QStringLiteral("  tcp://127.0.0.1:9000 "));
  EXPECT_TRUE(dialog->watchButton()->isEnabled());
  dialog->watchButton()->click();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->address, "tcp://127.0.0.1:9000");
}

TEST_F(WatchDialogTest, AFileIsChosenOrNamed) {
  choose(Kind::kFile);
  EXPECT_TRUE(dialog->browseButton()->isVisible());
  EXPECT_FALSE(dialog->watchButton()->isEnabled());
  dialog->address()->setText(QStringLiteral("/videos/growing.mkv"));
  dialog->every()->setValue(2.0);
  dialog->cap()->setValue(640);
  dialog->watchButton()->click();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->kind, Kind::kFile);
  EXPECT_EQ(asked->address, "/videos/growing.mkv");
  EXPECT_EQ(asked->everyS, 2.0);
  EXPECT_EQ(asked->capSlots, 640);
}

TEST_F(WatchDialogTest, EnterWatchesAndOpensNoChooser) {
  choose(Kind::kFile);
  dialog->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(dialog.get()));
  // The chooser's button had the focus on the way to the address.
  dialog->browseButton()->setFocus();
  dialog->address()->setFocus();
  QTest::keyClicks(dialog->address(), QStringLiteral("/videos/growing.mkv"));
  QTest::keyClick(dialog->address(), Qt::Key_Return);
  EXPECT_TRUE(dialog->findChildren<QFileDialog*>().isEmpty());
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->address, "/videos/growing.mkv");
  // Beside it the button only chooses when it is pressed itself.
  EXPECT_FALSE(dialog->browseButton()->autoDefault());
}

TEST_F(WatchDialogTest, TheCapIsToldAsMemoryAndAsTime) {
  // 2,000 tokens of 8 KiB; 222 frames of 9 tokens, one every half second.
  EXPECT_EQ(dialog->cost(), QStringLiteral("About 15.6 MiB of memory. Keeps the first 1:51 in full, then the most useful parts."));
  dialog->every()->setValue(1.0);
  dialog->cap()->setValue(900);
  EXPECT_EQ(dialog->cost(), QStringLiteral("About 7.0 MiB of memory. Keeps the first 1:40 in full, then the most useful parts."));
  const WatchDialog unknown({}, {});
  EXPECT_EQ(unknown.cost(), QString());
}

TEST_F(WatchDialogTest, CamerasAreChosenByTheirNames) {
  dialog =
      std::make_unique<WatchDialog>(WatchCosts{}, std::vector<app::Camera>{{"/dev/video0", "Integrated Camera"}, {"/dev/video2", "Desk"}});
  dialog->setAttribute(Qt::WA_DeleteOnClose, false);
  QObject::connect(dialog.get(), &WatchDialog::watchRequested, [this](const app::WatchRequest& request) { asked = request; });
  dialog->show();
  EXPECT_EQ(dialog->camera()->currentText(), QStringLiteral("Integrated Camera"));
  EXPECT_FALSE(dialog->address()->isVisible());
  dialog->camera()->setCurrentIndex(1);
  dialog->camera()->setCurrentIndex(2);
  EXPECT_TRUE(dialog->address()->isVisible()) << "another device is typed in";
  choose(Kind::kNetwork);
  EXPECT_FALSE(dialog->camera()->isVisible());
  EXPECT_TRUE(dialog->address()->isVisible());
  choose(Kind::kCamera);
  dialog->camera()->setCurrentIndex(1);
  dialog->watchButton()->click();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->address, "/dev/video2");
}

TEST_F(WatchDialogTest, SaysWhatBecomesOfTheFrames) {
  bool said = false;
  for (const QLabel* label : dialog->findChildren<QLabel*>()) said = said || label->text().contains(QStringLiteral("Frames are not saved"));
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace winnow::ui
