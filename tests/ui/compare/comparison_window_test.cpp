// Comparisons in the window, with keys and the mouse: choose, ask, watch, stop, use an answer, open again.
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "app/words/format_text.h"
#include "tests/support/scripted_comparison.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/chat_view/message_note.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_verdict.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/method_control.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/ground/notice_bar.h"

namespace winnow::test {
namespace {

class ComparisonWindowTest : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) {
      if (std::holds_alternative<Compare>(request.body)) return comparison(request);
      if (std::holds_alternative<Turn>(request.body)) return answer_script(request, "It is in the middle.");
      return default_script(request);
    };
    WindowTest::SetUp();
  }

  // With m_stalls the engine waits after two words of the first column, until it is interrupted.
  Script comparison(const Request& request) const {
    Script script = compare_script(request, m_answers);
    if (!m_stalls) return script;
    int words = 0;
    const auto second = std::find_if(script.begin(), script.end(), [&words](const Step& step) {
      return std::holds_alternative<TextDelta>(std::get<Say>(step.action).body) && ++words == 2;
    });
    script.erase(second + 1, script.end());
    script.push_back({{}, Stall{}});
    return script;
  }
  ui::ComparisonView* view() { return inWindow<ui::ComparisonView>(); }
  ui::ComparisonSetup* setup() { return inWindow<ui::ComparisonSetup>(); }
  ui::ComparisonModel& model() { return *view()->model(); }
  ui::ColumnView* column(int index) { return view()->columns().at(static_cast<std::size_t>(index)); }
  QString header(int index) { return column(index)->header()->text(); }
  QString answerText(int index) { return column(index)->transcript()->messageAt(0).text; }
  std::string markedWords(int index) {
    std::string words;
    const ui::MessageContent& content = column(index)->transcript()->messageAt(0);
    for (const ui::TextMark& mark : content.marks) {
      if (mark.kind == ui::TextMark::Kind::kFirst) words += '*';
      words += content.text.mid(mark.from, mark.length).toStdString();
      words += '|';
    }
    return words;
  }

  void key(int which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus != nullptr ? focus : m_window.get(), static_cast<Qt::Key>(which), modifiers);
  }
  // Ctrl+K, the question, Enter.
  void compare(const QString& question) {
    composer()->prompt()->setFocus();
    composer()->prompt()->setPlainText(question);
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
    key(Qt::Key_K, Qt::ControlModifier);
    ASSERT_FALSE(setup()->isHidden());
    composer()->prompt()->setFocus();
    pressEnter();
    ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && view()->model() != nullptr; }));
  }
  bool ended() {
    return waitUntil(
        [this] { return !session().answers.busy() && !model().running() && (model().cancelled() || model().comparison().id != 0); });
  }
  const Compare* lastCompare() {
    m_requests = m_log->requests();
    for (auto it = m_requests.rbegin(); it != m_requests.rend(); ++it)
      if (const auto* compare = std::get_if<Compare>(&it->body)) return compare;
    return nullptr;
  }
  // Clicks the entry of a comparison under its question.
  void clickEntry(qint64 question) {
    m_window->grab();
    QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(question, ui::Action::kComparison).center());
  }

  std::vector<std::string> m_answers = {"The star is **red**. It is a star in the middle.",
                                        "The star is **red**. It is a star in the corner of it.", "A blue star."};
  bool m_stalls = false;
  std::vector<Request> m_requests;
};

TEST_F(ComparisonWindowTest, ThreeMethodsFromOnePrefillSideBySideAndBackAfterARestart) {
  composer()->addFile("/clips/a.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  const Compare* request = lastCompare();
  ASSERT_NE(request, nullptr);
  ASSERT_EQ(request->recipes.size(), 3u);
  EXPECT_EQ(request->recipes[0].method, "full") << "the full cache is proposed first";
  EXPECT_EQ(request->order, ColumnOrder::kOneAfterAnother);
  EXPECT_EQ(request->scores, ColumnScores::kAll);
  ASSERT_EQ(request->messages.size(), 1u);
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty()) << "what was sent stays in the box";
  EXPECT_EQ(composer()->tray()->count(), 0);
  EXPECT_TRUE(setup()->isHidden());
  EXPECT_EQ(m_window->focusWidget(), composer()->prompt()) << "what was hidden had it";

  ASSERT_EQ(view()->columns().size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answerText(i), QString::fromStdString(m_answers[static_cast<std::size_t>(i)]));
  EXPECT_EQ(markedWords(0), "") << "the full cache is what the others are compared with";
  EXPECT_EQ(markedWords(1), "*corner|of|it.|");
  EXPECT_EQ(markedWords(2).substr(0, 3), "*A|");
  // Every figure of the header is the engine's.
  const TurnFigures& figures = model().answer(1).run.figures;
  EXPECT_TRUE(header(1).contains(app::formatBytes(held_bytes(figures).prompt))) << header(1).toStdString();
  EXPECT_TRUE(header(1).contains(app::formatShare(kept_share(figures)))) << header(1).toStdString();
  EXPECT_TRUE(header(1).contains(app::formatMilliseconds(figures.timings_ms.ttft)));
  EXPECT_TRUE(header(1).contains(QStringLiteral("50 tok/s")));
  EXPECT_TRUE(header(1).contains(QStringLiteral("First different word: 11")));
  EXPECT_TRUE(header(0).contains(QStringLiteral("100")));
  EXPECT_TRUE(header(1).contains(QStringLiteral("Kept 88"))) << header(1).toStdString();
  EXPECT_FALSE(header(0).contains(QStringLiteral("hits"))) << "the full cache is not compared with itself";
  EXPECT_TRUE(view()->sharedText().contains(QStringLiteral("1 prefill "))) << view()->sharedText().toStdString();
  EXPECT_TRUE(view()->sharedText().contains(app::formatBytes(model().comparison().totals.shared_prefix_bytes)));

  QTest::mouseClick(view()->copyButton(), Qt::LeftButton);
  const QStringList rows = QApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(rows.size(), 4);
  for (const QString& row : rows) EXPECT_EQ(row.count(QLatin1Char('\t')), 9) << row.toStdString();
  EXPECT_EQ(rows[2].section(QLatin1Char('\t'), 2, 2), QString::number(figures.kv_bytes.after_event));
  EXPECT_EQ(rows[2].section(QLatin1Char('\t'), 8, 8), QStringLiteral("87.50"));
  ASSERT_NE(model().answer(1).keptMap, nullptr);
  EXPECT_EQ(model().answer(1).keptMap->layers(), 4);

  std::vector<QString> headers;
  for (int i = 0; i < 3; ++i) headers.push_back(header(i));
  const QString shared = view()->sharedText();
  const QString verdict = view()->verdictText();
  EXPECT_EQ(verdict, model().label(1) + QStringLiteral(" and ") + model().label(2) + QStringLiteral(" differ from ") + model().label(0) +
                         QStringLiteral("."));
  ASSERT_TRUE(reopened(1));
  ASSERT_EQ(transcript()->messageAt(0).comparisons.size(), 1u);
  EXPECT_EQ(transcript()->messageAt(0).comparisons[0].label, QStringLiteral("Comparison of 3 methods"));
  EXPECT_TRUE(transcript()->messageAt(0).attachments[0].detail.startsWith(QStringLiteral("64 frames · ")));
  clickEntry(transcript()->messageAt(0).id);
  ASSERT_TRUE(m_window->page().showsComparison());
  ASSERT_EQ(view()->columns().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(header(i), headers[static_cast<std::size_t>(i)]);
    EXPECT_EQ(answerText(i), QString::fromStdString(m_answers[static_cast<std::size_t>(i)]));
  }
  EXPECT_EQ(markedWords(1), "*corner|of|it.|");
  EXPECT_EQ(view()->sharedText(), shared);
  EXPECT_EQ(view()->verdictText(), verdict);
}

// What came out is said before the figures are: who says the same, and what it takes.
TEST(ComparisonVerdict, NamesThoseThatSayTheSameAndTheLeastMemory) {
  ui::ComparisonModel model(list_methods());
  const auto verdict = [&model](std::initializer_list<std::pair<const char*, std::int64_t>> others) {
    app::Comparison saved;
    const auto add = [&saved](const char* method, double share, const QString& text, std::int64_t bytes) {
      app::ComparedAnswer answer;
      answer.state = app::ColumnState::kAnswered;
      answer.hasFigures = true;
      answer.text = text;
      answer.run.recipe.spec.method = method;
      answer.run.recipe.spec.retention = share;
      answer.run.figures.kv_bytes.after_event = answer.run.figures.kv_bytes.end = bytes;
      saved.columns.push_back(answer);
    };
    add("full", 1.0, QStringLiteral("A red  star."), 1000);
    double share = 0.1;
    for (const auto& [text, bytes] : others) add("snapkv", std::exchange(share, share + 0.1), QString::fromUtf8(text), bytes);
    model.show(saved);
    return ui::comparisonVerdict(model);
  };
  const QString full = QStringLiteral("Full cache");
  EXPECT_TRUE(verdict({}).isEmpty());
  const QString both = verdict({{"A red star.", 110}});
  EXPECT_EQ(both, QStringLiteral("Both say the same; %1 with %2 of the memory.").arg(model.label(1), app::formatShare(0.11)));
  const QString all = verdict({{"A red star.", 300}, {"A red star.", 110}});
  EXPECT_EQ(all, QStringLiteral("All 3 say the same; %1 with %2 of the memory.").arg(model.label(2), app::formatShare(0.11)));
  const QString one = verdict({{"A blue star.", 50}, {"A red star.", 300}});
  EXPECT_EQ(one, QStringLiteral("%1 says the same as %2 with %3 of the memory; %4 differs.")
                     .arg(model.label(2), model.label(0), app::formatShare(0.3), model.label(1)));
  EXPECT_EQ(verdict({{"No.", 50}}), QStringLiteral("%1 differs from %2.").arg(model.label(1), model.label(0)));
  EXPECT_EQ(verdict({{"A red star.", 990}}), QStringLiteral("Both say the same.")) << "it saves nothing worth a word";
}

TEST_F(ComparisonWindowTest, AUsedAnswerBecomesTheChatsAndTheNextQuestionGoesOnFromIt) {
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  QTest::mouseClick(column(2)->useButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison() && transcript()->messageCount() == 2; }));
  EXPECT_EQ(last().text, QStringLiteral("A blue star."));
  EXPECT_TRUE(last().metrics.valid);
  EXPECT_FALSE(last().checked.isEmpty()) << "the comparison has checked it";
  EXPECT_EQ(session().chat.options().recipe.spec.method, "snapkv") << "the chat goes on under the column's recipe";
  EXPECT_EQ(composer()->method()->recipe().spec.method, "snapkv");
  ask(QStringLiteral("Where is it?"));
  const std::vector<Request> requests = m_log->requests();
  const auto& turn = std::get<Turn>(requests.back().body);
  ASSERT_EQ(turn.messages.size(), 3u);
  EXPECT_EQ(std::get<TextItem>(turn.messages[1].items[0]).text, "A blue star.");
  EXPECT_EQ(turn.recipe, lastCompare()->recipes[2]) << "the engine knows the column's cache by its recipe";
  // Another column is a sibling; the first one comes back with what followed it.
  clickEntry(transcript()->messageAt(0).id);
  ASSERT_TRUE(m_window->page().showsComparison());
  QTest::mouseClick(column(0)->useButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison() && transcript()->messageCount() == 2; }));
  EXPECT_EQ(last().branchCount, 2);
  EXPECT_EQ(last().text, QString::fromStdString(m_answers[0]));
  clickEntry(transcript()->messageAt(0).id);
  EXPECT_TRUE(header(2).contains(QStringLiteral("This answer is in the chat.")));
  QTest::mouseClick(column(2)->useButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison() && transcript()->messageCount() == 4; }));
  EXPECT_EQ(transcript()->messageAt(1).branchCount, 2);
}

TEST_F(ComparisonWindowTest, PinsGoAlongAndTheNextTurnStillGoesOnFromTheColumn) {
  composer()->addFile("/clips/a.png");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  app::Draft draft = composer()->draft();
  ASSERT_EQ(draft.attachments.size(), 1);
  draft.text = QStringLiteral("What color is the star?");
  draft.attachments[0].pins = {{0.0, 0.0}};
  composer()->setDraft(draft);
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  compare(draft.text);
  ASSERT_TRUE(ended());
  EXPECT_EQ(lastCompare()->pins.size(), 1u);
  QTest::mouseClick(column(1)->useButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison() && transcript()->messageCount() == 2; }));
  ask(QStringLiteral("Where is it?"));
  const std::vector<Request> requests = m_log->requests();
  EXPECT_EQ(std::get<Turn>(requests.back().body).pins, lastCompare()->pins) << "the column has these pins already";
}

// Pins go with a comparison; the column that is used was made with them, so nothing has to be read again.
TEST_F(ComparisonWindowTest, PinnedFramesAreComparedAndKeptByTheAnswerThatIsUsed) {
  ASSERT_TRUE(attaches("/clips/a.mp4", Card::kWithThumbnails));
  composer()->tray()->card(0)->pins()->toggle(1);
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  ASSERT_EQ(lastCompare()->pins.size(), 1u);
  QTest::mouseClick(column(2)->useButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison() && transcript()->messageCount() == 2; }));
  ask(QStringLiteral("Where is it?"));
  const std::vector<Request> requests = m_log->requests();
  const auto& turn = std::get<Turn>(requests.back().body);
  EXPECT_EQ(turn.pins, lastCompare()->pins) << "though the video was sampled meanwhile";
}

// It became the full cache's chat, with the full cache's memory, though nobody had chosen that.
TEST_F(ComparisonWindowTest, AQuestionAfterAnUndecidedComparisonGoesOnUnderTheChatsOwnMethod) {
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  const app::NamedRecipe own = session().chat.options().recipe;
  ASSERT_EQ(lastCompare()->recipes[1], own.spec);
  composer()->prompt()->setPlainText(QStringLiteral("Where is it?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && !session().answers.busy(); }));
  EXPECT_FALSE(m_window->page().showsComparison());
  EXPECT_EQ(transcript()->messageAt(1).text, QString::fromStdString(m_answers[1])) << "the answer of its method";
  EXPECT_EQ(transcript()->messageAt(2).text, QStringLiteral("Where is it?"));
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  const auto expectOwn = [&] {
    EXPECT_EQ(session().chat.options().recipe, own);
    EXPECT_EQ(composer()->method()->recipe(), own);
  };
  expectOwn();
  const auto turn = std::get<Turn>(m_log->requests().back().body);
  EXPECT_EQ(turn.recipe, own.spec);
  EXPECT_EQ(turn.guard, Guard::kKeep) << "its column's cache is there";
  ASSERT_TRUE(reopened(4));
  expectOwn();
}

TEST_F(ComparisonWindowTest, WhereTheChatsMethodWasNotComparedTheNextQuestionReadsAgainUnderIt) {
  app::NamedRecipe full, other;
  full.spec.method = "full";
  other.spec.method = "h2o";
  m_settings->setComparedRecipes({full, other});
  const app::NamedRecipe own = session().chat.options().recipe;
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  const Compare* request = lastCompare();
  ASSERT_EQ(std::count(request->recipes.begin(), request->recipes.end(), own.spec), 0);
  composer()->prompt()->setPlainText(QStringLiteral("Where is it?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && !session().answers.busy(); }));
  EXPECT_EQ(transcript()->messageAt(1).text, QString::fromStdString(m_answers[0])) << "the reference's words";
  EXPECT_EQ(session().chat.options().recipe, own);
  const auto turn = std::get<Turn>(m_log->requests().back().body);
  EXPECT_EQ(turn.recipe, own.spec);
  EXPECT_EQ(turn.guard, Guard::kPrefill) << "what the other methods kept is not this chat's";
  ask(QStringLiteral("And then?"));
  EXPECT_EQ(std::get<Turn>(m_log->requests().back().body).guard, Guard::kKeep) << "once";
}

// kill -9 while it runs, and after it was left.
TEST_F(ComparisonWindowTest, AComparisonLeavesTheChatsMethodAloneWhateverEndsIt) {
  app::NamedRecipe own{.spec = {.method = "snapkv", .retention = 0.35}};
  ask(QStringLiteral("What is it?"));
  session().chat.setRecipe(own);
  m_stalls = true;
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return answerText(0).contains(QStringLiteral("star")); }));
  close();
  m_stalls = false;
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 3; }));
  EXPECT_EQ(session().chat.options().recipe, own);
  EXPECT_EQ(composer()->method()->recipe(), own);
  compare(QStringLiteral("And what now?"));
  ASSERT_TRUE(ended());
  key(Qt::Key_Escape);
  EXPECT_FALSE(m_window->page().showsComparison());
  EXPECT_EQ(composer()->method()->recipe(), own);
  ASSERT_TRUE(reopened(4));
  EXPECT_EQ(composer()->method()->recipe(), own);
  ASSERT_TRUE(sends(QStringLiteral("Where is it?")));
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 7 && !session().answers.busy(); }));
  EXPECT_EQ(std::get<Turn>(m_log->requests().back().body).recipe, own.spec);
  EXPECT_EQ(composer()->method()->recipe(), own);
}

TEST_F(ComparisonWindowTest, AComparedQuestionCanBeRewordedInsteadOfGoneOnFrom) {
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  composer()->prompt()->setFocus();
  key(Qt::Key_Up);
  ASSERT_TRUE(composer()->editing());
  composer()->prompt()->setPlainText(QStringLiteral("What color is the circle?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !session().answers.busy(); }));
  EXPECT_EQ(transcript()->messageAt(0).text, QStringLiteral("What color is the circle?"));
  EXPECT_EQ(transcript()->messageAt(0).branchCount, 2);
  EXPECT_TRUE(transcript()->messageAt(0).comparisons.empty()) << "it is the other wording's";
  EXPECT_FALSE(m_window->page().showsComparison()) << "the answer is written where nobody sees it";
}

TEST_F(ComparisonWindowTest, EscapeStopsKeepsWhatIsWrittenAndLeavesOutTheRest) {
  m_stalls = true;
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return answerText(0).contains(QStringLiteral("star")); }));
  EXPECT_TRUE(model().running());
  EXPECT_EQ(composer()->sendButton()->accessibleName(), QStringLiteral("Stop"));
  EXPECT_FALSE(column(0)->useButton()->isEnabled());
  key(Qt::Key_Escape);
  ASSERT_TRUE(ended());
  EXPECT_TRUE(m_window->page().showsComparison());
  EXPECT_TRUE(answerText(0).startsWith(QStringLiteral("The star")));
  EXPECT_TRUE(header(0).contains(QStringLiteral("Stopped")));
  EXPECT_TRUE(header(1).contains(QStringLiteral("Not run")));
  EXPECT_TRUE(column(0)->useButton()->isEnabled());
  EXPECT_FALSE(column(1)->useButton()->isEnabled());
  EXPECT_EQ(transcript()->messageAt(0).comparisons.size(), 1u);
  key(Qt::Key_Escape);
  EXPECT_FALSE(m_window->page().showsComparison()) << "Escape leaves a comparison that has ended";
}

TEST_F(ComparisonWindowTest, CancelKeepsTheQuestionOnly) {
  m_stalls = true;
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return answerText(0).contains(QStringLiteral("star")); }));
  QTest::mouseClick(view()->cancelButton(), Qt::LeftButton);
  ASSERT_TRUE(ended());
  EXPECT_TRUE(view()->failureText().contains(QStringLiteral("Cancelled")));
  EXPECT_TRUE(transcript()->messageAt(0).comparisons.empty());
  EXPECT_EQ(transcript()->messageCount(), 1);
  reopen();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 1 && session().answers.blockedReason().isEmpty(); }));
  EXPECT_TRUE(transcript()->messageAt(0).comparisons.empty());
  composer()->prompt()->setFocus();
  key(Qt::Key_R, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !session().answers.busy(); }))
      << "a question alone can be answered";
}

TEST_F(ComparisonWindowTest, StoppedWhileReadingThereIsNothingToKeep) {
  m_script = [this](const Request& request) {
    if (!std::holds_alternative<Compare>(request.body)) return default_script(request);
    Script script = compare_script(request, m_answers);
    const auto half = std::find_if(script.begin(), script.end(), [](const Step& step) {
      const auto* progress = std::get_if<Progress>(&std::get<Say>(step.action).body);
      return progress != nullptr && progress->phase == Phase::kPrefill && progress->done == 2;
    });
    script.erase(half + 1, script.end());
    script.push_back({{}, Stall{}});
    return script;
  };
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return view()->sharedText().contains(QStringLiteral("Reading the prompt: 50")); }))
      << view()->sharedText().toStdString();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(header(i).contains(QStringLiteral("Waiting")));
  key(Qt::Key_Escape);
  ASSERT_TRUE(ended());
  EXPECT_FALSE(view()->failureText().isEmpty());
  EXPECT_TRUE(transcript()->messageAt(0).comparisons.empty());
}

TEST_F(ComparisonWindowTest, AFailureIsASentenceAndWhatWasAnsweredStays) {
  m_script = [this](const Request& request) {
    if (!std::holds_alternative<Compare>(request.body)) return default_script(request);
    Script script = compare_script(request, m_answers);
    std::size_t second = 0;
    while (std::get<Say>(script[second].action).column != 1) ++second;
    script.resize(second + 1);
    script.push_back({{}, Say{Failed{{ErrorCode::kOutOfMemory, "", "this machine has not enough memory for this request"}}}});
    return script;
  };
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  EXPECT_FALSE(view()->failureText().isEmpty());
  EXPECT_TRUE(header(1).contains(QStringLiteral("Failed")));
  EXPECT_TRUE(header(2).contains(QStringLiteral("Not run")));
  EXPECT_TRUE(column(0)->useButton()->isEnabled());
  const QString told = view()->failureText();
  ASSERT_TRUE(reopened(1));
  EXPECT_TRUE(transcript()->messageAt(0).comparisons[0].label.contains(QStringLiteral("failed")));
  clickEntry(transcript()->messageAt(0).id);
  EXPECT_EQ(view()->failureText(), told);
  EXPECT_EQ(answerText(0), QString::fromStdString(m_answers[0]));
}

TEST_F(ComparisonWindowTest, AFileThatWasMovedIsFoundFromTheComparison) {
  composer()->addFile("/clips/a.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  m_script = [this](const Request& request) {
    const auto* compared = std::get_if<Compare>(&request.body);
    if (compared == nullptr) return default_script(request);
    const auto& medium = std::get<MediaItem>(compared->messages.front().items.front());
    return medium.media.path == "/clips/a.mp4" ? failure_script(ErrorCode::kFileNotFound, "/clips/a.mp4", "does not exist")
                                               : comparison(request);
  };
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  EXPECT_TRUE(view()->failureText().contains(QStringLiteral("cannot be found"))) << view()->failureText().toStdString();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(header(i).contains(QStringLiteral("Not run")));
    EXPECT_EQ(ui::noteOf(column(i)->transcript()->messageAt(0)), QString()) << "no model has ended without a word";
  }
  ASSERT_TRUE(view()->findButton()->isVisible());
  view()->findButton()->click();
  auto* dialog = m_window->findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  Q_EMIT dialog->fileSelected(QStringLiteral("/archive/a.mp4"));
  dialog->close();
  ASSERT_TRUE(waitUntil([this] { return !model().failure() && !model().running() && !session().answers.busy(); }));
  EXPECT_EQ(answerText(1), QString::fromStdString(m_answers[1]));
  EXPECT_TRUE(view()->findButton()->isHidden());
  EXPECT_EQ(std::get<MediaItem>(lastCompare()->messages.front().items.front()).media.path, "/archive/a.mp4");
}

TEST_F(ComparisonWindowTest, MethodsAreChosenInThePanelAndRemembered) {
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  QTest::mouseClick(composer()->compareButton(), Qt::LeftButton);
  ASSERT_FALSE(setup()->isHidden());
  EXPECT_TRUE(composer()->prompt()->isVisible()) << "the panel hides the question";
  EXPECT_TRUE(composer()->prompt()->hasFocus()) << "Enter asks";
  QTest::mouseClick(setup()->addButton(), Qt::LeftButton);
  ASSERT_EQ(setup()->count(), 4);
  EXPECT_TRUE(setup()->addButton()->isHidden()) << "four is the most";
  // The same method twice is refused with a sentence, and not compared.
  app::NamedRecipe full;
  full.spec.method = "full";
  setup()->control(3)->setRecipe(full);
  Q_EMIT setup()->control(3)->recipeChanged(full);
  EXPECT_FALSE(setup()->problem().isEmpty());
  EXPECT_FALSE(setup()->compareButton()->isEnabled());
  pressEnter();
  EXPECT_FALSE(composer()->notice().isEmpty());
  EXPECT_EQ(lastCompare(), nullptr);
  QTest::mouseClick(setup()->removeButton(3), Qt::LeftButton);
  QTest::mouseClick(setup()->removeButton(2), Qt::LeftButton);
  ASSERT_EQ(setup()->count(), 2);
  EXPECT_FALSE(setup()->removeButton(0)->isEnabled()) << "two is the fewest";
  setup()->control(1)->spin()->setValue(7);
  setup()->orderBox()->setFocus();
  key(Qt::Key_Down);
  EXPECT_EQ(setup()->order(), ColumnOrder::kInterleaved);
  QTest::mouseClick(setup()->compareButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison(); }));
  ASSERT_TRUE(ended());
  ASSERT_NE(lastCompare(), nullptr);
  EXPECT_EQ(lastCompare()->recipes.size(), 2u);
  EXPECT_EQ(lastCompare()->recipes[1].retention, 0.07);
  EXPECT_EQ(lastCompare()->order, ColumnOrder::kInterleaved);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answerText(i), QString::fromStdString(m_answers[static_cast<std::size_t>(i)]));
  EXPECT_TRUE(view()->findChild<QLabel*>()->text().contains(QStringLiteral("all at once"))) << "which it was is not shown";
  ASSERT_TRUE(reopened(1));
  composer()->prompt()->setFocus();
  key(Qt::Key_K, Qt::ControlModifier);
  ASSERT_EQ(setup()->count(), 2);
  EXPECT_EQ(setup()->recipes()[1].spec.retention, 0.07);
  EXPECT_EQ(setup()->order(), ColumnOrder::kInterleaved);
  key(Qt::Key_Escape);
  EXPECT_TRUE(setup()->isHidden());
}

// The first space pressed Compare, and the last question was compared.
TEST_F(ComparisonWindowTest, WhatIsTypedAfterTheChoiceOfMethodsIsTheQuestion) {
  ask(QStringLiteral("What color is the star?"));
  composer()->prompt()->setFocus();
  key(Qt::Key_K, Qt::ControlModifier);
  QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("What is the first shape?"));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("What is the first shape?"));
  EXPECT_EQ(lastCompare(), nullptr);
  key(Qt::Key_Return);
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && view()->model() != nullptr; }));
  ASSERT_TRUE(ended());
  EXPECT_EQ(std::get<TextItem>(lastCompare()->messages.back().items.back()).text, "What is the first shape?");
  EXPECT_EQ(composer()->notice(), QString());
}

TEST_F(ComparisonWindowTest, WithoutANewQuestionTheLastOneIsAskedAgain) {
  ask(QStringLiteral("What color is the star?"));
  composer()->prompt()->setFocus();
  key(Qt::Key_K, Qt::ControlModifier);
  EXPECT_TRUE(composer()->sendButton()->isEnabled());
  key(Qt::Key_Return);
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison(); }));
  ASSERT_TRUE(ended());
  EXPECT_EQ(lastCompare()->messages.size(), 1u);
  EXPECT_EQ(transcript()->messageCount(), 2) << "no second question";
  ASSERT_EQ(transcript()->messageAt(0).comparisons.size(), 1u);
  EXPECT_TRUE(transcript()->messageAt(1).comparisons.empty());
  QTest::mouseClick(column(1)->useButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison(); }));
  EXPECT_EQ(last().branchCount, 2) << "beside the answer that was there";
}

TEST_F(ComparisonWindowTest, AMethodThatPrunesSaysThatItRanAlone) {
  app::NamedRecipe full, pruning;
  full.spec.method = "full";
  pruning.spec.method = "fastv";
  pruning.spec.retention = 0.5;
  m_settings->setComparedRecipes({full, pruning});
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  EXPECT_TRUE(header(1).contains(QStringLiteral("Read separately: prunes tokens while reading."))) << header(1).toStdString();
  EXPECT_FALSE(header(0).contains(QStringLiteral("Read separately")));
  EXPECT_TRUE(view()->sharedText().contains(QStringLiteral("2 prefills ")));
}

TEST_F(ComparisonWindowTest, OneColumnAloneByDoubleClickAndByEnterAndBack) {
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  QTest::mouseDClick(column(1)->header(), Qt::LeftButton, {}, QPoint(20, 10));
  EXPECT_EQ(view()->alone(), 1);
  EXPECT_FALSE(column(0)->isVisible());
  EXPECT_TRUE(column(1)->isVisible());
  QTest::mouseDClick(column(1)->header(), Qt::LeftButton, {}, QPoint(20, 10));
  EXPECT_EQ(view()->alone(), -1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(column(i)->isVisible());
  column(0)->header()->setFocus();
  key(Qt::Key_Right);
  EXPECT_TRUE(column(1)->header()->hasFocus());
  key(Qt::Key_Return);
  EXPECT_EQ(view()->alone(), 1);
  key(Qt::Key_Escape);
  EXPECT_EQ(view()->alone(), -1) << "Escape shows all again first";
  EXPECT_TRUE(m_window->page().showsComparison());
}

TEST_F(ComparisonWindowTest, ColumnsScrollTogetherAndTheirFiguresAreInThePanel) {
  for (std::string& answer : m_answers) {
    for (int i = 0; i < 120; ++i) answer += "\n\nparagraph " + std::to_string(i);
  }
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(ended());
  QScrollBar* first = column(0)->transcript()->verticalScrollBar();
  ASSERT_GT(first->maximum(), 400);
  first->setValue(0);
  first->setValue(333);
  for (int i = 1; i < 3; ++i) EXPECT_EQ(column(i)->transcript()->verticalScrollBar()->value(), 333);
  column(2)->header()->setFocus();
  EXPECT_EQ(session().answers.monitor().figures().method, QStringLiteral("snapkv"));
  column(0)->header()->setFocus();
  EXPECT_EQ(session().answers.monitor().figures().method, QStringLiteral("full"));
}

TEST_F(ComparisonWindowTest, ItRunsOnWhileAnotherChatIsLookedAt) {
  ask(QStringLiteral("first"));
  const ConversationId first = session().chat.id();
  m_stalls = true;
  session().chat.startNew();
  compare(QStringLiteral("What color is the star?"));
  const ConversationId second = session().chat.id();
  ASSERT_TRUE(waitUntil([this] { return answerText(0).contains(QStringLiteral("star")); }));
  session().chat.open(first);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == first; }));
  EXPECT_FALSE(m_window->page().showsComparison());
  EXPECT_FALSE(session().answers.blockedReason().isEmpty());
  session().chat.open(second);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == second; }));
  ASSERT_EQ(transcript()->messageAt(0).comparisons.size(), 1u);
  clickEntry(transcript()->messageAt(0).id);
  EXPECT_TRUE(m_window->page().showsComparison());
  EXPECT_TRUE(model().running());
  EXPECT_EQ(answerText(0), QStringLiteral("The star "));
  key(Qt::Key_Escape);
  ASSERT_TRUE(ended());
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageAt(0).comparisons.at(0).id != 0; }));
}

TEST_F(ComparisonWindowTest, DeletingTheChatCancelsIt) {
  m_stalls = true;
  compare(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return answerText(0).contains(QStringLiteral("star")); }));
  session().list.remove(session().chat.id());
  ASSERT_TRUE(waitUntil([this] { return !session().answers.busy(); }));
  bool cancelled = false;
  for (const Request& request : m_log->requests()) cancelled = cancelled || m_log->interruptOf(request.id) == Interrupt::kCancel;
  EXPECT_TRUE(cancelled);
}

// By keys alone: the methods are offered, Enter asks.
TEST_F(ComparisonWindowTest, EnterStartsWhatWasOpenedByKeys) {
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  m_window->activateWindow();
  QTest::keyClick(composer()->prompt(), Qt::Key_K, Qt::ControlModifier);
  ASSERT_TRUE(inWindow<ui::ComparisonSetup>()->isVisible());
  QWidget* focus = m_window->focusWidget();
  ASSERT_NE(focus, nullptr);
  EXPECT_EQ(focus, composer()->prompt()) << focus->metaObject()->className();
  QTest::keyClick(focus, Qt::Key_Return);
  EXPECT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && !session().answers.busy(); }));
}

}  // namespace
}  // namespace winnow::test
