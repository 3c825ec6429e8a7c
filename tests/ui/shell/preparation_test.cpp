// What is attached is read before a question is asked: when it begins, what stops it, what is said about it.
#include <QLabel>
#include <QPushButton>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/description_dialog.h"
#include "ui/composer/preparation_line.h"

namespace winnow::test {
namespace {

class PreparationTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    m_settings->setUnasked({app::Unasked::kAlways, app::Unasked::kNever});
  }
  ui::PreparationLine* line() { return inWindow<ui::PreparationLine>(); }
  std::size_t prepares() { return m_log->prepares().size(); }
  bool says(const QString& words) {
    return waitUntil([&] { return line()->view().text.contains(words); });
  }
  void attachVideo() { ASSERT_TRUE(attaches("/samples/clip.mp4")); }
  void useMethod(const char* method) {
    app::NamedRecipe recipe{.spec = {.method = method, .retention = 0.1}};
    m_settings->setDefaultRecipe(recipe);
    m_window->page().startNew();
  }
};

TEST_F(PreparationTest, BeginsOnceWhateverIsTyped) {
  useMethod("self-study");
  EXPECT_FALSE(line()->isVisible());
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("Ready. ")));
  EXPECT_EQ(prepares(), 1U);
  type(QStringLiteral("What is it?"));
  QTest::qWait(1600);
  EXPECT_EQ(prepares(), 1U);
  EXPECT_TRUE(line()->isVisible());
  pressEnter();
  ASSERT_TRUE(idle());
  EXPECT_TRUE(waitUntil([this] { return line()->view().text.isEmpty(); }));
  EXPECT_EQ(prepares(), 1U);
}

TEST_F(PreparationTest, OtherFramesOrAnotherShareBeginAnew) {
  useMethod("self-study");
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("Ready. ")));
  composer()->tray()->scaleFrames(0.5);
  ASSERT_TRUE(waitUntil([this] { return prepares() == 2; }));
  const auto frames = [this](std::size_t number) {
    return std::get<MediaItem>(m_log->prepares()[number].turn.messages.back().items.front()).media.plan.frame_count;
  };
  EXPECT_EQ(frames(0), 64);
  EXPECT_EQ(frames(1), 32);
}

TEST_F(PreparationTest, CanBeStoppedAndBegunAgain) {
  useMethod("self-study");
  m_log->holdPreparations(true);
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("Preparing")));
  EXPECT_GE(line()->view().share, 0.0);
  line()->button()->click();
  ASSERT_TRUE(says(QStringLiteral("Not prepared")));
  EXPECT_TRUE(waitUntil([this] { return !m_engine->isBusy(); }));
  m_log->holdPreparations(false);
  line()->button()->click();
  ASSERT_TRUE(says(QStringLiteral("Ready. ")));
  EXPECT_EQ(prepares(), 2U);
}

TEST_F(PreparationTest, SaysThatTheEngineStartsAgain) {
  useMethod("self-study");
  m_log->holdPreparations(true);
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("Preparing")));
  m_log->restartPreparation();
  ASSERT_TRUE(says(QStringLiteral("The engine starts again")));
  EXPECT_EQ(line()->view().share, 0.0);
  m_log->holdPreparations(false);
  ASSERT_TRUE(says(QStringLiteral("Ready. ")));
  EXPECT_EQ(prepares(), 1U);
}

TEST_F(PreparationTest, AQuestionSentMeanwhileWaitsForIt) {
  useMethod("self-study");
  m_log->holdPreparations(true);
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("Preparing")));
  type(QStringLiteral("What is it?"));
  pressEnter();
  ASSERT_TRUE(says(QStringLiteral("Your question is next.")));
  EXPECT_TRUE(line()->view().action.isEmpty());
  m_log->holdPreparations(false);
  ASSERT_TRUE(idle());
  EXPECT_EQ(prepares(), 1U);
  EXPECT_TRUE(waitUntil([this] { return line()->view().text.isEmpty(); }));
}

TEST_F(PreparationTest, WhatIsTakenAwayIsNotGoneOnWith) {
  useMethod("self-study");
  m_log->holdPreparations(true);
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("Preparing")));
  composer()->tray()->clear();
  EXPECT_TRUE(waitUntil([this] { return !line()->isVisible() && !m_engine->isBusy(); }));
}

TEST_F(PreparationTest, TheSettingSaysNever) {
  m_settings->setUnasked({app::Unasked::kNever, app::Unasked::kNever});
  attachVideo();
  QTest::qWait(1600);
  EXPECT_EQ(prepares(), 0U);
  EXPECT_FALSE(line()->isVisible());
}

TEST_F(PreparationTest, AMethodThatNeedsTheQuestionSaysSo) {
  useMethod("snapkv");
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("once it knows your question")));
  EXPECT_TRUE(line()->view().action.isEmpty());
}

TEST_F(PreparationTest, WhatIsKeptCanBeReadAndLeadsToItsFrames) {
  useMethod("self-study");
  attachVideo();
  ASSERT_TRUE(says(QStringLiteral("Ready. ")));
  line()->button()->click();
  auto* dialog = m_window->findChild<ui::DescriptionDialog*>();
  ASSERT_NE(dialog, nullptr);
  ASSERT_EQ(dialog->buttons().size(), 2);
  EXPECT_EQ(dialog->buttons()[0]->text(), QStringLiteral("0:00"));
  EXPECT_EQ(dialog->buttons()[1]->text(), QStringLiteral("0:01"));
  QByteArray shown;
  int frame = -1;
  QObject::connect(dialog, &ui::DescriptionDialog::frameActivated,
                   [&](const QByteArray& path, MediaKind, const std::vector<double>&, int index) {
                     shown = path;
                     frame = index;
                   });
  dialog->buttons()[1]->click();
  EXPECT_EQ(shown, "/samples/clip.mp4");
  EXPECT_EQ(frame, 1);
}

TEST(DescriptionWords, AreCutIntoSentencesWithTheFrameOfMostOfTheirWords) {
  Description description;
  description.words = {{"There", 0, 9}, {" are", 0, 3}, {" two", 0, 3},   {":", 0, 3},    {" a", 0, 4}, {" star", 0, 4},
                       {",", 0, 9},     {" a", 0, 7},   {" cross", 0, 8}, {" red", 0, 8}, {".", 0, 4},  {"\n", -1, -1}};
  const QList<ui::DescribedSentence> sentences = ui::sentencesOf(description);
  ASSERT_EQ(sentences.size(), 3);
  EXPECT_EQ(sentences[0].text, QStringLiteral("There are two:"));
  EXPECT_EQ(sentences[0].frame, 3);
  EXPECT_EQ(sentences[1].text, QStringLiteral("a star,"));
  EXPECT_EQ(sentences[1].frame, 4);
  EXPECT_EQ(sentences[2].frame, 8);
  EXPECT_TRUE(ui::sentencesOf({}).isEmpty());
}

}  // namespace
}  // namespace winnow::test
