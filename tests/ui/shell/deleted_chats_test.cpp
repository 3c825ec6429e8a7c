// Deleted chats come back from the menu, also in a later run.
#include <QMenu>
#include <QMenuBar>

#include "tests/ui/support/window_fixture.h"

namespace winnow::test {
namespace {

class DeletedChats : public WindowTest {
 protected:
  QMenu* menuCalled(const QString& title) {
    for (QMenu* menu : m_window->findChildren<QMenu*>()) {
      if (menu->title() == title) return menu;
    }
    return nullptr;
  }
  // As opening the Edit menu does.
  QStringList deletedInTheMenu() {
    Q_EMIT menuCalled(QStringLiteral("&Edit"))->aboutToShow();
    QTest::qWait(50);
    QStringList titles;
    for (const QAction* action : menuCalled(QStringLiteral("&Deleted chats"))->actions()) titles << action->text();
    return titles;
  }
};

TEST_F(DeletedChats, ComeBackFromTheMenuOfALaterRun) {
  EXPECT_EQ(deletedInTheMenu(), QStringList{QStringLiteral("None")});
  ask(QStringLiteral("Salt & pepper?"));
  const ConversationId chat = session().chat.id();
  session().list.remove(chat);
  ASSERT_TRUE(waitUntil([this] { return session().list.model().rowCount() == 0; }));
  reopen();
  ASSERT_TRUE(waitUntil([this] { return deletedInTheMenu() == QStringList{QStringLiteral("Salt && pepper?")}; }));
  menuCalled(QStringLiteral("&Deleted chats"))->actions()[0]->trigger();
  ASSERT_TRUE(waitUntil([&] { return session().list.find(chat) != nullptr; }));
  EXPECT_TRUE(waitUntil([this] { return deletedInTheMenu() == QStringList{QStringLiteral("None")}; }));
}

}  // namespace
}  // namespace winnow::test
