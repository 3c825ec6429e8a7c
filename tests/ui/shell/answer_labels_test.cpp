// What an answer says of itself is what made it, whatever is chosen, compared, used, loaded, restarted or killed afterwards.
#include <QPushButton>
#include <nlohmann/json.hpp>
#include <random>

#include "app/chats/chat/chat_export.h"
#include "app/words/format_text.h"
#include "tests/support/scripted_comparison.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/chat_view/answer_figures.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/preparation_line.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/models/cache_monitor.h"
#include "ui/recipes/recipe_words.h"
#include "ui/shell/chat/export_chat.h"
#include "ui/shell/turns/comparison_controller.h"

namespace winnow::test {
namespace {

RecipeSpec recipe(const char* method, double share) { return {.method = method, .retention = share}; }

// An engine that forgets: caches live as long as the model that is loaded, and it knows who made each. What it tells is the truth here.
class AnswerLabelsTest : public WindowTest {
 protected:
  struct Cause {
    CacheMakers makers;
    RecipeSpec asked;
    std::string model;
  };

  void SetUp() override {
    m_script = [this](const Request& request) { return scripted(request); };
    WindowTest::SetUp();
  }

  // Engine thread.
  Script scripted(const Request& request) {
    if (const auto* load = std::get_if<LoadModel>(&request.body)) {
      m_held.clear();
      m_model = load->folder.substr(load->folder.find_last_of('/') + 1);
      return load_script(request);
    }
    if (std::holds_alternative<Compare>(request.body)) return told(compare_script(request, {newText(), newText()}));
    Request asked = request;
    auto& turn = std::get<Turn>(asked.body);
    if (std::find(m_held.begin(), m_held.end(), turn.goes_on_from) == m_held.end()) turn.goes_on_from.clear();
    Script script = told(answer_script(asked, newText()));
    if (!m_stalls) return script;
    const auto said = std::find_if(script.begin(), script.end(),
                                   [](const Step& step) { return std::holds_alternative<TextDelta>(std::get<Say>(step.action).body); });
    script.erase(said + 1, script.end());
    script.push_back({{}, Stall{}});
    return script;
  }
  std::string newText() { return "answer" + std::to_string(++m_answers) + " is written"; }
  // Remembers what made each text.
  Script told(Script script) {
    std::map<std::int32_t, CacheMakers> makers;
    for (Step& step : script) {
      auto* say = std::get_if<Say>(&step.action);
      if (say == nullptr) continue;
      if (const auto* report = std::get_if<CacheReport>(&say->body)) makers[say->column] = report->makers;
      if (const auto* finished = std::get_if<Finished>(&say->body)) {
        RecipeSpec asked{.method = finished->figures.method, .retention = finished->figures.retention};
        const std::lock_guard lock(m_mutex);
        m_causes[finished->answer.substr(0, finished->answer.find(' '))] = {makers[say->column], asked, m_model};
        m_held.push_back(makers[say->column]);
      }
    }
    return script;
  }

  Cause causeOf(const QString& text) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_causes.find(text.section(QLatin1Char(' '), 0, 0).trimmed().toStdString());
    EXPECT_NE(found, m_causes.end()) << text.toStdString();
    return found != m_causes.end() ? found->second : Cause();
  }
  static QString labelOf(const CacheMakers& makers) {
    QList<app::NamedRecipe> named;
    for (const CacheMaker& maker : naming_makers(makers)) named.push_back({{}, maker.recipe});
    return ui::recipesLabel(list_methods(), named);
  }

  // Chips, headings and the panel of the chat on screen; the exported chat.
  void expectTrueLabels() {
    QString newest;
    for (int i = 0; i < transcript()->messageCount(); ++i) {
      const ui::MessageContent& content = transcript()->messageAt(i);
      if (content.speaker != ui::Speaker::kAssistant || content.text.isEmpty()) continue;
      const Cause cause = causeOf(content.text);
      EXPECT_EQ(content.roleLabel.toStdString(), cause.model) << content.text.toStdString();
      if (!content.metrics.valid) continue;
      newest = content.text;
      EXPECT_EQ(content.metrics.method.toStdString(), labelOf(cause.makers).toStdString()) << content.text.toStdString();
    }
    const ui::CacheFigures& panel = session().answers.monitor().figures();
    EXPECT_EQ(panel.subject, ui::FiguresOf::kAnswer);
    if (newest.isEmpty()) {
      EXPECT_FALSE(panel.hasReport);
    } else {
      EXPECT_EQ(ui::recipesLabel(list_methods(), panel.makers).toStdString(), labelOf(causeOf(newest).makers).toStdString());
    }
    const auto exported = nlohmann::json::parse(app::chatToJson(session().chat.loaded()).toStdString());
    for (const auto& message : exported.at("messages")) {
      if (message.at("role") != "assistant" || !message.contains("run") || message.at("text").get<std::string>().empty()) continue;
      const CacheMakers makers = naming_makers(causeOf(QString::fromStdString(message.at("text"))).makers);
      const auto& madeBy = message.at("run").at("made_by");
      ASSERT_EQ(madeBy.size(), makers.size());
      for (std::size_t i = 0; i < makers.size(); ++i) EXPECT_EQ(madeBy.at(i).at("method"), makers[i].recipe.method);
    }
  }

  void choose(const RecipeSpec& spec) { session().chat.setRecipe({{}, spec}); }
  void load(const QString& folder) {
    session().model.load(folder);
    ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady && idle(); }));
  }
  void compare(const RecipeSpec& first, const RecipeSpec& second) {
    auto* controller = inWindow<ui::ComparisonController>();
    controller->compare({}, {}, {{{}, first}, {{}, second}}, ColumnOrder::kOneAfterAnother);
    ASSERT_TRUE(waitUntil([&] { return !controller->running() && shown().comparison().id != 0 && idle(); }));
  }
  ui::ComparisonModel& shown() { return *inWindow<ui::ComparisonView>()->model(); }
  void use(int column) {
    inWindow<ui::ComparisonController>()->useAnswer(column);
    ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison(); }));
  }
  void leaveComparison() {
    if (m_window->page().showsComparison()) m_window->page().stopOrLeave();
    ASSERT_FALSE(m_window->page().showsComparison());
  }
  void restart() {
    const ConversationId chat = session().chat.id();
    const QString model = session().model.folder();
    close();
    m_held.clear();
    ui::InitialState initial{.modelFolder = model};
    open(initial);
    ASSERT_TRUE(waitUntil([&] { return session().chat.id() == chat; }));
  }
  // An answer whose first word is there, and then the program is gone.
  void killWhileWriting() {
    m_stalls = true;
    ASSERT_TRUE(sends(QStringLiteral("Go on")));
    ASSERT_TRUE(waitUntil([this] { return session().answers.writingHere() && last().text.startsWith(QStringLiteral("answer")); }));
    const app::MessageId answer = last().id;
    ASSERT_TRUE(waitUntil([&] { return session().chat.message(answer)->text.size() > 6; }));
    QTest::qWait(400);  // streaming text is written four times a second
    restart();
    m_stalls = false;
  }

  std::mutex m_mutex;                     // guards the map below
  std::map<std::string, Cause> m_causes;  // by the first word of the answer
  std::vector<CacheMakers> m_held;        // engine thread, or no engine runs
  std::string m_model;                    // likewise
  std::atomic<int> m_answers{0};
  std::atomic<bool> m_stalls{false};
};

const RecipeSpec kSelfStudy = recipe("self-study", 0.2);
const RecipeSpec kSnapKv = recipe("snapkv", 0.1);

// An answer from a part of a video that was chosen for another question looked like any other.
TEST_F(AnswerLabelsTest, AnAnswerFromWhatAnEarlierQuestionLeftSaysSo) {
  choose(kSnapKv);
  ASSERT_TRUE(attaches("/clips/a.mp4"));
  ask(QStringLiteral("What is it?"));
  EXPECT_TRUE(last().chosenEarlier.isEmpty()) << "it was chosen for this one";
  ask(QStringLiteral("And then?"));
  const QString share = app::formatShare(last().metrics.keptShare);
  EXPECT_EQ(last().chosenEarlier, QStringLiteral("Written from %1 of the video, chosen for an earlier question.").arg(share));
  restart();
  EXPECT_FALSE(last().chosenEarlier.isEmpty());
  const QByteArray exported = ui::chatAsMarkdown(session().chat.loaded(), list_methods());
  EXPECT_TRUE(exported.contains("\n> " + last().chosenEarlier.toUtf8() + '\n')) << exported.toStdString();
  ASSERT_TRUE(waitUntil([this] { return session().answers.canSend(); }));
  m_window->grab();
  const QRect button = transcript()->actionRect(last().id, ui::Action::kReadAgain);
  ASSERT_FALSE(button.isEmpty());
  const qint64 before = last().id;
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, button.center());
  ASSERT_TRUE(waitUntil([&] { return last().id != before && last().metrics.valid && !session().answers.busy(); }));
  EXPECT_EQ(std::get<Turn>(m_log->requests().back().body).guard, Guard::kPrefill);
  EXPECT_TRUE(last().chosenEarlier.isEmpty());
  EXPECT_EQ(last().branchCount, 2);
  // What keeps the same for every question chose nothing for another one.
  m_window->page().startNew();
  choose(kSelfStudy);
  ASSERT_TRUE(attaches("/clips/b.mp4"));
  for (const char* question : {"What is it?", "And then?"}) {
    ask(QString::fromLatin1(question));
    EXPECT_TRUE(last().chosenEarlier.isEmpty());
  }
}

// A wrong answer stood bare in the exported chat.
TEST_F(AnswerLabelsTest, AnExportedAnswerHasItsChips) {
  choose(kSnapKv);
  ASSERT_TRUE(attaches("/clips/a.mp4"));
  ask(QStringLiteral("What is it?"));
  QStringList chips;
  for (const QString& text : ui::metricTexts(last())) chips << text;
  ASSERT_GT(chips.size(), 3);
  const QByteArray exported = ui::chatAsMarkdown(session().chat.loaded(), list_methods());
  EXPECT_TRUE(exported.contains("\n> " + chips.join(QStringLiteral(" · ")).toUtf8() + '\n')) << exported.toStdString();
  EXPECT_TRUE(exported.contains("- Video: `a.mp4` · 64 frames")) << exported.toStdString();
}

// The figures of SnapKV's ten per cent stood over what Self-study had kept, and the other way round.
TEST_F(AnswerLabelsTest, AMethodChosenInMidChatDoesNotRelabelTheOldCache) {
  choose(kSelfStudy);
  ASSERT_TRUE(attaches("/clips/a.mp4"));
  ask(QStringLiteral("What is it?"));
  const QString old = last().metrics.method;
  choose(kSnapKv);
  auto* line = inWindow<ui::PreparationLine>();
  EXPECT_TRUE(line->idleText().contains(QStringLiteral("New files: "))) << line->idleText().toStdString();
  EXPECT_TRUE(line->button()->text().startsWith(QStringLiteral("Read again with "))) << line->button()->text().toStdString();
  ask(QStringLiteral("And then?"));
  EXPECT_EQ(last().metrics.method, old) << "the video was kept by that method";
  EXPECT_EQ(last().metrics.ofNew, ui::recipeLabel(list_methods(), {{}, kSnapKv}));
  expectTrueLabels();
  // Read again it is the new method's.
  line->button()->click();
  EXPECT_TRUE(line->idleText().startsWith(QStringLiteral("Your next question reads everything again"))) << line->idleText().toStdString();
  ask(QStringLiteral("Once more?"));
  EXPECT_EQ(last().metrics.method, ui::recipeLabel(list_methods(), {{}, kSnapKv}));
  EXPECT_TRUE(last().metrics.ofNew.isEmpty());
  EXPECT_FALSE(line->button()->text().startsWith(QStringLiteral("Read again with ")));
  expectTrueLabels();
  ask(QStringLiteral("And now?"));
  EXPECT_EQ(std::get<Turn>(m_log->requests().back().body).guard, Guard::kKeep) << "for one question only";
}

TEST_F(AnswerLabelsTest, AUsedAnswerGoesOnFromItsOwnCache) {
  choose(kSelfStudy);
  ASSERT_TRUE(attaches("/clips/a.mp4"));
  ask(QStringLiteral("What is it?"));
  compare(kSelfStudy, kSnapKv);
  use(1);
  ask(QStringLiteral("And then?"));
  const auto turn = std::get<Turn>(m_log->requests().back().body);
  EXPECT_EQ(turn.goes_on_from, (CacheMakers{{kSnapKv, true}}));
  EXPECT_EQ(last().metrics.method, ui::recipeLabel(list_methods(), {{}, kSnapKv}));
  expectTrueLabels();
}

// The panel went on showing the last column as the chat's last answer.
TEST_F(AnswerLabelsTest, AfterAComparisonTheChatShowsItsOwnFigures) {
  choose(kSelfStudy);
  ask(QStringLiteral("What is it?"));
  const ui::CacheFigures before = session().answers.monitor().figures();
  const std::size_t turns = session().answers.monitor().turns().size();
  compare(kSelfStudy, kSnapKv);
  EXPECT_EQ(session().answers.monitor().figures().subject, ui::FiguresOf::kColumn);
  leaveComparison();
  const ui::CacheFigures& after = session().answers.monitor().figures();
  EXPECT_EQ(after.subject, ui::FiguresOf::kAnswer);
  EXPECT_EQ(after.makers, before.makers);
  EXPECT_EQ(after.held.prompt, before.held.prompt);
  EXPECT_EQ(session().answers.monitor().turns().size(), turns);
  expectTrueLabels();
}

TEST_F(AnswerLabelsTest, AnAnswerThatWasCutByAKillIsHeadedByWhoWroteIt) {
  load(QStringLiteral("/models/first-model"));
  choose(kSnapKv);
  killWhileWriting();
  EXPECT_EQ(last().status, ui::MessageStatus::kAbandoned);
  EXPECT_EQ(last().roleLabel, QStringLiteral("first-model"));
  load(QStringLiteral("/models/second-model"));
  session().chat.showAgain();
  EXPECT_EQ(last().roleLabel, QStringLiteral("first-model"));
  EXPECT_EQ(session().chat.message(last().id)->run.recipe.spec, kSnapKv);
}

// A red bar came while a question was typed, followed into other chats, and stayed.
TEST_F(AnswerLabelsTest, AnotherModelIsALineAndNoAlarm) {
  ask(QStringLiteral("What is it?"));
  auto* line = inWindow<ui::PreparationLine>();
  load(QStringLiteral("/models/another"));
  ASSERT_TRUE(waitUntil([&] { return line->idleText().contains(QStringLiteral("about")); })) << line->idleText().toStdString();
  EXPECT_TRUE(line->idleText().startsWith(QStringLiteral("another reads everything again"))) << line->idleText().toStdString();
  const Error outdated{ErrorCode::kCacheOutdated, "", "what was kept was made with another model"};
  Q_EMIT m_engine->cacheSetAside(outdated, session().chat.id());
  EXPECT_TRUE(noticeBar("faults")->isHidden());
  // Media that have changed are told, calmly, and in their chat alone.
  const Error changed{ErrorCode::kCacheOutdated, "/clips/a.mp4", "the file has changed since it was read"};
  Q_EMIT m_engine->cacheSetAside(changed, session().chat.id() + 1);
  EXPECT_TRUE(noticeBar("faults")->isHidden());
  Q_EMIT m_engine->cacheSetAside(changed, session().chat.id());
  EXPECT_FALSE(noticeBar("faults")->isHidden());
  EXPECT_TRUE(noticeBar("faults")->text().contains(QStringLiteral("a.mp4")));
  // What the program keeps is nobody's to copy or to encode again.
  const Error damaged{ErrorCode::kDamagedFile, "/kept/1.safetensors: hash", "is empty, damaged or incomplete"};
  Q_EMIT m_engine->cacheSetAside(damaged, session().chat.id());
  EXPECT_TRUE(noticeBar("faults")->text().contains(QStringLiteral("Nothing is lost")));
  EXPECT_FALSE(noticeBar("faults")->text().contains(QStringLiteral("safetensors")));
  m_window->page().startNew();
  EXPECT_TRUE(noticeBar("faults")->isHidden());
}

// Any sequence of method changes, shares, comparisons, used answers, models, restarts and kills.
TEST_F(AnswerLabelsTest, LabelEqualsCauseAfterAnySequence) {
  const RecipeSpec methods[] = {kSelfStudy, recipe("self-study", 0.35), kSnapKv, recipe("full", 1.0), recipe("h2o", 0.2)};
  std::mt19937 random(48);
  const auto pick = [&]() -> const RecipeSpec& { return methods[random() % std::size(methods)]; };
  for (int round = 0; round < 4; ++round) {
    m_window->page().startNew();
    choose(pick());
    if (round % 2 == 0) {
      ASSERT_TRUE(attaches("/clips/a.mp4"));
    }
    ask(QStringLiteral("What is it?"));
    for (int step = 0; step < 9; ++step) {
      const auto what = random() % 8;
      SCOPED_TRACE(testing::Message() << "round " << round << ", step " << step << ": " << what);
      if (what == 0) choose(pick());
      if (what == 1 || what == 2) {
        compare(pick(), pick());
        if (what == 2) use(static_cast<int>(random() % 2));
        leaveComparison();
      }
      if (what == 3) load(random() % 2 == 0 ? QStringLiteral("/models/one") : QStringLiteral("/models/two"));
      if (what == 4) restart();
      if (what == 5) killWhileWriting();
      if (what == 6) {
        session().answers.regenerate(last().id);
        ASSERT_TRUE(waitUntil([this] { return session().answers.canSend(); }));
      }
      if (what == 7) choose(recipe("self-study", 0.05 + 0.1 * static_cast<double>(random() % 5)));
      expectTrueLabels();
      const app::NamedRecipe chosen = session().chat.options().recipe;
      ask(QStringLiteral("And then?"));
      expectTrueLabels();
      EXPECT_EQ(session().chat.options().recipe, chosen) << "a question chooses no method";
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace winnow::test
