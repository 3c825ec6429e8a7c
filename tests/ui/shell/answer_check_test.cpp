// "What changed?" in the window: an answer is checked, its words are marked, and all of it is back after a restart.
#include <QAccessible>
#include <QFileDialog>
#include <QPushButton>
#include <QToolButton>
#include <QToolTip>

#include "tests/support/scripted_comparison.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/shell/ground/notice_bar.h"

namespace winnow::test {
namespace {

class AnswerCheckTest : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) {
      if (std::holds_alternative<Score>(request.body)) {
        if (!m_gone.empty() && pathOf(std::get<Score>(request.body)) == m_gone)
          return failure_script(ErrorCode::kFileNotFound, m_gone, "does not exist");
        if (m_failure) return failure_script(ErrorCode::kOutOfMemory, "", "no memory");
        Script script = score_script(request, m_fullAnswer);
        if (m_stalls) script.insert(script.begin() + 3, Step{{}, Stall{}});
        return script;
      }
      if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
      return answer_script(request, "The star is **blue** and small.");
    };
    WindowTest::SetUp();
  }
  const Score* lastScore() {
    m_requests = m_log->requests();
    for (auto it = m_requests.rbegin(); it != m_requests.rend(); ++it)
      if (const auto* score = std::get_if<Score>(&it->body)) return score;
    return nullptr;
  }
  void check() {
    m_window->grab();
    QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, ui::Action::kCheck).center());
    ASSERT_TRUE(waitUntil([this] { return lastScore() != nullptr; }));
  }
  // Answers are checked by themselves from now on, after a quiet moment.
  void checkUnasked() {
    m_settings->setUnasked({app::Unasked::kNever, app::Unasked::kAlways});
    m_window->findChild<QTimer*>(QStringLiteral("quiet"))->setInterval(20);
  }
  static std::string pathOf(const Score& score) {
    const auto* medium = std::get_if<MediaItem>(&score.turn.messages.front().items.front());
    return medium != nullptr ? medium->media.path : std::string();
  }
  QString word(const ui::TextMark& mark) { return last().text.mid(mark.from, mark.length); }

  std::string m_fullAnswer = "The star is **red** and large.";
  bool m_stalls = false;  // half way, until it is interrupted
  bool m_failure = false;
  std::string m_gone;  // a file that is looked for in vain
  std::vector<Request> m_requests;
};

TEST_F(AnswerCheckTest, WordsThatTheFullCacheWouldHaveChosenOtherwiseAreMarkedAndKept) {
  ask(QStringLiteral("What color is the star?"));
  EXPECT_TRUE(last().checkable);
  EXPECT_TRUE(last().marks.empty());
  check();
  ASSERT_TRUE(waitUntil([this] { return !last().checked.isEmpty() && !session().answers.busy(); }));
  const Score* score = lastScore();
  EXPECT_EQ(score->answer, last().text.toStdString());
  EXPECT_EQ(score->turn.recipe, session().chat.options().recipe.spec);
  ASSERT_EQ(score->turn.messages.size(), 1u);
  ASSERT_EQ(last().marks.size(), 2u);
  EXPECT_EQ(word(last().marks[0]), QStringLiteral("**blue**"));
  EXPECT_EQ(last().marks[0].kind, ui::TextMark::Kind::kFirst);
  EXPECT_EQ(word(last().marks[1]), QStringLiteral("small."));
  EXPECT_TRUE(last().marks[1].note.contains(QStringLiteral("“large.” (82")));
  EXPECT_TRUE(last().marks[1].note.contains(QStringLiteral("41")));
  EXPECT_TRUE(last().checked.contains(QStringLiteral("71.4"))) << last().checked.toStdString();
  EXPECT_TRUE(last().divergence.contains(QStringLiteral("0.0714"))) << last().divergence.toStdString();
  const QString checked = last().checked;
  const auto marks = last().marks;
  ASSERT_TRUE(reopened(2));
  EXPECT_EQ(last().checked, checked);
  EXPECT_EQ(last().marks, marks);
}

TEST_F(AnswerCheckTest, UnaskedAnAnswerIsCheckedWhileNobodyWantsAnything) {
  checkUnasked();
  ask(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return !last().checked.isEmpty(); }));
  EXPECT_TRUE(session().answers.canSend());
  EXPECT_TRUE(last().phase.isEmpty());
  EXPECT_EQ(lastScore()->answer, last().text.toStdString());
  const Plan cost = m_log->plans().back();
  EXPECT_EQ(cost.turn.recipe.method, "full");
  EXPECT_EQ(cost.turn.guard, Guard::kPrefill);
  const std::size_t before = m_log->requests().size();
  QTest::qWait(100);
  EXPECT_EQ(m_log->requests().size(), before) << "once";
  ASSERT_TRUE(reopened(2));
  EXPECT_FALSE(last().checked.isEmpty());
}

TEST_F(AnswerCheckTest, WhatIsWantedEndsACheckThatNobodyAskedFor) {
  checkUnasked();
  m_stalls = true;
  ask(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return lastScore() != nullptr; }));
  const RequestId first = m_requests.back().id;
  EXPECT_TRUE(session().answers.canSend());
  type(QStringLiteral("An"));
  ASSERT_TRUE(waitUntil([&] { return m_log->interruptOf(first) == Interrupt::kCancel; }));
  QTest::qWait(60);
  EXPECT_EQ(m_requests.size(), m_log->requests().size()) << "somebody writes";
  m_stalls = false;
  composer()->prompt()->clear();
  ASSERT_TRUE(waitUntil([this] { return !last().checked.isEmpty(); })) << "begun again when nothing is written any more";
  // A question, too.
  m_stalls = true;
  ask(QStringLiteral("And now?"));
  ASSERT_TRUE(waitUntil([this] { return m_log->requests().size() > m_requests.size() + 2; }));
  ask(QStringLiteral("And then?"));
  EXPECT_FALSE(last().text.isEmpty());
  EXPECT_TRUE(transcript()->messageAt(3).checked.isEmpty());
}

TEST_F(AnswerCheckTest, UnaskedNothingIsCheckedThatTellsNothingOrDoesNotFit) {
  checkUnasked();
  RecipeSpec recipe;
  recipe.method = "full";
  recipe.retention = 1.0;
  session().chat.setRecipe({{}, recipe});
  ask(QStringLiteral("What color is the star?"));
  QTest::qWait(100);
  EXPECT_EQ(lastScore(), nullptr) << "it is the full cache's";
  m_settings->setUnasked({app::Unasked::kNever, app::Unasked::kNever});
  m_window->page().startNew();
  ask(QStringLiteral("What color is the star?"));
  QTest::qWait(100);
  EXPECT_EQ(lastScore(), nullptr) << "never";
}

// An answer that nothing vouches for says why.
TEST_F(AnswerCheckTest, WhatCannotBeCheckedByItselfSaysWhy) {
  checkUnasked();
  for (const char name : std::string("abcdefgh")) composer()->addFile(QByteArray("/clips/") + name + ".mp4");
  ask(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return !last().verdict.isEmpty(); }));
  EXPECT_EQ(last().verdict, QStringLiteral("Not checked: longer than the model reads"));
  EXPECT_EQ(last().verdictKind, ui::Verdict::kNotChecked);
  EXPECT_TRUE(last().checked.isEmpty());
  EXPECT_EQ(lastScore(), nullptr);
  check();  // asked for, it is made
  ASSERT_TRUE(waitUntil([this] { return !last().checked.isEmpty(); }));
  EXPECT_EQ(last().verdictKind, ui::Verdict::kDiffers);
  EXPECT_EQ(last().verdict, QStringLiteral("2 words differ"));
}

TEST_F(AnswerCheckTest, NotesAreReachedByPointerKeyAndScreenReader) {
  ask(QStringLiteral("What color is the star?"));
  QTest::keyClick(composer()->prompt(), Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(waitUntil([this] { return last().marks.size() == 2; }));
  m_window->grab();
  const QRect first = transcript()->markRect(last().id, 0);
  ASSERT_FALSE(first.isEmpty());
  QHelpEvent help(QEvent::ToolTip, first.center(), transcript()->viewport()->mapToGlobal(first.center()));
  QApplication::sendEvent(transcript()->viewport(), &help);
  EXPECT_TRUE(QToolTip::text().contains(QStringLiteral("red"))) << QToolTip::text().toStdString();
  QToolTip::hideText();
  transcript()->setFocus();
  QTest::keyClick(transcript(), Qt::Key_F8);
  EXPECT_EQ(transcript()->focusedNote(), last().marks[0].note);
  QTest::keyClick(transcript(), Qt::Key_F8);
  EXPECT_EQ(transcript()->focusedNote(), last().marks[1].note);
  QTest::keyClick(transcript(), Qt::Key_F8, Qt::ShiftModifier);
  EXPECT_EQ(transcript()->focusedNote(), last().marks[0].note);
  EXPECT_EQ(transcript()->accessibleDescription(), last().marks[0].note);
  QAccessibleInterface* list = QAccessible::queryAccessibleInterface(transcript());
  ASSERT_NE(list, nullptr);
  const QString read = list->child(1)->text(QAccessible::Name);
  EXPECT_TRUE(read.contains(last().checked));
  EXPECT_TRUE(read.contains(last().marks[1].note));
}

TEST_F(AnswerCheckTest, AFileThatWasMovedIsFoundFromTheNotice) {
  composer()->addFile("/clips/a.mp4");
  ASSERT_TRUE(attached());
  ask(QStringLiteral("What color is the star?"));
  m_gone = "/clips/a.mp4";
  check();
  auto* notice = noticeBar("faults");
  ASSERT_TRUE(waitUntil([&] { return notice->button(QStringLiteral("Find it…")) != nullptr; })) << notice->text().toStdString();
  notice->button(QStringLiteral("Find it…"))->click();
  auto* dialog = m_window->findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  Q_EMIT dialog->fileSelected(QStringLiteral("/archive/a.mp4"));
  dialog->close();
  ASSERT_TRUE(waitUntil([this] { return !last().checked.isEmpty() && !session().answers.busy(); }));
  EXPECT_EQ(pathOf(*lastScore()), "/archive/a.mp4");
}

TEST_F(AnswerCheckTest, EscapeStopsItAndNothingHasChanged) {
  m_stalls = true;
  ask(QStringLiteral("What color is the star?"));
  check();
  ASSERT_TRUE(waitUntil([this] { return last().phase.contains(QStringLiteral("Reading the prompt")); }));
  EXPECT_TRUE(session().answers.busy());
  EXPECT_FALSE(session().answers.blockedReason().isEmpty());
  QTest::keyClick(m_window.get(), Qt::Key_Escape);
  ASSERT_TRUE(idle());
  EXPECT_TRUE(last().checked.isEmpty());
  EXPECT_TRUE(last().phase.isEmpty());
  ask(QStringLiteral("And now?"));
  EXPECT_EQ(transcript()->messageCount(), 4);
}

TEST_F(AnswerCheckTest, AFailureIsToldAndTheAnswerStays) {
  m_failure = true;
  ask(QStringLiteral("What color is the star?"));
  check();
  ASSERT_TRUE(waitUntil([this] { return !noticeBar("faults")->text().isEmpty() && !session().answers.busy(); }));
  EXPECT_TRUE(last().checked.isEmpty());
  EXPECT_EQ(last().text, QStringLiteral("The star is **blue** and small."));
}

TEST_F(AnswerCheckTest, AnotherModelsAnswerIsNotChecked) {
  ask(QStringLiteral("What color is the star?"));
  session().model.load(QStringLiteral("/models/another"));
  ASSERT_TRUE(waitUntil(
      [this] { return session().model.state() == ui::ModelState::kReady && session().model.info().folder == "/models/another"; }));
  m_window->grab();
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, ui::Action::kCheck).center());
  EXPECT_TRUE(composer()->notice().contains(QStringLiteral("shapes-demo")));
  EXPECT_FALSE(session().answers.busy());
  EXPECT_EQ(lastScore(), nullptr);
}

TEST_F(AnswerCheckTest, AnEarlierAnswerIsCheckedWithItsOwnThread) {
  ask(QStringLiteral("first"));
  const qint64 first = last().id;
  ask(QStringLiteral("second"));
  m_window->grab();
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(first, ui::Action::kCheck).center());
  ASSERT_EQ(transcript()->messageAt(1).id, first);
  ASSERT_TRUE(waitUntil([&] { return !transcript()->messageAt(1).checked.isEmpty(); }));
  EXPECT_EQ(lastScore()->turn.messages.size(), 1u);
  EXPECT_TRUE(last().checked.isEmpty());
}

}  // namespace
}  // namespace winnow::test
