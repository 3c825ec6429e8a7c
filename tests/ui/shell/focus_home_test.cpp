// What is typed after something was left goes into the box: however it was opened, and however it was left.
#include <QDialog>
#include <QListView>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>

#include "tests/ui/support/window_fixture.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/description_dialog.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/method_control.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/kept_map/kept_map_dialog.h"
#include "ui/recipes/method_picker.h"
#include "ui/recipes/recipe_editor.h"
#include "ui/settings_view/chat_settings_dialog.h"
#include "ui/settings_view/settings_dialog.h"
#include "ui/shell/chat/conversation_sidebar.h"
#include "ui/shell/window/shortcuts_dialog.h"
#include "ui/theme/popup_card.h"
#include "ui/watch/watch_dialog.h"

namespace winnow::test {
namespace {

class FocusHome : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    m_script = default_script;
    m_window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
  }
  // What a window manager does when a dialog closes, and the offscreen platform does not.
  void backToTheWindow() {
    QTest::qWait(10);  // the platform hears first that the dialog is gone
    if (QApplication::activeWindow() == m_window.get()) return;
    m_window->activateWindow();
    ASSERT_TRUE(waitUntil([this] { return QApplication::activeWindow() == m_window.get(); }));
  }
  void key(int which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus != nullptr ? focus : m_window.get(), static_cast<Qt::Key>(which), modifiers);
  }
  void expectTypedIntoTheBox(const char* what) {
    backToTheWindow();
    EXPECT_TRUE(waitUntil([this] { return composer()->prompt()->hasFocus(); }))
        << what << ": the focus is in "
        << (QApplication::focusWidget() ? QApplication::focusWidget()->metaObject()->className() : "nothing");
    composer()->prompt()->clear();
    key(Qt::Key_X);
    EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("x")) << what;
    composer()->prompt()->clear();
  }
  void compare() {
    composer()->prompt()->setFocus();
    composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
    key(Qt::Key_K, Qt::ControlModifier);
    key(Qt::Key_Return);
    ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && !session().answers.busy(); }));
  }
  template <class Dialog>
  Dialog* shown() {
    Dialog* found = nullptr;
    EXPECT_TRUE(waitUntil([&] {
      for (auto* dialog : m_window->findChildren<Dialog*>()) found = dialog->isVisible() ? dialog : found;
      return found != nullptr;
    }));
    if (found != nullptr) found->activateWindow();
    EXPECT_TRUE(found != nullptr && QTest::qWaitForWindowActive(found));
    return found;
  }
  // Opened by its key from the box, left by Esc and by its closing button.
  template <class Dialog>
  void expectDialogLeadsBack(const char* what, int which, Qt::KeyboardModifiers modifiers) {
    for (const bool byButton : {false, true}) {
      SCOPED_TRACE(what);
      composer()->prompt()->setFocus();
      key(which, modifiers);
      auto* dialog = shown<Dialog>();
      ASSERT_NE(dialog, nullptr);
      if (byButton) {
        dialog->close();
      } else {
        QTest::keyClick(dialog, Qt::Key_Escape);
      }
      expectTypedIntoTheBox(what);
      QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
  }
};

TEST_F(FocusHome, AfterEveryDialog) {
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  ask(QStringLiteral("What color is the star?"));
  expectDialogLeadsBack<ui::SettingsDialog>("settings", Qt::Key_Comma, Qt::ControlModifier);
  expectDialogLeadsBack<ui::ShortcutsDialog>("shortcuts", Qt::Key_Slash, Qt::ControlModifier);
  expectDialogLeadsBack<ui::ChatSettingsDialog>("chat settings", Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
  expectDialogLeadsBack<ui::KeptMapDialog>("kept tokens", Qt::Key_T, Qt::ControlModifier);
  expectDialogLeadsBack<ui::MethodPicker>("methods", Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
  expectDialogLeadsBack<ui::RecipeEditor>("recipe", Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
}

TEST_F(FocusHome, AfterTheMethodCard) {
  composer()->prompt()->setFocus();
  key(Qt::Key_M, Qt::ControlModifier);
  ASSERT_TRUE(composer()->method()->card()->isVisible());
  QTest::keyClick(composer()->method()->card(), Qt::Key_Escape);
  expectTypedIntoTheBox("method card");
}

TEST_F(FocusHome, AfterAComparisonLeftByEscapeAndByItsButton) {
  compare();
  key(Qt::Key_Escape);
  ASSERT_FALSE(m_window->page().showsComparison());
  expectTypedIntoTheBox("comparison, Esc in the box");
  compare();
  inWindow<ui::ComparisonView>()->columns()[1]->header()->setFocus(Qt::TabFocusReason);
  key(Qt::Key_Escape);
  ASSERT_FALSE(m_window->page().showsComparison());
  expectTypedIntoTheBox("comparison, Esc in a column");
  compare();
  for (auto* button : inWindow<ui::ComparisonView>()->findChildren<QToolButton*>())
    if (button->accessibleName() == QStringLiteral("Back to the chat")) button->setFocus(Qt::TabFocusReason);
  key(Qt::Key_Space);
  ASSERT_FALSE(m_window->page().showsComparison());
  expectTypedIntoTheBox("comparison, Back");
  compare();
  QWidget* use = inWindow<ui::ComparisonView>()->columns()[1]->useButton();
  ASSERT_TRUE(waitUntil([use] { return use->isEnabled(); }));
  use->setFocus(Qt::TabFocusReason);
  key(Qt::Key_Return);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison(); }));
  expectTypedIntoTheBox("comparison, an answer used");
}

// A click took the keyboard, and what was typed then was lost.
TEST_F(FocusHome, WhatIsTypedBesideTheBoxGoesIntoIt) {
  ask(QStringLiteral("first"));
  QWidget* places[] = {m_window->sidebar()->list(), transcript(), m_window->inspector()->tabs()->tabBar(), m_window->inspector()->table()};
  m_window->inspector()->tabs()->setCurrentIndex(2);
  ASSERT_TRUE(waitUntil([this] { return m_window->inspector()->table()->isVisible() && m_window->sidebar()->selected() != 0; }));
  for (QWidget* place : places) {
    composer()->prompt()->clear();
    place->setFocus(Qt::MouseFocusReason);
    ASSERT_EQ(QApplication::focusWidget(), place);
    for (const QChar letter : QStringLiteral("Who is it?")) QTest::keyClick(QApplication::focusWidget(), letter.toLatin1());
    EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("Who is it?")) << place->metaObject()->className();
  }
  m_window->sidebar()->renameSelected();
  QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("new"));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("Who is it?")) << "a name is typed where it stands";
}

TEST_F(FocusHome, AfterTheChoiceOfMethods) {
  composer()->prompt()->setFocus();
  key(Qt::Key_K, Qt::ControlModifier);
  EXPECT_TRUE(composer()->prompt()->hasFocus()) << "Enter asks";
  key(Qt::Key_Escape);
  ASSERT_TRUE(inWindow<ui::ComparisonSetup>()->isHidden());
  expectTypedIntoTheBox("choice of methods");
}

TEST_F(FocusHome, AfterThePanelAndItsTimeline) {
  m_window->setPanelVisible(true);
  for (int page = 0; page < m_window->inspector()->tabs()->count(); ++page) {
    m_window->setPanelVisible(true);
    m_window->inspector()->tabs()->setCurrentIndex(page);
    m_window->inspector()->tabs()->tabBar()->setFocus(Qt::TabFocusReason);
    key(Qt::Key_J, Qt::ControlModifier);
    ASSERT_FALSE(m_window->inspector()->isVisible());
    expectTypedIntoTheBox("panel");
  }
}

TEST_F(FocusHome, AfterAButtonThatHasDoneItsWork) {
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  // The dialog's opener is gone when it closes.
  QWidget opener(composer());
  opener.setFocusPolicy(Qt::StrongFocus);
  opener.show();
  opener.setFocus();
  (new ui::DescriptionDialog({}, true, {}, m_window.get()))->open();
  auto* dialog = shown<ui::DescriptionDialog>();
  ASSERT_NE(dialog, nullptr);
  opener.hide();
  dialog->close();
  expectTypedIntoTheBox("what is kept");
  m_window->page().watchSource();
  auto* watch = shown<ui::WatchDialog>();
  ASSERT_NE(watch, nullptr);
  watch->reject();
  expectTypedIntoTheBox("watch");
}

// The card had the keyboard then, and a "p" in the question pinned a picture.
TEST_F(FocusHome, IsNotTakenByAPictureThatIsClicked) {
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  composer()->prompt()->setFocus();
  ui::AttachmentCard* card = composer()->tray()->card(0);
  ASSERT_NE(card->strip(), nullptr);
  ASSERT_TRUE(waitUntil([this] { return m_preview->thumbnailsAsked > 0; }));
  const auto lookAt = [this](QWidget* clicked, const QPoint& at, const char* what) {
    QTest::mouseClick(clicked, Qt::LeftButton, {}, at);
    auto* viewer = shown<QDialog>();
    ASSERT_NE(viewer, nullptr) << what;
    QTest::keyClick(viewer, Qt::Key_Escape);
    expectTypedIntoTheBox(what);
  };
  lookAt(card, QPoint(12, 12), "the card");
  lookAt(card->strip(), card->strip()->pictureRect(1).center().toPoint(), "a picture of the strip");
  QTest::mouseClick(card->strip(), Qt::LeftButton, {}, card->strip()->handleRect(true).center().toPoint());
  EXPECT_TRUE(card->strip()->hasFocus()) << "arrows move the handle on";
}

TEST_F(FocusHome, IsLeftAloneWhereWhatHadItIsStillThere) {
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  QWidget* card = composer()->tray()->card(0);
  card->setFocus();
  key(Qt::Key_Return);
  QDialog* viewer = shown<QDialog>();
  ASSERT_NE(viewer, nullptr);
  QTest::keyClick(viewer, Qt::Key_Escape);
  backToTheWindow();
  EXPECT_TRUE(waitUntil([&] { return card->hasFocus(); }));
  m_window->sidebar()->list()->setFocus();
  m_window->page().startNew();
  QTest::qWait(20);
  EXPECT_NE(QApplication::focusWidget(), nullptr);
}

TEST_F(FocusHome, IsWhereARowOfTheChatsLeads) {
  ask(QStringLiteral("What color is the star?"));
  QListView* list = m_window->sidebar()->list();
  for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Space}) {
    list->setFocus();
    ASSERT_TRUE(list->currentIndex().isValid());
    QTest::keyClick(list, key);
    EXPECT_TRUE(composer()->prompt()->hasFocus());
  }
}

}  // namespace
}  // namespace winnow::test
