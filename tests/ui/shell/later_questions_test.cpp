// What later questions go on from: the choice in the method card, what it sends, and what is said about it.
#include <QComboBox>
#include <QPushButton>
#include <QStandardItemModel>

#include "app/words/format_text.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/later_choice.h"
#include "ui/composer/method_control.h"
#include "ui/composer/preparation_line.h"
#include "ui/recipes/later_questions.h"
#include "ui/shell/chat/later_question.h"
#include "ui/shell/turns/answer_check.h"
#include "ui/shell/turns/watch_controller.h"
#include "ui/theme/popup_card.h"

namespace winnow::test {
namespace {

RecipeSpec recipe(const char* method) { return {.method = method, .retention = 0.1}; }

class LaterQuestionsTest : public WindowTest {
 protected:
  ui::LaterChoice* later() { return composer()->method()->later(); }
  bool offers(Guard guard) {
    const auto* items = qobject_cast<QStandardItemModel*>(later()->box()->model());
    return items->item(later()->box()->findData(static_cast<int>(guard)))->isEnabled();
  }
  // As with the keyboard: the box is focused and stepped through from its first entry.
  void choose(Guard guard) {
    composer()->method()->openCard();
    QComboBox* box = later()->box();
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Home);
    for (int step = 0; step < box->count() && later()->guard() != guard; ++step) QTest::keyClick(box, Qt::Key_Down);
    ASSERT_EQ(later()->guard(), guard);
    composer()->method()->card()->hide();
  }
  QPushButton* forNewButton() { return composer()->method()->card()->findChild<QPushButton*>(QStringLiteral("forNewChats")); }
  void useMethod(const char* method) {
    m_settings->setDefaultRecipe({{}, recipe(method)});
    m_window->page().startNew();
  }
  template <class Body>
  Body lastAsked() {
    const std::vector<Request> requests = m_log->requests();
    for (auto it = requests.rbegin(); it != requests.rend(); ++it) {
      if (const auto* body = std::get_if<Body>(&it->body)) return *body;
    }
    ADD_FAILURE() << "nothing of this kind was asked";
    return {};
  }
  QString line() { return inWindow<ui::PreparationLine>()->idleText(); }
};

TEST_F(LaterQuestionsTest, TheChoiceGoesWithTheNextQuestionAndItsPlan) {
  useMethod("snapkv");
  ask(QStringLiteral("What is it?"));
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kKeep);
  for (const Guard guard : {Guard::kAlone, Guard::kPrefill, Guard::kRam}) {
    SCOPED_TRACE(ui::laterTitle(guard).toStdString());
    choose(guard);
    const std::size_t plans = m_log->plans().size();
    type(QStringLiteral("And"));
    ASSERT_TRUE(waitUntil([&] { return m_log->plans().size() > plans; }));
    EXPECT_EQ(m_log->plans().back().turn.guard, guard);
    ask(QStringLiteral("And then?"));
    EXPECT_EQ(lastAsked<Turn>().guard, guard);
    EXPECT_EQ(session().chat.branch().last().run.guard, guard);
  }
}

TEST_F(LaterQuestionsTest, AnsweringAgainAndRewordingGoByTheChoiceToo) {
  useMethod("snapkv");
  ask(QStringLiteral("What is it?"));
  choose(Guard::kPrefill);
  session().answers.regenerate(last().id);
  ASSERT_TRUE(idle());
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kPrefill);
  choose(Guard::kAlone);
  ASSERT_TRUE(session().answers.beginEdit(0));
  session().answers.send(QStringLiteral("What else is it?"), {});
  ASSERT_TRUE(waitUntil([this] { return session().answers.busy(); }));
  ASSERT_TRUE(idle());
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kAlone);
}

TEST_F(LaterQuestionsTest, AnAnswerIsCheckedAsItWasAsked) {
  useMethod("snapkv");
  ask(QStringLiteral("What is it?"));
  choose(Guard::kAlone);
  ask(QStringLiteral("And then?"));
  choose(Guard::kKeep);
  inWindow<ui::AnswerCheck>()->check(0);
  ASSERT_TRUE(idle());
  EXPECT_EQ(lastAsked<Score>().turn.guard, Guard::kAlone);
}

TEST_F(LaterQuestionsTest, IsRememberedOverARestart) {
  useMethod("snapkv");
  choose(Guard::kPrefill);
  forNewButton()->click();
  reopen();
  EXPECT_EQ(later()->guard(), Guard::kPrefill);
  EXPECT_EQ(later()->box()->currentText(), ui::laterTitle(Guard::kPrefill));
  ask(QStringLiteral("What is it?"));
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kPrefill);
}

// It was one setting for all, and the card did not say so.
TEST_F(LaterQuestionsTest, EveryChatHasItsOwn) {
  useMethod("snapkv");
  ask(QStringLiteral("What is it?"));
  const ConversationId first = session().chat.id();
  useMethod("self-study");
  ask(QStringLiteral("What else?"));
  choose(Guard::kPrefill);
  session().chat.open(first);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == first; }));
  EXPECT_EQ(later()->guard(), Guard::kKeep);
  ask(QStringLiteral("And then?"));
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kKeep);
  choose(Guard::kAlone);
  reopen();
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == first; }));
  EXPECT_EQ(later()->guard(), Guard::kAlone);
  m_window->page().startNew();
  EXPECT_EQ(later()->guard(), Guard::kKeep);
}

// A share tried once, before the first question, was everybody's from then on.
TEST_F(LaterQuestionsTest, WhatIsTriedInANewChatIsNoDefault) {
  const app::NamedRecipe before = m_settings->defaultRecipe();
  ui::MethodControl* method = composer()->method();
  EXPECT_TRUE(forNewButton()->isHidden());
  method->setShare(0.01);
  choose(Guard::kAlone);
  EXPECT_FALSE(forNewButton()->isHidden());
  ask(QStringLiteral("What is it?"));
  EXPECT_EQ(lastAsked<Turn>().recipe.retention, 0.01);
  EXPECT_EQ(m_settings->defaultRecipe(), before);
  m_window->page().startNew();
  EXPECT_EQ(method->recipe(), before);
  EXPECT_EQ(later()->guard(), Guard::kKeep);
  EXPECT_TRUE(forNewButton()->isHidden());
  // Unless somebody says so.
  method->setShare(0.05);
  choose(Guard::kAlone);
  forNewButton()->click();
  EXPECT_TRUE(forNewButton()->isHidden());
  ask(QStringLiteral("What is it?"));
  m_window->page().startNew();
  EXPECT_EQ(method->retention(), 0.05);
  EXPECT_EQ(later()->guard(), Guard::kAlone);
}

TEST_F(LaterQuestionsTest, TheLineThatWarnsOffersTheChoice) {
  useMethod("snapkv");
  EXPECT_TRUE(inWindow<ui::PreparationLine>()->button()->isHidden());
  ask(QStringLiteral("What is it?"));
  choose(Guard::kAlone);
  ASSERT_FALSE(line().isEmpty());
  ASSERT_FALSE(inWindow<ui::PreparationLine>()->button()->isHidden());
  QTest::mouseClick(inWindow<ui::PreparationLine>()->button(), Qt::LeftButton);
  EXPECT_TRUE(composer()->method()->card()->isVisible());
  EXPECT_TRUE(later()->box()->hasFocus());
}

TEST_F(LaterQuestionsTest, ASettingThatNobodyKnowsCountsAsTheDefault) {
  choose(Guard::kAlone);
  m_store->setSetting(QLatin1String(app::setting_keys::kLaterQuestions), QStringLiteral("everything, always"));
  reopen();
  EXPECT_EQ(later()->guard(), Guard::kKeep);
  ask(QStringLiteral("What is it?"));
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kKeep);
}

TEST_F(LaterQuestionsTest, WhatAMethodCannotDoIsNotOfferedAndNotSent) {
  useMethod("snapkv");
  choose(Guard::kRam);
  forNewButton()->click();
  EXPECT_TRUE(offers(Guard::kRam));
  for (const char* method : {"self-study", "fastv", "rekv", "self-study-stream"}) {
    SCOPED_TRACE(method);
    useMethod(method);
    EXPECT_FALSE(offers(Guard::kRam));
    EXPECT_TRUE(offers(Guard::kPrefill));
    EXPECT_TRUE(later()->cost().startsWith(QStringLiteral("Not available"))) << later()->cost().toStdString();
    ask(QStringLiteral("What is it?"));
    EXPECT_EQ(lastAsked<Turn>().guard, Guard::kKeep) << "the engine would refuse it";
  }
  useMethod("snapkv");
  ask(QStringLiteral("What is it?"));
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kRam) << "what was chosen is not forgotten";
}

TEST_F(LaterQuestionsTest, EveryChoiceNamesItsCost) {
  EXPECT_FALSE(later()->box()->accessibleName().isEmpty());
  const std::vector<MethodInfo> methods = list_methods();
  for (const MethodInfo& method : methods) {
    useMethod(method.name.c_str());
    for (int row = 0; row < later()->box()->count(); ++row) {
      const QString said = later()->box()->itemData(row, Qt::ToolTipRole).toString();
      const bool names = said.startsWith(QStringLiteral("Costs nothing")) || said.startsWith(QStringLiteral("Reads everything again")) ||
                         said.startsWith(QStringLiteral("Needs memory")) || said.startsWith(QStringLiteral("Fast")) ||
                         said.startsWith(QStringLiteral("Not available"));
      EXPECT_TRUE(names) << method.name << " " << row << ": " << said.toStdString();
    }
  }
  const auto cost = [&](Guard guard, const char* method) { return ui::laterCost(guard, recipe(method)); };
  EXPECT_TRUE(cost(Guard::kAlone, "self-study").startsWith(QStringLiteral("Fast")));
  EXPECT_TRUE(cost(Guard::kAlone, "snapkv").startsWith(QStringLiteral("Reads everything again")));
  EXPECT_TRUE(cost(Guard::kKeep, "snapkv").contains(QStringLiteral("is gone")));
  EXPECT_FALSE(cost(Guard::kKeep, "full").contains(QStringLiteral("is gone")));
  choose(Guard::kPrefill);
  EXPECT_EQ(later()->cost(), later()->box()->toolTip());
  EXPECT_EQ(later()->cost(), later()->box()->accessibleDescription());
}

TEST_F(LaterQuestionsTest, AColumnOfAComparisonHasNoLaterQuestions) {
  m_window->page().compareOrLeave();
  EXPECT_EQ(m_window->findChildren<ui::LaterChoice*>().size(), 1) << "the chat's own";
}

TEST_F(LaterQuestionsTest, CannotBeChosenWhileASourceIsWatched) {
  choose(Guard::kPrefill);
  ask(QStringLiteral("What is it?"));
  EXPECT_TRUE(later()->box()->isEnabled());
  m_clips.giveFrames(8);
  app::WatchRequest request{.address = "/dev/video0"};
  inWindow<ui::WatchController>()->start(request);
  ASSERT_TRUE(waitUntil([this] { return inWindow<ui::WatchController>()->watched().frames == 8 && session().answers.canSend(); }));
  EXPECT_FALSE(later()->box()->isEnabled());
  EXPECT_EQ(later()->box()->currentText(), ui::laterTitle(Guard::kAlone));
  EXPECT_TRUE(later()->cost().contains(QStringLiteral("watched source"))) << later()->cost().toStdString();
  EXPECT_TRUE(line().isEmpty());
  ask(QStringLiteral("What is there?"));
  EXPECT_EQ(lastAsked<Turn>().guard, Guard::kAlone);
  m_window->page().startNew();
  EXPECT_TRUE(later()->box()->isEnabled());
  EXPECT_EQ(later()->box()->currentText(), ui::laterTitle(Guard::kKeep));
}

TEST_F(LaterQuestionsTest, NothingIsPreparedThatIsReadAgainAnyway) {
  m_settings->setUnasked({app::Unasked::kAlways, app::Unasked::kNever});
  useMethod("self-study");
  choose(Guard::kPrefill);
  const auto attach = [this] { ASSERT_TRUE(attaches("/samples/clip.mp4")); };
  attach();
  ASSERT_TRUE(waitUntil([this] { return inWindow<ui::PreparationLine>()->view().text.contains(QStringLiteral("for this question")); }));
  EXPECT_EQ(m_log->prepares().back().turn.guard, Guard::kPrefill);
  ask(QStringLiteral("What is it?"));
  attach();
  QTest::qWait(1600);
  EXPECT_EQ(m_log->prepares().size(), 1U) << "a later question reads everything again";
  choose(Guard::kKeep);
  EXPECT_TRUE(waitUntil([this] { return m_log->prepares().size() == 2; }));
}

TEST_F(LaterQuestionsTest, TheLineFollowsTheChoice) {
  useMethod("snapkv");
  EXPECT_TRUE(line().isEmpty());
  ask(QStringLiteral("What is it?"));
  choose(Guard::kAlone);
  const QString alone = line();
  EXPECT_TRUE(alone.contains(QStringLiteral("does not see earlier questions and answers"))) << alone.toStdString();
  choose(Guard::kRam);
  EXPECT_TRUE(line().contains(QStringLiteral("in memory"))) << line().toStdString();
  choose(Guard::kKeep);
  EXPECT_FALSE(line().contains(QStringLiteral("in memory"))) << line().toStdString();
}

app::StoredMessage answered(const char* method, double keptVisual) {
  app::StoredMessage answer;
  answer.role = Role::kAssistant;
  answer.hasRun = true;
  answer.run.recipe.spec = recipe(method);
  answer.run.figures.tokens.thread_visual = 500;
  answer.run.figures.kv_bytes.full = 1 << 20;
  answer.run.figures.layers.resize(2);
  answer.run.figures.layers[0].kept_visual = 2.0 * keptVisual;
  return answer;
}

std::string said(const QList<app::StoredMessage>& branch, Guard guard, const char* method) {
  return ui::laterQuestionText(branch, {{{}, recipe(method)}, guard}, list_methods()).toStdString();
}

// Of a question about a video and its answer.
std::string said(const char* method, double kept, Guard guard = Guard::kKeep) {
  app::StoredMessage question;
  question.attachments.append(app::Attachment{});
  question.attachments.back().kind = MediaKind::kVideo;
  return said({question, answered(method, kept)}, guard, method);
}

bool contains(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(LaterQuestion, IsToldWhatIsLeftAndWhy) {
  EXPECT_TRUE(contains(said("self-study", 50.0), "of the video kept earlier")) << said("self-study", 50.0);
  EXPECT_TRUE(contains(said("self-study", 50.0), app::formatShare(0.1).toStdString()));
  EXPECT_TRUE(contains(said("snapkv", 50.0), "is left, chosen for earlier questions"));
  EXPECT_TRUE(contains(said("streaming-llm", 50.0), "that is left"));
  EXPECT_TRUE(contains(said("rekv", 50.0), "nothing was dropped")) << said("rekv", 50.0);
  EXPECT_EQ(said("full", 500.0), "");
  EXPECT_EQ(said({}, Guard::kKeep, "snapkv"), "");
  app::StoredMessage text = answered("snapkv", 0.0);
  text.run.figures.tokens.thread_visual = 0;
  EXPECT_EQ(said({text}, Guard::kKeep, "snapkv"), "") << "there are no pictures";
}

TEST(LaterQuestion, ReadAgainItSeesThePicturesAsAFirstOne) {
  const std::string needed = said("snapkv", 50.0, Guard::kPrefill);
  EXPECT_TRUE(contains(needed, "starts from all of the video. Everything is read again.")) << needed;
  const std::string before = said("self-study", 50.0, Guard::kPrefill);
  EXPECT_TRUE(contains(before, app::formatShare(0.1).toStdString() + " of the video kept before it is read")) << before;
  EXPECT_TRUE(contains(said({answered("self-study", 50.0)}, Guard::kPrefill, "kvzip"), "starts from all of")) << "another method's share";
  EXPECT_TRUE(contains(said("rekv", 50.0, Guard::kPrefill), "starts from all of"));
  EXPECT_EQ(said({}, Guard::kPrefill, "snapkv"), "") << "nothing was asked yet";
}

TEST(LaterQuestion, FromTheFullCacheItIsToldWhatThatTakes) {
  const std::string text = said("snapkv", 50.0, Guard::kRam);
  EXPECT_TRUE(
      contains(text, "starts from all of the video. The full cache (" + app::formatBytes(1 << 20).toStdString() + ") stays in memory"))
      << text;
}

TEST(LaterQuestion, ByItselfItDoesNotSeeWhatWasSaid) {
  EXPECT_TRUE(
      contains(said("snapkv", 50.0, Guard::kAlone), "starts from all of the video. It does not see earlier questions and answers."));
  EXPECT_TRUE(contains(said("self-study", 50.0, Guard::kAlone), "kept before it is read. It does not see earlier questions and answers."));
  app::StoredMessage text = answered("snapkv", 0.0);
  text.run.figures.tokens.thread_visual = 0;
  EXPECT_EQ(said({text}, Guard::kAlone, "snapkv"), "It does not see earlier questions and answers.") << "there are no pictures";
}

TEST(LaterQuestion, AfterOneByItselfTheConversationIsReadAgain) {
  app::StoredMessage alone = answered("snapkv", 50.0);
  alone.run.guard = Guard::kAlone;
  EXPECT_TRUE(contains(said({alone}, Guard::kKeep, "snapkv"), "chosen for earlier questions")) << "it was the only one";
  EXPECT_TRUE(contains(said({answered("snapkv", 50.0), alone}, Guard::kKeep, "snapkv"), "reads everything again"));
  EXPECT_TRUE(contains(said({alone, answered("snapkv", 50.0)}, Guard::kKeep, "snapkv"), "chosen for earlier questions"));
}

}  // namespace
}  // namespace winnow::test
