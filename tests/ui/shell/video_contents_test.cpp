// The contents of a video as a page of the window, and what is found in files by the search over the chats.
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/preparation_line.h"
#include "ui/composer/viewer_parts.h"
#include "ui/contents/contents_list.h"
#include "ui/contents/video_contents.h"
#include "ui/shell/chat/conversation_sidebar.h"

namespace winnow::test {
namespace {

class VideoContentsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    m_settings->setUnasked({app::Unasked::kNever, app::Unasked::kNever});
    m_preview->hashes = {{"/clips/subtitled.mp4", "content of the clip"}, {"/notes/plan.txt", "content of the plan"}};
    m_preview->lines["/clips/subtitled.mp4"] = {
        {2.0, 3.5, "The keeper wrote a letter."}, {40.0, 42.0, "His sister lives in Boston."}, {80.0, 83.0, "The budget was cut."}};
  }
  void attach(const char* file = "/clips/subtitled.mp4") {
    composer()->addFile(file);
    ASSERT_TRUE(attached());
  }
  ui::AttachmentCard* card() { return composer()->tray()->card(0); }
  ui::VideoContents* page() { return inWindow<ui::VideoContents>(); }
  bool opened(int lines = 3) {
    return waitUntil([&] { return page() != nullptr && page()->list()->lines().size() == lines; });
  }
  QListView* places() { return m_window->sidebar()->places(); }
  void search(const char* words) {
    m_window->sidebar()->search()->setText(QLatin1String(words));
    ASSERT_TRUE(waitUntil([this] { return places()->isVisible(); }));
  }
};

TEST_F(VideoContentsTest, ACardOpensIntoItsLinesAndAStretchIsAskedAbout) {
  attach();
  QTest::keyClick(card(), Qt::Key_Return);
  ASSERT_TRUE(opened());
  EXPECT_EQ(page()->list()->currentIndex().row(), 0);
  EXPECT_EQ(page()->list()->currentIndex().data(Qt::AccessibleTextRole).toString(), QStringLiteral("0:02: The keeper wrote a letter."));
  ASSERT_TRUE(waitUntil([this] { return page()->list()->hasFocus(); }));
  QTest::keyClick(page()->list(), Qt::Key_Down);
  QTest::keyClick(page()->list(), Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(page()->askButton()->text(), QStringLiteral("Ask about 0:40–1:23"));
  QTest::keyClick(page()->list(), Qt::Key_Return);
  ASSERT_TRUE(waitUntil([this] { return page() == nullptr; }));
  EXPECT_EQ(card()->attachment().plan.from_s, 40.0);
  EXPECT_EQ(card()->attachment().plan.to_s, 83.0);
  EXPECT_TRUE(composer()->prompt()->hasFocus());
}

TEST_F(VideoContentsTest, LinesAreCopiedAndPinned) {
  attach();
  QTest::keyClick(card(), Qt::Key_Return);
  ASSERT_TRUE(opened());
  QTest::keyClick(page()->list(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QApplication::clipboard()->text(),
            QStringLiteral("[0:02] The keeper wrote a letter.\n[0:40] His sister lives in Boston.\n[1:20] The budget was cut.\n"));
  page()->showAt(60);
  EXPECT_EQ(page()->list()->currentIndex().row(), 1) << "what was said last";
  QTest::keyClick(page()->list(), Qt::Key_P);
  EXPECT_EQ(card()->attachment().pins, (app::PinnedRanges{{40.0, 42.0}}));
  EXPECT_TRUE(page()->pinButton()->isChecked());
  QTest::keyClick(page()->list(), Qt::Key_P);
  EXPECT_TRUE(card()->attachment().pins.empty());
}

// Of a question of before: the stretch goes with the next one, and a pin is that question's.
TEST_F(VideoContentsTest, AnAskedVideoOpensIntoItsLinesToo) {
  attach();
  ask(QStringLiteral("What is said?"));
  close();
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  const qint64 question = transcript()->messageAt(0).id;
  Q_EMIT transcript()->attachmentActivated(question, 0);
  ASSERT_TRUE(opened());
  // What the answer's cache keeps of each frame stands on the strip.
  ASSERT_TRUE(waitUntil([this] { return !page()->strip()->kept().empty(); }));
  const std::vector<double>& times = session().chat.message(question)->attachments[0].sampled.actualS;
  ASSERT_EQ(page()->strip()->kept().size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(page()->strip()->kept()[i].seconds, times[i]);
    EXPECT_GT(page()->strip()->kept()[i].share, 0.0);
    EXPECT_LT(page()->strip()->kept()[i].share, 1.0);
  }
  EXPECT_TRUE(page()->strip()->toolTip().startsWith(QStringLiteral("Bars: what the last answer’s cache keeps")));
  page()->showAt(40);
  QTest::keyClick(page()->list(), Qt::Key_P);
  EXPECT_EQ(session().chat.message(question)->attachments[0].pins, (app::PinnedRanges{{40.0, 42.0}}));
  page()->askButton()->click();
  ASSERT_TRUE(attached());
  EXPECT_EQ(card()->attachment().plan.from_s, 40.0);
  EXPECT_EQ(card()->attachment().plan.to_s, 42.0);
  EXPECT_TRUE(card()->attachment().pins.empty());
}

TEST_F(VideoContentsTest, WhatTheModelDescribedStandsAmongTheLines) {
  app::ConversationOptions options = session().chat.options();
  options.recipe.spec.method = "self-study";
  session().chat.setOptions(options);
  m_settings->setUnasked({app::Unasked::kAlways, app::Unasked::kNever});
  attach();
  ASSERT_TRUE(waitUntil([this] { return inWindow<ui::PreparationLine>()->view().text.startsWith(QStringLiteral("Ready. ")); }));
  QTest::keyClick(card(), Qt::Key_Return);
  ASSERT_TRUE(opened(5));
  ASSERT_TRUE(page()->choice()->isVisible());
  page()->choice()->setCurrentIndex(1);
  EXPECT_EQ(page()->list()->lines().size(), 3);
  page()->choice()->setCurrentIndex(2);
  for (const app::FileLine& line : page()->list()->lines()) EXPECT_EQ(line.kind, app::LineKind::kDescribed);
}

TEST_F(VideoContentsTest, SearchFindsTheMomentAndOpensItsChatThere) {
  attach();
  ask(QStringLiteral("What is said?"));
  const ConversationId film = session().chat.id();
  QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
  ask(QStringLiteral("And now?"));
  search("budget");
  ASSERT_EQ(places()->model()->rowCount(), 1);
  EXPECT_EQ(places()->model()->index(0, 0).data().toString(), QStringLiteral("subtitled.mp4 · 1:20"));
  EXPECT_TRUE(waitUntil([this] { return places()->y() < m_window->sidebar()->height() / 3; })) << "right under the chat";
  places()->setFocus();
  places()->setCurrentIndex(places()->model()->index(0, 0));
  QTest::keyClick(places(), Qt::Key_Return);
  ASSERT_TRUE(opened());
  EXPECT_EQ(session().chat.id(), film);
  EXPECT_EQ(page()->list()->currentIndex().row(), 2);
  m_window->sidebar()->search()->clear();
  EXPECT_TRUE(waitUntil([this] { return !places()->isVisible(); }));
}

TEST_F(VideoContentsTest, AFoundMomentIsAskedAboutInANewChat) {
  attach();
  ask(QStringLiteral("What is said?"));
  search("budget");
  Q_EMIT places()->customContextMenuRequested(places()->visualRect(places()->model()->index(0, 0)).center());
  auto* menu = places()->findChild<QMenu*>();
  ASSERT_NE(menu, nullptr);
  menu->actions().last()->trigger();
  menu->close();
  ASSERT_TRUE(attached());
  EXPECT_EQ(session().chat.id(), 0) << "a new one";
  EXPECT_EQ(card()->attachment().path, "/clips/subtitled.mp4");
  EXPECT_EQ(card()->attachment().plan.from_s, 50.0);
  EXPECT_EQ(card()->attachment().plan.to_s, 110.0);
}

TEST_F(VideoContentsTest, SearchFindsAPassageOfADocument) {
  m_preview->passages["/notes/plan.txt"] = {{app::LineKind::kPassage, -1, -1, 1, 0, QStringLiteral("two blue crosses")}};
  attach("/notes/plan.txt");
  ask(QStringLiteral("What is in it?"));
  search("crosses");
  EXPECT_EQ(places()->model()->index(0, 0).data().toString(), QStringLiteral("plan.txt · line 2"));
  Q_EMIT places()->activated(places()->model()->index(0, 0));
  EXPECT_TRUE(waitUntil([this] { return inWindow<ui::DocumentViewer>() != nullptr; }));
}

// A draft has no question yet: its card opens.
TEST_F(VideoContentsTest, SearchOpensAVideoThatIsInTheBox) {
  attach();
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() != 0; })) << "the draft is saved";
  search("boston");
  Q_EMIT places()->clicked(places()->model()->index(0, 0));
  ASSERT_TRUE(opened());
  EXPECT_EQ(page()->list()->currentIndex().row(), 1);
}

}  // namespace
}  // namespace winnow::test
