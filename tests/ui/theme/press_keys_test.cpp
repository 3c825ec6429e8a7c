// Enter and Space press whatever has the focus ring: every stop of the Tab key on every screen.
#include <QAbstractItemView>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTimer>

#include "tests/ui/support/tab_walk.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/description_dialog.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/frame_viewer.h"
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

class PressKeys : public WindowTest {
 protected:
  // How often a press of the key did what a click does, which is kept from happening; none: nothing here is clicked.
  std::optional<int> presses(QWidget* at, Qt::Key key) {
    if (auto* button = qobject_cast<QAbstractButton*>(at)) return pressesOf(*button, key);
    if (auto* box = qobject_cast<QComboBox*>(at)) {
      if (box->isEditable()) return std::nullopt;
      QTest::keyClick(box, key);
      const int opened = box->view()->isVisible() ? 1 : 0;
      box->hidePopup();
      return opened;
    }
    if (auto* card = qobject_cast<ui::AttachmentCard*>(at)) return count(card, &ui::AttachmentCard::frameActivated, key);
    if (auto* strip = qobject_cast<ui::FrameStrip*>(at)) return count(strip, &ui::FrameStrip::frameActivated, key);
    if (auto* header = qobject_cast<ui::ColumnHeader*>(at)) return count(header, &ui::ColumnHeader::aloneRequested, key);
    if (auto* list = m_window->sidebar()->list(); at == list && list->currentIndex().isValid())
      return count<QAbstractItemView>(list, &QAbstractItemView::activated, key);
    if (at == transcript()) return key == Qt::Key_Space ? std::nullopt : std::optional(menusOpenedBy(at, key));
    EXPECT_TRUE(hasNothingToClick(at)) << "unknown to this test: " << stopName(at);
    return std::nullopt;
  }

  int pressesOf(QAbstractButton& button, Qt::Key key) {
    const auto* tool = qobject_cast<const QToolButton*>(&button);
    const auto* push = qobject_cast<const QPushButton*>(&button);
    const bool menu = (tool != nullptr && tool->menu() != nullptr) || (push != nullptr && push->menu() != nullptr);
    if (menu) return menusOpenedBy(&button, key);
    const bool checked = button.isChecked();
    const int pressed = count(&button, &QAbstractButton::clicked, key);
    const QSignalBlocker quiet(&button);
    button.setChecked(checked);
    return pressed;
  }

  template <class Sender, class Signal>
  int count(Sender* sender, Signal signal, Qt::Key key) {
    QObject::disconnect(sender, signal, nullptr, nullptr);
    const QSignalSpy spy(sender, signal);
    QTest::keyClick(sender, key);
    return static_cast<int>(spy.count());
  }

  // A menu has its own event loop.
  static int menusOpenedBy(QWidget* widget, Qt::Key key) {
    int opened = 0;
    QTimer closing;
    QObject::connect(&closing, &QTimer::timeout, &closing, [&] {
      QWidget* popup = QApplication::activePopupWidget();
      if (qobject_cast<QMenu*>(popup) == nullptr) return;
      ++opened;
      popup->close();
    });
    closing.start(1);
    QTest::keyClick(widget, key);
    QTest::qWait(5);
    return opened;
  }

  // Fields for text, what is drawn with the mouse or stepped by arrows, and pages of figures that scroll.
  static bool hasNothingToClick(const QWidget* at) {
    const char* const kinds[] = {"QLineEdit",
                                 "QPlainTextEdit",
                                 "QTextEdit",
                                 "QAbstractSpinBox",
                                 "QAbstractSlider",
                                 "QTabBar",
                                 "QScrollArea",
                                 "QTableView",
                                 "QLabel",
                                 "winnow::ui::TranscriptView",
                                 "winnow::ui::KeptHeatMap",
                                 "winnow::ui::PatchView",
                                 "winnow::ui::TokenTextView"};
    if (std::any_of(std::begin(kinds), std::end(kinds), [at](const char* kind) { return at->inherits(kind); })) return true;
    if (qobject_cast<const QListView*>(at) != nullptr) return true;  // of a dialog: the row is chosen with the arrows already
    return at->actions().size() > 0;                                 // a chart, with a menu
  }

  // Both keys at every stop. Returns how many can be pressed.
  int expectBothKeysPress(QWidget* window, const char* screen) {
    SCOPED_TRACE(screen);
    int pressable = 0;
    walkByTab(window, [&](QWidget* at) {
      for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space}) {
        const std::optional<int> pressed = presses(at, key);
        at->setFocus(Qt::TabFocusReason);
        if (!pressed) continue;
        EXPECT_EQ(*pressed, 1) << stopName(at) << (key == Qt::Key_Space ? ", Space" : ", Enter");
        ++pressable;
      }
    });
    return pressable / 3;
  }

  void attach(const char* path) {
    composer()->addFile(path);
    ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
    QTest::qWait(50);
  }
  template <class Dialog>
  Dialog* shown() {
    Dialog* found = nullptr;
    EXPECT_TRUE(waitUntil([&] {
      for (auto* dialog : m_window->findChildren<Dialog*>()) found = dialog->isVisible() ? dialog : found;
      return found != nullptr;
    }));
    QTest::qWait(50);
    if (found != nullptr && found->focusWidget() == nullptr) QTest::keyClick(found, Qt::Key_Tab);
    return found;
  }
  template <class Dialog>
  void expectInDialog(const char* screen) {
    Dialog* dialog = shown<Dialog>();
    ASSERT_NE(dialog, nullptr);
    EXPECT_GT(expectBothKeysPress(dialog, screen), 0) << screen;
    EXPECT_TRUE(dialog->isVisible());
    delete dialog;
  }
  void press(int key, Qt::KeyboardModifiers modifiers) {
    m_window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
    QTest::keyClick(m_window.get(), static_cast<Qt::Key>(key), modifiers);
  }
};

TEST_F(PressKeys, OnTheWelcomePage) {
  close();
  ui::InitialState initial;
  app::Sample sample{
      .file = QStringLiteral("/samples/one.mp4"), .title = QStringLiteral("Cards"), .questions = {{QStringLiteral("What is it?"), {}}}};
  initial.samples = {sample, sample};
  open(initial);
  composer()->prompt()->setFocus();
  EXPECT_GE(expectBothKeysPress(m_window.get(), "welcome"), 8);
}

TEST_F(PressKeys, InAChatWithAttachmentsAndEveryPageOfThePanel) {
  attach("/clips/long.mp4");
  ask(QStringLiteral("What color is the star?"));
  attach("/clips/other.mp4");
  attach("/pictures/photo.png");
  attach("/texts/long.txt");
  m_window->setPanelVisible(true);
  for (int page = 0; page < m_window->inspector()->tabs()->count(); ++page) {
    m_window->inspector()->tabs()->setCurrentIndex(page);
    composer()->prompt()->setFocus();
    EXPECT_GE(expectBothKeysPress(m_window.get(), "chat"), 15);
  }
}

TEST_F(PressKeys, WhileMethodsAreChosenAndCompared) {
  m_script = default_script;
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  m_window->page().compareOrLeave();
  ASSERT_TRUE(inWindow<ui::ComparisonSetup>()->isVisible());
  composer()->prompt()->setFocus();
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && !session().answers.busy(); }));
  composer()->prompt()->setFocus();
  EXPECT_GE(expectBothKeysPress(m_window.get(), "comparison"), 15);
  m_window->page().compareOrLeave();
  ASSERT_TRUE(inWindow<ui::ComparisonSetup>()->isVisible());
  EXPECT_GE(expectBothKeysPress(m_window.get(), "choosing methods"), 15);
}

TEST_F(PressKeys, InTheDialogs) {
  attach("/clips/long.mp4");
  ask(QStringLiteral("What color is the star?"));
  press(Qt::Key_Comma, Qt::ControlModifier);
  expectInDialog<ui::SettingsDialog>("settings");
  press(Qt::Key_Slash, Qt::ControlModifier);
  expectInDialog<ui::ShortcutsDialog>("shortcuts");
  press(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
  expectInDialog<ui::ChatSettingsDialog>("chat settings");
  press(Qt::Key_T, Qt::ControlModifier);
  expectInDialog<ui::KeptMapDialog>("kept tokens");
  press(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
  expectInDialog<ui::MethodPicker>("methods");
  press(Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
  expectInDialog<ui::RecipeEditor>("recipe");
  m_window->page().watchSource();
  expectInDialog<ui::WatchDialog>("watch");
}

TEST_F(PressKeys, InTheViewersAndTheMethodCard) {
  attach("/clips/long.mp4");
  ui::AttachmentCard* card = composer()->tray()->card(0);
  QTest::keyClick(card, Qt::Key_Return);
  expectInDialog<ui::FrameViewer>("frame viewer");
  attach("/texts/long.txt");
  QTest::keyClick(composer()->tray()->card(1), Qt::Key_Space);
  expectInDialog<ui::DocumentViewer>("document viewer");
  (new ui::DescriptionDialog({{QStringLiteral("A star."), 0, 0}}, true, {{"/clips/long.mp4", MediaKind::kVideo, {0.0, 1.0}}},
                             m_window.get()))
      ->open();
  expectInDialog<ui::DescriptionDialog>("what is kept");
  composer()->method()->openCard();
  EXPECT_EQ(expectBothKeysPress(composer()->method()->card(), "method card"), 3);
  EXPECT_TRUE(composer()->method()->card()->isVisible());
}

// What a row of a list that drops down says is taken by either key.
TEST_F(PressKeys, TakeTheRowOfAListThatDropsDown) {
  for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space}) {
    QComboBox box;
    box.addItems({QStringLiteral("one"), QStringLiteral("two")});
    box.show();
    box.showPopup();
    QTest::keyClick(box.view(), Qt::Key_Down);
    QTest::keyClick(box.view(), key);
    EXPECT_EQ(box.currentIndex(), 1);
    EXPECT_FALSE(box.view()->isVisible());
  }
}

TEST_F(PressKeys, LeaveFieldsForTextAlone) {
  QLineEdit line;
  line.show();
  const QSignalSpy returned(&line, &QLineEdit::returnPressed);
  QTest::keyClicks(&line, QStringLiteral("two words"));
  QTest::keyClick(&line, Qt::Key_Return);
  EXPECT_EQ(line.text(), QStringLiteral("two words"));
  EXPECT_EQ(returned.count(), 1);
}

}  // namespace
}  // namespace winnow::test
