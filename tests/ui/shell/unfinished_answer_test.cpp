// An answer that is not whole says why, now and after a restart, and offers a way on.
#include <QAccessible>

#include "tests/ui/support/window_fixture.h"

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
  void reopen() {
    close();
    open();
    ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  }
  void send(const QString& text) {
    composer()->prompt()->setPlainText(text);
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
    pressEnter();
    ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && session().answers.busy(); }));
  }
  std::vector<Turn> turns() {
    std::vector<Turn> all;
    for (const Request& request : m_log->requests()) {
      if (const auto* turn = std::get_if<Turn>(&request.body)) all.push_back(*turn);
    }
    return all;
  }
};

TEST_F(UnfinishedAnswer, CutAtTheLimitSaysSoAndIsAnsweredLonger) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    const int most = std::get<Turn>(request.body).sampling.max_new_tokens;
    Script script = answer_script(request, QStringLiteral("word ").repeated(std::min(most, 300)).toStdString());
    if (most < 300) std::get<Finished>(std::get<Say>(script.back().action).body).reason = StopReason::kLength;
    return script;
  };
  ask(QStringLiteral("tell me more"));
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped at the limit of 256 tokens."))) << told().right(200).toStdString();
  reopen();
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped at the limit of 256 tokens."))) << "forgotten: " << told().right(200).toStdString();
  m_window->grab();
  const QRect button = transcript()->actionRect(last().id, ui::Action::kLonger);
  ASSERT_FALSE(button.isEmpty());
  const qint64 cut = last().id;
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, button.center());
  ASSERT_TRUE(waitUntil([&] { return last().id != cut && last().metrics.valid && !session().answers.busy(); }));
  EXPECT_EQ(turns().back().sampling.max_new_tokens, 512);
  EXPECT_EQ(m_settings->maxNewTokens(), 256) << "the answer was longer, the setting is the person's";
  EXPECT_FALSE(told().contains(QStringLiteral("limit"))) << "this one came to its end";
  EXPECT_TRUE(transcript()->actionRect(last().id, ui::Action::kLonger).isEmpty());
  EXPECT_EQ(last().branchCount, 2) << "the shorter one is still there";
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
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, ui::Action::kRetry).center());
  ASSERT_TRUE(waitUntil([this] { return last().text.contains(QStringLiteral("two")); }));
  QTest::mouseClick(composer()->sendButton(), Qt::LeftButton);
  ASSERT_TRUE(idle());
  EXPECT_TRUE(told().contains(QStringLiteral("Stopped here."))) << told().toStdString();
  EXPECT_FALSE(told().contains(QStringLiteral("first word"))) << told().toStdString();
}

TEST_F(UnfinishedAnswer, OfAProgramThatWasClosedSaysThatItWas) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return answer_script(request, "one two three four five six seven eight nine ten eleven twelve", 80ms);
  };
  send(QStringLiteral("count"));
  ASSERT_TRUE(waitUntil([this] { return last().text.contains(QStringLiteral("three")); }));
  reopen();
  EXPECT_TRUE(told().contains(QStringLiteral("Winnow was closed while this was written."))) << told().toStdString();
  EXPECT_TRUE(last().text.startsWith(QStringLiteral("one")));
  m_window->grab();
  EXPECT_FALSE(transcript()->actionRect(last().id, ui::Action::kRetry).isEmpty());
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
