// The search box over the list of chats.
#include <QLabel>
#include <QLineEdit>

#include "tests/ui/support/window_fixture.h"
#include "ui/shell/chat/conversation_sidebar.h"

namespace winnow::test {
namespace {

class ChatSearch : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    ask(QStringLiteral("What color is the kettle?"));
    m_kettle = session().chat.id();
    QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
    ASSERT_TRUE(waitUntil([this] { return session().chat.id() == 0; }));
    ask(QStringLiteral("Where does the heron stand?"));
    m_heron = session().chat.id();
    ASSERT_NE(m_kettle, m_heron);
  }
  ui::ConversationListModel& list() { return session().list.model(); }
  QLineEdit* box() { return m_window->sidebar()->search(); }
  QString hint() {
    for (const QLabel* label : m_window->sidebar()->findChildren<QLabel*>()) {
      if (label->isVisible()) return label->text();
    }
    return {};
  }
  bool shows(QList<ConversationId> chats) {
    return waitUntil([&] {
      QList<ConversationId> rows;
      for (int row = 0; row < list().rowCount(); ++row) rows << list().idAt(row);
      return rows == chats;
    });
  }

  ConversationId m_kettle = 0;
  ConversationId m_heron = 0;
};

TEST_F(ChatSearch, ShowsTheChatsThatHaveTheWordsAndWhere) {
  ASSERT_TRUE(shows({m_heron, m_kettle}));
  QTest::keyClicks(box(), QStringLiteral("kett"));
  ASSERT_TRUE(shows({m_kettle}));
  EXPECT_EQ(list().index(0).data(ui::ConversationListModel::kSubtitleRole).toString().toStdString(), "What color is the kettle?");
  EXPECT_EQ(session().chat.id(), m_heron) << "looking for one opens none";
  QTest::keyClick(box(), Qt::Key_Escape);
  EXPECT_TRUE(shows({m_heron, m_kettle}));
  EXPECT_EQ(m_window->sidebar()->selected(), m_heron);
}

// Of a long text the row shows the words that were looked for, not what stands somewhere before them.
TEST_F(ChatSearch, WhatWasFoundStandsAtTheBeginningOfItsRow) {
  ask(QStringLiteral("Please tell me once more, and in all detail, where the old man had put the umbrella of his brother."));
  QTest::keyClicks(box(), QStringLiteral("umbrella"));
  ASSERT_TRUE(shows({m_heron}));
  const QString line = list().index(0).data(ui::ConversationListModel::kSubtitleRole).toString();
  EXPECT_TRUE(line.startsWith(QStringLiteral("…put the umbrella of his"))) << line.toStdString();
}

TEST_F(ChatSearch, OpensWhatWasFoundByTheKeyboardAlone) {
  QTest::keyClick(composer()->prompt(), Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
  QTest::keyClicks(box(), QStringLiteral("kettle"));
  ASSERT_TRUE(shows({m_kettle}));
  QTest::keyClick(box(), Qt::Key_Down);
  EXPECT_TRUE(waitUntil([this] { return session().chat.id() == m_kettle; }));
}

// What is new was in no list of what was found.
TEST_F(ChatSearch, ANewChatEndsTheSearch) {
  QTest::keyClicks(box(), QStringLiteral("kettle"));
  ASSERT_TRUE(shows({m_kettle}));
  QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
  EXPECT_TRUE(box()->text().isEmpty());
  EXPECT_TRUE(shows({m_heron, m_kettle}));
  QTest::keyClicks(box(), QStringLiteral("kettle"));  // and in the new chat
  ASSERT_TRUE(shows({m_kettle}));
  ask(QStringLiteral("Which boat is it?"));
  EXPECT_TRUE(shows({session().chat.id(), m_heron, m_kettle}));
}

TEST_F(ChatSearch, FindsAttachedFilesAndDrafts) {
  QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
  ASSERT_TRUE(attaches("/photos/lighthouse.png"));
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() != 0; })) << "the draft is saved";
  const ConversationId draft = session().chat.id();
  const auto title = [&] { return list().index(list().rowOf(draft)).data().toString().toStdString(); };
  EXPECT_TRUE(waitUntil([&] { return title() == "lighthouse.png"; })) << title() << ": a draft is called by its file";
  QTest::keyClicks(box(), QStringLiteral("lighthou"));
  ASSERT_TRUE(shows({draft}));
  EXPECT_EQ(list().index(0).data(ui::ConversationListModel::kSubtitleRole).toString().toStdString(), "lighthouse.png");
  box()->clear();
  type(QStringLiteral("Who lives there?"));
  EXPECT_TRUE(waitUntil([&] { return title() == "Who lives there?"; })) << title() << ": and by its words";
  QTest::keyClicks(box(), QStringLiteral("lives"));
  EXPECT_TRUE(shows({draft}));
}

TEST_F(ChatSearch, SaysThatNothingWasFound) {
  QTest::keyClicks(box(), QStringLiteral("giraffe"));
  ASSERT_TRUE(shows({}));
  EXPECT_EQ(hint(), QStringLiteral("No chat has these words."));
  EXPECT_EQ(session().chat.id(), m_heron);
}

// Answers come while the list is short: what is not among the found stays out of it, and is there again afterwards.
TEST_F(ChatSearch, ANewAnswerDoesNotBringAChatBackIntoIt) {
  QTest::keyClicks(box(), QStringLiteral("kettle"));
  ASSERT_TRUE(shows({m_kettle}));
  ask(QStringLiteral("And the egret?"));
  EXPECT_TRUE(shows({m_kettle}));
  box()->clear();
  EXPECT_TRUE(shows({m_heron, m_kettle}));
}

}  // namespace
}  // namespace winnow::test
