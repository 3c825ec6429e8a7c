// An answer that is not whole says why, now and after a restart, and offers a way on.
#include <QAccessible>
#include <algorithm>

#include "app/chats/chat/chat_export.h"
#include "app/words/error_text.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/chat_view/message_note.h"
#include "ui/shell/chat/export_chat.h"

namespace winnow::test {
namespace {

using namespace std::chrono_literals;

class UnfinishedAnswer : public WindowTest {
 protected:
  // As a screen reader would tell the last message.
  QString told() {
    QAccessibleInterface* list = QAccessible::queryAccessibleInterface(transcript());
    return list->child(transcript()->messageCount() - 1)->text(QAccessible::Name);
  }
  void reopen() { ASSERT_TRUE(reopened(2)); }
  void send(const QString& text) {
    ASSERT_TRUE(sends(text));
    ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && session().answers.busy(); }));
  }
  void goOnAndWait() {
    const qint64 cut = last().id;
    m_window->grab();
    const QRect button = transcript()->actionRect(cut, ui::Action::kContinue);
    ASSERT_FALSE(button.isEmpty());
    QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, button.center());
    ASSERT_TRUE(waitUntil([&] { return last().id != cut && last().metrics.valid && !session().answers.busy(); }));
  }
  void loadSecond() {
    session().model.load(QStringLiteral("/models/second"));
    ASSERT_TRUE(waitUntil([this] {
      return session().model.state() == ui::ModelState::kReady && session().model.info().folder == "/models/second" &&
             session().answers.canSend();
    }));
  }
  std::vector<Turn> turns() {
    std::vector<Turn> all;
    for (const Request& request : m_log->requests()) {
      if (const auto* turn = std::get_if<Turn>(&request.body)) all.push_back(*turn);
    }
    return all;
  }
};

// Four words an answer, until "ten"; the figures count all of them.
Script cut_script(const Request& request) {
  if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
  const auto& turn = std::get<Turn>(request.body);
  const QStringList words = QStringLiteral("one two three four five six seven eight nine ten").split(u' ');
  const auto begun = QString::fromStdString(turn.answer_begun).split(u' ', Qt::SkipEmptyParts).size();
  const QStringList said = words.mid(begun, 4);
  const QString text = (begun > 0 ? QStringLiteral(" ") : QString()) + said.join(u' ');
  Script script = answer_script(request, text.toStdString());
  auto& finished = std::get<Finished>(std::get<Say>(script.back().action).body);
  finished.figures.tokens.generated = begun + said.size();
  if (begun > 0) finished.figures.tokens.prompt = 0;
  if (begun + said.size() < words.size()) finished.reason = StopReason::kLength;
  return script;
}

TEST_F(UnfinishedAnswer, CutAtTheLimitSaysSoAndGoesOn) {
  m_script = cut_script;
  app::ChatDefaults defaults = m_settings->chatDefaults();
  defaults.sampling.temperature = 0.7;  // each answer has a seed of its own: the rest has the answer's
  m_settings->setChatDefaults(defaults);
  ask(QStringLiteral("count"));
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped at the limit of 4 tokens."))) << told().right(200).toStdString();
  const qint64 prompt = session().chat.branch().last().run.figures.tokens.prompt;
  ASSERT_GT(prompt, 0);
  reopen();
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped at the limit of 4 tokens."))) << "forgotten: " << told().right(200).toStdString();
  app::NamedRecipe other;  // of what comes after
  other.spec.method = "h2o";
  session().chat.setRecipe(other);
  m_window->grab();
  const QRect button = transcript()->actionRect(last().id, ui::Action::kContinue);
  ASSERT_FALSE(button.isEmpty());
  qint64 cut = last().id;
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, button.center());
  ASSERT_TRUE(waitUntil([&] { return last().id != cut && last().metrics.valid && !session().answers.busy(); }));
  const Turn more = turns().back();
  EXPECT_EQ(more.answer_begun, "one two three four");
  EXPECT_EQ(more.messages.size(), 1U) << "the question";
  const app::Run run = session().chat.branch().last().run;
  EXPECT_EQ(more.recipe, run.recipe.spec);
  EXPECT_NE(more.recipe.method, "h2o") << "as it began";
  EXPECT_EQ(choice_of(more.sampling), run.sampling);
  EXPECT_EQ(last().text, QStringLiteral("one two three four five six seven eight"));
  EXPECT_EQ(run.figures.tokens.generated, 8);
  EXPECT_EQ(run.figures.tokens.prompt, prompt) << "of the whole answer, not of its end";
  EXPECT_EQ(last().branchCount, 2) << "the shorter one is still there";
  cut = last().id;
  QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(waitUntil([&] { return last().id != cut && last().metrics.valid && !session().answers.busy(); }));
  EXPECT_EQ(last().text, QStringLiteral("one two three four five six seven eight nine ten"));
  EXPECT_FALSE(told().contains(QStringLiteral("limit"))) << "it came to its end";
  EXPECT_TRUE(transcript()->actionRect(last().id, ui::Action::kContinue).isEmpty());
  reopen();
  EXPECT_EQ(last().text, QStringLiteral("one two three four five six seven eight nine ten"));
}

TEST_F(UnfinishedAnswer, WhatCannotGoOnKeepsItsBeginning) {
  m_script = cut_script;
  ask(QStringLiteral("count"));
  m_script = [](const Request&) { return Script{{{}, Say{Failed{{ErrorCode::kContextFull, "", "the model reads 8 tokens"}}}}}; };
  const qint64 cut = last().id;
  session().answers.regenerate(cut, ui::AnswerRun::Again::kGoingOn);
  ASSERT_TRUE(waitUntil([&] { return last().id != cut && !session().answers.busy(); }));
  EXPECT_EQ(last().text, QStringLiteral("one two three four"));
  EXPECT_TRUE(last().error.has_value());
}

// The whole of it was headed by whoever went on.
TEST_F(UnfinishedAnswer, ContinuedByAnotherModelItNamesBoth) {
  m_script = cut_script;
  ask(QStringLiteral("count"));
  const QString first = last().roleLabel;
  loadSecond();
  goOnAndWait();
  const QString both = first + QStringLiteral(", continued by second");
  EXPECT_EQ(last().roleLabel, both);
  goOnAndWait();
  EXPECT_EQ(last().roleLabel, both) << "the same model again is no further part";
  EXPECT_EQ(last().text, QStringLiteral("one two three four five six seven eight nine ten"));
  reopen();
  EXPECT_EQ(last().roleLabel, both);
  const QByteArray exported = ui::chatAsMarkdown(session().chat.loaded(), list_methods());
  EXPECT_TRUE(exported.contains("\n## " + both.toUtf8() + '\n')) << exported.toStdString();
  EXPECT_TRUE(app::chatToJson(session().chat.loaded()).contains("\"begun_by\""));
}

TEST_F(UnfinishedAnswer, AModelThatAddsNothingIsNotNamed) {
  for (const bool fails : {true, false}) {
    m_window->page().startNew();
    m_script = cut_script;
    ask(QStringLiteral("count"));
    const QString first = last().roleLabel;
    const QString method = last().metrics.method;
    loadSecond();
    m_script = [fails](const Request& request) {
      if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
      return fails ? failure_script(ErrorCode::kContextFull, "", "the model reads 8 tokens") : answer_script(request, "");
    };
    const qint64 cut = last().id;
    session().answers.regenerate(cut, ui::AnswerRun::Again::kGoingOn);
    ASSERT_TRUE(waitUntil([&] { return last().id != cut && !session().answers.busy(); }));
    EXPECT_EQ(last().text, QStringLiteral("one two three four"));
    EXPECT_EQ(last().roleLabel, first);
    reopen();
    EXPECT_EQ(last().roleLabel, first);
    EXPECT_EQ(last().metrics.method, method);
  }
}

// "2/2", both the same.
TEST_F(UnfinishedAnswer, ContinuedOrAskedAgainAndStoppedBeforeAWordNothingIsAdded) {
  m_script = cut_script;
  ask(QStringLiteral("count"));
  const qint64 cut = last().id;
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return Script{{{}, Say{Progress{Phase::kPrefill, 1, 4}}}, {{}, Stall{}}};
  };
  const auto expectTheCutAnswerAlone = [&] {
    ASSERT_EQ(transcript()->messageCount(), 2);
    EXPECT_EQ(last().id, cut);
    EXPECT_EQ(last().branchCount, 1);
    EXPECT_EQ(last().text, QStringLiteral("one two three four"));
    m_window->grab();
    EXPECT_FALSE(transcript()->actionRect(cut, ui::Action::kContinue).isEmpty());
  };
  const std::function<void()> ways[] = {[&] { session().answers.regenerate(cut, ui::AnswerRun::Again::kGoingOn); },
                                        [&] { session().answers.regenerate(cut); }};
  for (const auto& begin : ways) {
    begin();
    ASSERT_TRUE(waitUntil([&] { return last().id != cut && session().answers.writingHere() && !last().phase.isEmpty(); }));
    session().answers.stop();
    ASSERT_TRUE(idle());
    expectTheCutAnswerAlone();
    reopen();
    expectTheCutAnswerAlone();
    // Gone while another chat is looked at.
    const ConversationId chat = session().chat.id();
    begin();
    ASSERT_TRUE(waitUntil([&] { return last().id != cut && session().answers.writingHere(); }));
    session().chat.startNew();
    session().answers.stop();
    ASSERT_TRUE(idle());
    session().chat.open(chat);
    ASSERT_TRUE(waitUntil([&] { return session().chat.id() == chat; }));
    expectTheCutAnswerAlone();
  }
  // It goes on as it would have.
  m_script = cut_script;
  goOnAndWait();
  EXPECT_EQ(last().text, QStringLiteral("one two three four five six seven eight"));
  EXPECT_EQ(last().branchCount, 2);
}

TEST_F(UnfinishedAnswer, StoppedBeforeTheFirstWordAndStoppedHereAreNotTheSame) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return Script{{{}, Say{Progress{Phase::kPrefill, 1, 4}}}, {{}, Stall{}}};
  };
  send(QStringLiteral("first"));
  QTest::mouseClick(composer()->sendButton(), Qt::LeftButton);
  ASSERT_TRUE(idle());
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped before the first word."))) << told().toStdString();
  reopen();
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped before the first word."))) << told().toStdString();
  m_script = [](const Request& request) {
    return answer_script(request, "one two three four five six seven eight nine ten eleven twelve", 60ms);
  };
  m_window->grab();
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, ui::Action::kRegenerate).center());
  ASSERT_TRUE(waitUntil([this] { return last().text.contains(QStringLiteral("two")); }));
  QTest::mouseClick(composer()->sendButton(), Qt::LeftButton);
  ASSERT_TRUE(idle());
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped here."))) << told().toStdString();
  EXPECT_FALSE(told().contains(QStringLiteral("before the first word"))) << told().toStdString();
}

TEST_F(UnfinishedAnswer, OfAProgramThatWasClosedSaysThatItWas) {
  m_script = answering("one two three four five six seven eight nine ten eleven twelve", 80ms);
  send(QStringLiteral("count"));
  ASSERT_TRUE(waitUntil([this] { return last().text.contains(QStringLiteral("three")); }));
  reopen();
  EXPECT_TRUE(told().contains(QStringLiteral("Winnow was closed while this was written."))) << told().toStdString();
  EXPECT_TRUE(last().text.startsWith(QStringLiteral("one")));
  m_window->grab();
  EXPECT_TRUE(transcript()->actionRect(last().id, ui::Action::kRetry).isEmpty()) << "answering again is offered once";
  EXPECT_FALSE(transcript()->actionRect(last().id, ui::Action::kRegenerate).isEmpty());
  const QString begun = last().text;
  m_script = answering(" and the rest");
  goOnAndWait();
  EXPECT_EQ(turns().back().answer_begun, begun.toStdString());
  EXPECT_EQ(last().text, begun + QStringLiteral(" and the rest"));
}

TEST_F(UnfinishedAnswer, CutByTheEndOfTheEngineIsKeptAndGoesOn) {
  struct End {
    ErrorCode code;
    const char* sentence;
  };
  const End ends[] = {{ErrorCode::kEngineCrashed, "The engine stopped unexpectedly."},
                      {ErrorCode::kEngineOutOfMemory, "The engine stopped: out of memory."},
                      {ErrorCode::kEngineSilent, "The engine did not react and was ended."},
                      {ErrorCode::kDeviceFailed, "The graphics processor stopped working."}};
  for (const End& end : ends) {
    SCOPED_TRACE(end.sentence);
    session().chat.startNew();
    ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 0; }));
    m_script = [&](const Request& request) {
      if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
      Script script = answer_script(request, "one two three four");
      script.back() = {{}, Say{Failed{{end.code, "", "the reason"}}}};
      return script;
    };
    ask(QStringLiteral("count"));
    const auto expectKept = [&] {
      EXPECT_EQ(last().text, QStringLiteral("one two three four"));
      ASSERT_TRUE(last().error);
      EXPECT_EQ(app::describeError(*last().error).cause, QString::fromUtf8(end.sentence));
      EXPECT_EQ(told().count(QStringLiteral(" kept")), 1) << "once: " << told().toStdString();
      m_window->grab();
      const auto at = [this](ui::Action action) { return transcript()->actionRect(last().id, action); };
      for (const ui::Action action : {ui::Action::kContinue, ui::Action::kRetry, ui::Action::kErrorDetails}) {
        ASSERT_FALSE(at(action).isEmpty());
        EXPECT_EQ(at(action).top(), at(ui::Action::kContinue).top()) << "one line of actions";
      }
      for (const ui::Action action : {ui::Action::kRegenerate, ui::Action::kCopy, ui::Action::kErrorCopy})
        EXPECT_TRUE(at(action).isEmpty()) << "twice";
    };
    expectKept();
    reopen();
    expectKept();
    m_script = answering(" and the rest");
    goOnAndWait();
    EXPECT_EQ(turns().back().answer_begun, "one two three four");
    EXPECT_EQ(last().text, QStringLiteral("one two three four and the rest"));
    EXPECT_FALSE(last().error);
    EXPECT_FALSE(told().contains(QStringLiteral("is kept"))) << told().toStdString();
  }
}

TEST_F(UnfinishedAnswer, OfAnEngineThatWroteNothingNothingIsSaidToBeKept) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return failure_script(ErrorCode::kEngineCrashed, "", "the reason");
  };
  ask(QStringLiteral("count"));
  EXPECT_TRUE(told().contains(QStringLiteral("Ask again: the engine starts anew."))) << told().toStdString();
  EXPECT_FALSE(told().contains(QStringLiteral(" kept"))) << told().toStdString();
}

// A chat that is longer than the model reads: the last question alone, in a new chat or behind what is attached.
TEST_F(UnfinishedAnswer, AFullContextOffersTheWaysOut) {
  m_script = [](const Request& request) {
    const auto* turn = std::get_if<Turn>(&request.body);
    if (turn == nullptr) return default_script(request);
    return turn->messages.size() > 1 && turn->guard != Guard::kAlone ? failure_script(ErrorCode::kContextFull, "", "4200 of 4096")
                                                                     : answer_script(request, "Fine.");
  };
  ask(QStringLiteral("first"));
  EXPECT_TRUE(transcript()->actionRect(last().id, ui::Action::kAnswerAlone).isEmpty());
  ask(QStringLiteral("second"));
  ASSERT_TRUE(last().error);
  m_window->grab();
  const QRect alone = transcript()->actionRect(last().id, ui::Action::kAnswerAlone);
  const QRect anew = transcript()->actionRect(last().id, ui::Action::kNewChat);
  ASSERT_FALSE(alone.isEmpty());
  ASSERT_FALSE(anew.isEmpty());
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, alone.center());
  ASSERT_TRUE(waitUntil([this] { return last().text == QStringLiteral("Fine.") && !session().answers.busy(); }));
  EXPECT_TRUE(told().contains(QStringLiteral("The earlier turns were left out"))) << told().toStdString();
  ASSERT_TRUE(reopened(4));
  EXPECT_TRUE(told().contains(QStringLiteral("The earlier turns were left out"))) << "forgotten: " << told().toStdString();
  session().chat.switchBranch(last().id, -1);
  ASSERT_TRUE(last().error);
  m_window->grab();
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, ui::Action::kNewChat).center());
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() == 0 && transcript()->messageCount() == 0; }));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("second"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().text == QStringLiteral("Fine."); }));
}

TEST_F(UnfinishedAnswer, StoppedGoesOnFromWhereItWasStopped) {
  m_script = answering("one two three four five six seven eight nine ten eleven twelve", 60ms);
  send(QStringLiteral("count"));
  ASSERT_TRUE(waitUntil([this] { return last().text.contains(QStringLiteral("two")); }));
  QTest::mouseClick(composer()->sendButton(), Qt::LeftButton);
  ASSERT_TRUE(idle());
  const QString begun = last().text;
  m_script = [](const Request& request) { return answer_script(request, " and the rest"); };
  goOnAndWait();
  EXPECT_EQ(turns().back().answer_begun, begun.toStdString());
  EXPECT_EQ(last().text, begun + QStringLiteral(" and the rest"));
  EXPECT_TRUE(transcript()->actionRect(last().id, ui::Action::kContinue).isEmpty()) << "it came to its end";
}

// A thought, then an answer.
Script thinking_script(const Request& request, const std::string& thought, const std::string& answer) {
  if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
  Script script = answer_script(request, answer);
  auto& finished = std::get<Finished>(std::get<Say>(script.back().action).body);
  finished.thought = thought;
  finished.figures.tokens.thought = 240;
  finished.figures.timings_ms.thought = 12000.0;
  const auto first = std::find_if(script.begin(), std::prev(script.end()), [](const auto& step) {
    const auto* say = std::get_if<Say>(&step.action);
    return say != nullptr && std::holds_alternative<TextDelta>(say->body);
  });
  script.insert(first, {{}, Say{TextDelta{thought, TextKind::kThought}}});
  return script;
}

TEST_F(UnfinishedAnswer, AThoughtIsFoldedKeptAndNoPartOfTheAnswer) {
  m_script = [](const Request& request) { return thinking_script(request, "Let me see.", "Red."); };
  ask(QStringLiteral("colour?"));
  EXPECT_EQ(last().text, QStringLiteral("Red."));
  EXPECT_EQ(last().thought, QStringLiteral("Let me see."));
  EXPECT_TRUE(told().contains(QStringLiteral("240 tokens"))) << told().toStdString();
  EXPECT_FALSE(told().contains(QStringLiteral("Let me see."))) << "it is folded";
  reopen();
  EXPECT_EQ(last().thought, QStringLiteral("Let me see.")) << "kept with the chat";
  m_window->grab();
  const QRect line = transcript()->actionRect(last().id, ui::Action::kThought);
  ASSERT_FALSE(line.isEmpty());
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, line.center());
  EXPECT_TRUE(told().contains(QStringLiteral("Let me see.")));
  transcript()->selectAll();
  EXPECT_FALSE(transcript()->selectedText().contains(QStringLiteral("Let me see."))) << "no part of what is copied";
  const app::LoadedConversation& chat = session().chat.loaded();
  EXPECT_FALSE(ui::chatAsMarkdown(chat, list_methods()).contains("Let me see."));
  EXPECT_FALSE(app::chatToJson(chat).contains("Let me see."));
  ask(QStringLiteral("sure?"));
  const Turn later = turns().back();
  ASSERT_EQ(later.messages.size(), 3U);
  EXPECT_EQ(std::get<TextItem>(later.messages[1].items.front()).text, "Red.");
  EXPECT_EQ(later.messages[1].thought, "Let me see.") << "what becomes of it is the chat template's matter";
}

// It stood still for a minute: "Thought".
TEST_F(UnfinishedAnswer, AThoughtThatGoesOnIsShownAndCanBeEnded) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    const auto& turn = std::get<Turn>(request.body);
    Script script = thinking_script(request, "First this.\nThen that", "");
    if (!turn.thought_begun.empty()) return answer_script(request, "Red.");
    script.erase(std::find_if(script.begin(), script.end(),
                              [](const Step& step) {
                                const auto* delta = std::get_if<TextDelta>(&std::get<Say>(step.action).body);
                                return delta != nullptr && delta->kind == TextKind::kThought;
                              }) +
                     1,
                 script.end());
    script.push_back({{}, Stall{}});
    return script;
  };
  send(QStringLiteral("colour?"));
  ASSERT_TRUE(waitUntil([this] { return !last().thought.isEmpty(); }));
  EXPECT_EQ(ui::thoughtLine(last()), QStringLiteral("Thinking… 0 s"));
  EXPECT_EQ(ui::lastThought(last()), QStringLiteral("Then that"));
  m_window->grab();
  const QRect now = transcript()->actionRect(last().id, ui::Action::kAnswerNow);
  ASSERT_FALSE(now.isEmpty());
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, now.center());
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().text == QStringLiteral("Red."); }));
  ASSERT_TRUE(idle());
  const Turn more = turns().back();
  EXPECT_EQ(more.thought_begun, "First this.\nThen that");
  EXPECT_EQ(more.answer_begun, "");
  EXPECT_EQ(more.sampling.thought_tokens, 1);
  EXPECT_EQ(last().status, ui::MessageStatus::kComplete);
  EXPECT_EQ(last().branchCount, 1) << "it is the same answer";
  EXPECT_EQ(last().thought, QStringLiteral("First this.\nThen that"));
  reopen();
  EXPECT_EQ(last().text, QStringLiteral("Red."));
  EXPECT_EQ(last().thought, QStringLiteral("First this.\nThen that"));
}

TEST_F(UnfinishedAnswer, ThatIsAllThoughtsSaysSo) {
  m_script = [](const Request& request) { return thinking_script(request, "Let me see.", ""); };
  ask(QStringLiteral("colour?"));
  EXPECT_EQ(last().text, QString());
  EXPECT_TRUE(told().contains(QStringLiteral("The model stopped after its thoughts, without an answer."))) << told().toStdString();
  m_script = [](const Request& request) {
    return std::holds_alternative<LoadModel>(request.body) ? load_script(request) : answer_script(request, "");
  };
  ask(QStringLiteral("and now?"));
  EXPECT_TRUE(told().contains(QStringLiteral("The model ended without a word."))) << told().toStdString();
}

TEST_F(UnfinishedAnswer, OfAProgramThatWasClosedBeforeTheFirstWord) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return Script{{{}, Stall{}}};
  };
  send(QStringLiteral("count"));
  reopen();
  EXPECT_TRUE(told().contains(QStringLiteral("Winnow was closed before the first word."))) << told().toStdString();
}

}  // namespace
}  // namespace winnow::test
