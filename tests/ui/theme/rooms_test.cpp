// Pages of the window: they stand in it, the keys of what they cover are not its, and what they covered comes back.
#include "ui/theme/rooms.h"

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QToolButton>

#include "tests/ui/support/window_fixture.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/model_library/models_dialog.h"
#include "ui/recipes/method_picker.h"
#include "ui/settings_view/settings_dialog.h"

namespace winnow::test {
namespace {

class RoomsTest : public WindowTest {
 protected:
  template <typename Page>
  QPointer<Page> entered(Qt::Key key, Qt::KeyboardModifiers modifiers) {
    QTest::keyClick(m_window->focusWidget() != nullptr ? m_window->focusWidget() : m_window.get(), key, modifiers);
    QPointer<Page> shown;
    EXPECT_TRUE(waitUntil([&] {
      for (Page* page : m_window->findChildren<Page*>()) shown = page->isVisible() ? page : shown.data();
      return !shown.isNull();
    }));
    return shown;
  }
  ui::Rooms* rooms() { return m_window->findChild<ui::Rooms*>(); }
};

TEST_F(RoomsTest, SettingsStandInTheWindowAndEscLeavesThem) {
  const QPointer<ui::SettingsDialog> settings = entered<ui::SettingsDialog>(Qt::Key_Comma, Qt::ControlModifier);
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->isWindow());
  EXPECT_FALSE(transcript()->isVisible());
  EXPECT_FALSE(m_window->inspector()->isVisible()) << "it belongs to the chat";
  EXPECT_TRUE(settings->isAncestorOf(m_window->focusWidget())) << "the keyboard is in it";
  QTest::keyClick(m_window->focusWidget(), Qt::Key_Escape);
  EXPECT_TRUE(waitUntil([&] { return !settings; })) << "it is gone";
  EXPECT_FALSE(rooms()->open());
  EXPECT_TRUE(m_window->inspector()->isVisible());
  EXPECT_TRUE(composer()->prompt()->hasFocus());
}

TEST_F(RoomsTest, APageOverAnotherGivesItBackAndOneOfAKindIsOpen) {
  const QPointer<ui::SettingsDialog> settings = entered<ui::SettingsDialog>(Qt::Key_Comma, Qt::ControlModifier);
  ASSERT_TRUE((entered<ui::SettingsDialog>(Qt::Key_Comma, Qt::ControlModifier)));
  EXPECT_EQ(rooms()->count(), 2);
  EXPECT_TRUE(waitUntil([&] { return !settings; })) << "the first one has ended";
  auto* other = new QDialog(m_window.get());
  other->setAttribute(Qt::WA_DeleteOnClose);
  other->setWindowTitle(QStringLiteral("Another"));
  new QLineEdit(other);
  ui::enterRoom(other);
  EXPECT_EQ(rooms()->count(), 3);
  EXPECT_TRUE(other->isVisible());
  QTest::keyClick(m_window->focusWidget(), Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(rooms()->count(), 2);
  EXPECT_TRUE(m_window->findChild<ui::SettingsDialog*>()->isVisible());
  m_window->leaveRooms();
  EXPECT_FALSE(rooms()->open());
}

TEST_F(RoomsTest, KeysOfTheChatDoNothingUnderAPage) {
  ask(QStringLiteral("What color is the star?"));
  const std::size_t before = m_log->requests().size();
  const int messages = transcript()->messageCount();
  ASSERT_TRUE((entered<ui::MethodPicker>(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier)));
  for (const Qt::Key key : {Qt::Key_R, Qt::Key_N, Qt::Key_K, Qt::Key_PageDown})
    QTest::keyClick(m_window->focusWidget(), key, Qt::ControlModifier);
  QTest::qWait(30);
  EXPECT_TRUE(rooms()->open());
  EXPECT_EQ(transcript()->messageCount(), messages);
  EXPECT_EQ(m_log->requests().size(), before);
  // Another chat is chosen: it is seen.
  m_window->page().startNew();
  m_window->leaveRooms();
  EXPECT_TRUE(waitUntil([this] { return !rooms()->open(); }));
}

}  // namespace
}  // namespace winnow::test
