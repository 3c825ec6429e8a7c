// Chats in folders: their order and headings, closing and opening by mouse and keys, what stays over a restart, what is found in them.
#include <QInputDialog>
#include <QListView>
#include <QMenu>
#include <QRegularExpression>
#include <QTimer>

#include "tests/ui/support/window_fixture.h"
#include "ui/models/conversation_list_model.h"
#include "ui/shell/chat/conversation_sidebar.h"

namespace winnow::test {
namespace {

class ChatFoldersTest : public WindowTest {
 protected:
  ui::ConversationListModel& list() { return session().list.model(); }
  QListView* view() { return m_window->sidebar()->list(); }
  ConversationId chat(const char* question) {
    session().chat.startNew();
    ask(QString::fromLatin1(question));
    const ConversationId id = session().chat.id();
    EXPECT_TRUE(waitUntil([&] { return list().find(id) != nullptr && list().find(id)->preview == QLatin1String(question); }));
    return id;
  }
  void put(std::initializer_list<ConversationId> ids, const char* folder) {
    list().editFolders([&](ui::ConversationFolders& folders) {
      for (const ConversationId id : ids) folders.put(id, QString::fromLatin1(folder));
    });
  }
  // "[Holiday (2)] beach", a row a line; of a closed folder its heading alone.
  std::string rows() {
    QStringList rows;
    for (int row = 0; row < list().rowCount(); ++row) {
      const QModelIndex index = list().index(row);
      const QString heading = index.data(ui::ConversationListModel::kGroupRole).toString();
      const QString title = index.data(ui::ConversationListModel::kClosedRole).toBool() ? QString() : index.data().toString();
      rows << (heading.isEmpty() ? title : QStringLiteral("[%1] %2").arg(heading, title).trimmed());
    }
    return rows.join(QLatin1Char('\n')).toStdString();
  }
  bool shows(const char* wanted) {
    return waitUntil([&] { return rows() == wanted; });
  }
  void clickHeading(int row) {
    const QRect rect = view()->visualRect(list().index(row));
    QTest::mouseClick(view()->viewport(), Qt::LeftButton, {}, rect.topLeft() + QPoint(40, 10));
  }
  // Triggers the entry of the menu that opens over the row.
  void choose(int row, const QStringList& path) {
    QTimer::singleShot(0, m_window.get(), [path] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      ASSERT_NE(menu, nullptr);
      QMenu* top = menu;
      for (const QString& name : path) {
        for (QAction* action : menu->actions()) {
          // Alone it marks a key, doubled it is one.
          static const QRegularExpression kMark(QStringLiteral("&(.)"));
          if (action->text().replace(kMark, QStringLiteral("\\1")) != name) continue;
          if (action->menu() == nullptr) action->trigger();
          menu = action->menu();
          break;
        }
        if (menu == nullptr) break;
      }
      top->close();
    });
    Q_EMIT view()->customContextMenuRequested(view()->visualRect(list().index(row)).bottomLeft() + QPoint(40, -10));
  }
};

TEST_F(ChatFoldersTest, StandBelowThePinnedAndAboveTheRest) {
  const ConversationId beach = chat("beach"), tax = chat("tax"), hills = chat("hills"), rest = chat("rest");
  ASSERT_TRUE(waitUntil([&] { return list().rowCount() == 4 && list().rowOf(rest) == 0; }));
  put({beach, hills}, "  Holiday ");
  put({tax}, "Accounts");
  EXPECT_TRUE(shows("[Accounts (1)] tax\n[Holiday (2)] hills\nbeach\n[Today] rest")) << rows();
  put({tax}, "Today");
  EXPECT_TRUE(shows("[Holiday (2)] hills\nbeach\n[Today (1)] tax\n[Today] rest")) << rows() << " · a folder is no day";
  session().list.setPinned(hills, true);
  EXPECT_TRUE(shows("[Pinned] hills\n[Holiday (1)] beach\n[Today (1)] tax\n[Today] rest")) << rows();
  session().list.setPinned(hills, false);
  EXPECT_TRUE(shows("[Holiday (2)] hills\nbeach\n[Today (1)] tax\n[Today] rest")) << rows();
  list().editFolders([](ui::ConversationFolders& folders) { folders.rename(QStringLiteral("Today"), QStringLiteral("Holiday")); });
  EXPECT_TRUE(shows("[Holiday (3)] hills\ntax\nbeach\n[Today] rest")) << rows() << " · two of one name are one";
  list().editFolders([](ui::ConversationFolders& folders) { folders.rename(QStringLiteral("Holiday"), {}); });
  EXPECT_TRUE(shows("[Today] rest\nhills\ntax\nbeach")) << rows();
}

TEST_F(ChatFoldersTest, AClosedOneIsARowThatOpensNoChatAndStaysClosed) {
  const ConversationId beach = chat("beach"), hills = chat("hills"), rest = chat("rest");
  ASSERT_TRUE(waitUntil([&] { return list().rowCount() == 3 && list().rowOf(rest) == 0; }));
  put({beach, hills}, "Holiday");
  session().chat.open(hills);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == hills; }));
  clickHeading(0);
  EXPECT_TRUE(shows("[Holiday (2)]\n[Today] rest")) << rows();
  EXPECT_EQ(session().chat.id(), hills) << "it is still read";
  EXPECT_EQ(m_window->sidebar()->selected(), 0U);
  EXPECT_EQ(list().index(0).data(Qt::AccessibleTextRole).toString(), QStringLiteral("Folder Holiday (2), closed"));
  ask(QStringLiteral("and higher ones?"));
  EXPECT_TRUE(shows("[Holiday (2)]\n[Today] rest")) << rows() << " · an answer opens nothing";
  session().list.search(QStringLiteral("beach"));
  ASSERT_TRUE(waitUntil([&] { return list().rowCount() == 1; }));
  EXPECT_TRUE(shows("beach")) << rows() << " · found in closed ones, too";
  session().list.search({});
  ASSERT_TRUE(waitUntil([&] { return list().rowCount() == 2; }));
  reopen();
  ASSERT_TRUE(waitUntil([&] { return list().rowCount() == 2; }));
  EXPECT_TRUE(shows("[Holiday (2)]\n[Today] rest")) << rows();
  // By keys: the arrow stands on it, Right opens it, Left closes it again.
  m_window->activateWindow();
  view()->setFocus();
  session().chat.open(rest);
  ASSERT_TRUE(waitUntil([&] { return m_window->sidebar()->selected() == rest; }));
  QTest::keyClick(view(), Qt::Key_Up);
  EXPECT_EQ(view()->currentIndex().row(), 0);
  EXPECT_EQ(session().chat.id(), rest);
  QTest::keyClick(view(), Qt::Key_Delete);
  EXPECT_EQ(list().rowCount(), 2) << "nothing is deleted by its heading";
  QTest::keyClick(view(), Qt::Key_Right);
  EXPECT_TRUE(shows("[Holiday (2)] hills\nbeach\n[Today] rest")) << rows();
  QTest::keyClick(view(), Qt::Key_Left);
  EXPECT_TRUE(shows("[Holiday (2)]\n[Today] rest")) << rows();
}

TEST_F(ChatFoldersTest, AChatIsMovedByItsMenuAndAFolderNamedByItsOwn) {
  const ConversationId beach = chat("beach"), hills = chat("hills");
  ASSERT_TRUE(waitUntil([&] { return list().rowCount() == 2 && list().rowOf(hills) == 0; }));
  const auto named = [this](const char* name) {
    auto* dialog = m_window->findChild<QInputDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->setTextValue(QString::fromLatin1(name));
    dialog->accept();
    QCoreApplication::sendPostedEvents(dialog, QEvent::DeferredDelete);
  };
  choose(1, {QStringLiteral("Move to folder"), QStringLiteral("New folder…")});
  named("Holiday & more");
  EXPECT_TRUE(shows("[Holiday & more (1)] beach\n[Today] hills")) << rows();
  choose(1, {QStringLiteral("Move to folder"), QStringLiteral("Holiday & more")});
  EXPECT_TRUE(shows("[Holiday & more (2)] hills\nbeach")) << rows();
  clickHeading(0);
  choose(0, {QStringLiteral("Rename…")});
  named(" ");
  EXPECT_TRUE(shows("[Holiday & more (2)]")) << rows() << " · a blank name is none";
  choose(0, {QStringLiteral("Rename…")});
  named("Trips");
  EXPECT_TRUE(shows("[Trips (2)] hills\nbeach")) << rows();
  choose(1, {QStringLiteral("Move to folder"), QStringLiteral("Out of the folder")});
  EXPECT_EQ(list().folders().folderOf(beach), QString());
  EXPECT_TRUE(shows("[Trips (1)] hills\n[Today] beach")) << rows();
}

TEST(ConversationFolders, WhatIsNoFolderIsLeftOut) {
  const auto read = [](const char* json) { return ui::ConversationFolders::fromJson(json); };
  for (const char* bad :
       {"", "{", "7", "[7, null, {}]", R"([{"name": " ", "chats": [1], "closed": true}])", R"([{"name": "a", "chats": [-1, 0, "x"]}])"})
    EXPECT_TRUE(read(bad).isEmpty()) << bad;
  const ui::ConversationFolders folders = read(R"([{"name": "b", "chats": [3]}, {"name": "a", "closed": true, "chats": [2, 1]}])");
  EXPECT_EQ(folders.toJson(), R"([{"chats":[1,2],"closed":true,"name":"a"},{"chats":[3],"closed":false,"name":"b"}])");
}

}  // namespace
}  // namespace winnow::test
