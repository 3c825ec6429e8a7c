// Words in the open chat (Ctrl+F), and the Edit menu that acts on what has the focus.
#include <QAction>
#include <QClipboard>
#include <QDateTime>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>

#include <nlohmann/json.hpp>

#include "app/chats/chat/chat_export.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/shell/chat/conversation_sidebar.h"
#include "ui/theme/find_bar.h"

namespace winnow::test {
namespace {

class FindInChat : public WindowTest {
 protected:
  // A bar of the main window: other find bars belong to dialogs.
  ui::FindBar* bar() { return inWindow<ui::FindBar>(); }
  void open(const QString& words) {
    QTest::keyClick(composer()->prompt(), Qt::Key_F, Qt::ControlModifier);
    ASSERT_TRUE(bar()->isVisible());
    bar()->box()->clear();
    QTest::keyClicks(bar()->box(), words);
  }
  QAction* entry(const QString& name) {
    for (QAction* menu : m_window->menuBar()->actions()) {
      if (menu->text() != QStringLiteral("&Edit")) continue;
      Q_EMIT menu->menu()->aboutToShow();
      for (QAction* each : menu->menu()->actions()) {
        if (each->text().remove(QLatin1Char('&')).section(QLatin1Char('\t'), 0, 0) == name) return each;
      }
    }
    ADD_FAILURE() << name.toStdString() << " is not in the menu";
    return nullptr;
  }
};

TEST_F(FindInChat, CountsStepsAndCloses) {
  ask(QStringLiteral("What color is the STAR?"));  // the answer: "The star is **red**. It is a star in the middle of the frame."
  open(QStringLiteral("star"));
  EXPECT_EQ(bar()->countText().toStdString(), "1 of 3");
  QTest::keyClick(bar()->box(), Qt::Key_Return);
  EXPECT_EQ(bar()->countText().toStdString(), "2 of 3");
  QTest::keyClick(bar()->box(), Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClick(bar()->box(), Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(bar()->countText().toStdString(), "3 of 3") << "around at the ends";
  bar()->box()->setText(QStringLiteral("star is red"));
  EXPECT_EQ(bar()->countText().toStdString(), "1 of 1") << "Markdown's signs are not in the way";
  bar()->box()->setText(QStringLiteral("giraffe"));
  EXPECT_EQ(bar()->countText().toStdString(), "Not found");
  QTest::keyClick(bar()->box(), Qt::Key_Escape);
  EXPECT_FALSE(bar()->isVisible());
  EXPECT_TRUE(composer()->prompt()->hasFocus());
}

TEST_F(FindInChat, WhatIsFoundIsBroughtIntoViewAndPainted) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    std::string text;
    for (int i = 0; i < 120; ++i) text += "Paragraph " + std::to_string(i) + (i == 7 ? " has a needle in it.\n\n" : " has none.\n\n");
    return answer_script(request, text);
  };
  ask(QStringLiteral("Tell me more."));
  ASSERT_TRUE(transcript()->atEnd());
  const auto accents = [this] {
    const QImage image = transcript()->viewport()->grab().toImage();
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == ui::theme().colors().accent;
    }
    return count;
  };
  const int before = accents();
  open(QStringLiteral("needle"));
  EXPECT_EQ(bar()->countText().toStdString(), "1 of 1");
  EXPECT_FALSE(transcript()->atEnd());
  EXPECT_GT(accents(), before + 100) << "the place is not marked";
  const int marked = accents();
  QTest::keyClick(bar()->box(), Qt::Key_Escape);
  EXPECT_LT(accents(), marked - 100);
}

TEST_F(FindInChat, FollowsWhatIsWrittenAndAnotherChat) {
  ask(QStringLiteral("What color is the star?"));
  open(QStringLiteral("star"));
  ask(QStringLiteral("And this star?"));
  EXPECT_EQ(bar()->countText().toStdString(), "1 of 6") << "the place stays, what is new counts";
  QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
  EXPECT_TRUE(waitUntil([this] { return !bar()->isVisible(); })) << "an empty chat has nothing to find";
  EXPECT_FALSE(entry(QStringLiteral("Find in the chat…"))->isEnabled());
}

TEST_F(FindInChat, TheEditMenuActsOnWhatHasTheFocus) {
  composer()->setFocus();
  type(QStringLiteral("hello"));
  ASSERT_TRUE(composer()->prompt()->hasFocus());
  EXPECT_FALSE(entry(QStringLiteral("Cut"))->isEnabled());
  entry(QStringLiteral("Select all"))->trigger();
  EXPECT_EQ(composer()->prompt()->textCursor().selectedText(), QStringLiteral("hello"));
  entry(QStringLiteral("Cut"))->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("hello"));
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  entry(QStringLiteral("Undo"))->trigger();
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("hello"));
  entry(QStringLiteral("Redo"))->trigger();
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  QLineEdit* search = m_window->sidebar()->search();
  search->setFocus();
  entry(QStringLiteral("Paste"))->trigger();
  EXPECT_EQ(search->text(), QStringLiteral("hello"));
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  search->clear();
  m_window->sidebar()->list()->setFocus();
  entry(QStringLiteral("Paste"))->trigger();
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("hello")) << "a list takes no text: the box does";
}

TEST_F(FindInChat, TheTranscriptIsCopiedByTheMenuToo) {
  ask(QStringLiteral("What color is the star?"));
  transcript()->setFocus();
  entry(QStringLiteral("Select all"))->trigger();
  entry(QStringLiteral("Copy"))->trigger();
  EXPECT_TRUE(QApplication::clipboard()->text().contains(QStringLiteral("The star is red.")))
      << QApplication::clipboard()->text().toStdString();
}

// "1970-01-01T00:00:00Z" stood at every message of a chat that was asked since the start.
TEST_F(FindInChat, AnExportTellsWhenMessagesWereWritten) {
  const QDateTime before = QDateTime::currentDateTimeUtc().addSecs(-1);
  ask(QStringLiteral("What color is the star?"));
  const nlohmann::json chat = nlohmann::json::parse(app::chatToJson(session().chat.loaded()).toStdString());
  ASSERT_EQ(chat.at("messages").size(), 2U);
  for (const nlohmann::json& message : chat.at("messages")) {
    const QDateTime made = QDateTime::fromString(QString::fromStdString(message.at("created").get<std::string>()), Qt::ISODate);
    EXPECT_GE(made, before);
    EXPECT_LE(made, QDateTime::currentDateTimeUtc());
  }
}

TEST_F(FindInChat, UndoBringsADeletedChatBackWhereNoTextIsToBeUndone) {
  ask(QStringLiteral("What color is the star?"));
  const ConversationId id = session().chat.id();
  session().list.remove(id);
  ASSERT_TRUE(waitUntil([this] { return session().list.canUndoRemove(); }));
  m_window->sidebar()->list()->setFocus();
  entry(QStringLiteral("Undo delete chat"))->trigger();
  EXPECT_TRUE(waitUntil([&] { return session().chat.id() == id; }));
}

}  // namespace
}  // namespace winnow::test
