// How a chat answers: its own values before the settings', what differs seen at a glance, comparisons greedy whatever is chosen.
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <algorithm>

#include "tests/support/scripted_comparison.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/chat_settings_button.h"
#include "ui/composer/thinking_choice.h"
#include "ui/settings_view/chat_settings_dialog.h"
#include "ui/settings_view/sampling_form.h"
#include "ui/settings_view/settings_dialog.h"

namespace winnow::test {
namespace {

class ChatSettingsTest : public WindowTest {
 protected:
  ui::ChatSettingsDialog* openDialog() {
    QTest::keyClick(m_window.get(), Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
    return m_window->findChild<ui::ChatSettingsDialog*>();
  }
  static void accept(ui::ChatSettingsDialog* dialog) {
    dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->click();
    QCoreApplication::sendPostedEvents(dialog, QEvent::DeferredDelete);
  }
  void reopen() {
    close();
    open();
    ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() > 0; }));
  }
  ui::ChatSettingsButton* button() { return composer()->answering().settings; }
  template <class Body>
  Body lastRequest() {
    const std::vector<Request> requests = m_log->requests();
    for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
      if (const auto* body = std::get_if<Body>(&request->body)) return *body;
    }
    ADD_FAILURE() << "there was none";
    return {};
  }
};

TEST_F(ChatSettingsTest, AChatsOwnValuesAreSentSavedAndSeen) {
  ask(QStringLiteral("first"));
  Sampling unasked{.max_new_tokens = Sampling::kLongestUnasked, .room_tokens = Sampling::kRoom};
  EXPECT_EQ(lastRequest<Turn>().sampling, unasked) << "greedy and to the end unless somebody chooses otherwise";
  EXPECT_FALSE(button()->differs());
  ui::ChatSettingsDialog* dialog = openDialog();
  ASSERT_NE(dialog, nullptr);
  EXPECT_FALSE(dialog->recommendedButton()->isEnabled()) << "this model recommends nothing";
  dialog->sampling()->temperature()->setValue(0.7);
  dialog->sampling()->seed()->setText(QStringLiteral("42"));
  dialog->systemPrompt()->setPlainText(QStringLiteral("Answer in French."));
  accept(dialog);
  EXPECT_TRUE(button()->differs());
  for (const char* word : {"temperature 0.7", "seed 42", "a system prompt"})
    EXPECT_TRUE(button()->toolTip().contains(QLatin1String(word))) << button()->toolTip().toStdString();
  ask(QStringLiteral("second"));
  const auto check = [&](const Turn& turn) {
    EXPECT_EQ(turn.sampling.temperature, 0.7);
    EXPECT_EQ(turn.sampling.seed, 42U);
    EXPECT_FALSE(turn.sampling.limit_chosen()) << "not chosen here";
    ASSERT_FALSE(turn.messages.empty());
    EXPECT_EQ(turn.messages.front().role, Role::kSystem);
    EXPECT_EQ(std::get<TextItem>(turn.messages.front().items.at(0)).text, "Answer in French.");
  };
  check(lastRequest<Turn>());
  EXPECT_EQ(session().chat.branch().last().run.sampling.temperature, 0.7) << "kept with the answer";
  reopen();
  EXPECT_TRUE(button()->differs());
  ask(QStringLiteral("third"));
  check(lastRequest<Turn>());
  // Another chat is not concerned.
  QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
  EXPECT_FALSE(button()->differs());
  ask(QStringLiteral("elsewhere"));
  EXPECT_EQ(lastRequest<Turn>().sampling, unasked);
}

TEST_F(ChatSettingsTest, ANewChatTakesWhatWasChosenBeforeItsFirstQuestion) {
  ui::ChatSettingsDialog* dialog = openDialog();
  dialog->sampling()->topK()->setValue(5);
  dialog->systemPrompt()->setPlainText(QStringLiteral("Be brief."));
  accept(dialog);
  ask(QStringLiteral("first"));
  EXPECT_EQ(lastRequest<Turn>().sampling.top_k, 5);
  EXPECT_EQ(lastRequest<Turn>().messages.size(), 2U);
  reopen();
  EXPECT_EQ(session().chat.options().sampling.top_k, 5);
  EXPECT_EQ(session().chat.options().systemPrompt, QStringLiteral("Be brief."));
  EXPECT_TRUE(m_settings->chatDefaults().systemPrompt.isEmpty()) << "the defaults are not touched";
}

TEST_F(ChatSettingsTest, RecommendedPutsTheModelsOwnAndDefaultsTheSettings) {
  close();
  m_script = [](const Request& request) {
    if (!std::holds_alternative<LoadModel>(request.body)) return answer_script(request, "red");
    return changed<ModelLoaded>(load_script(request), [](ModelLoaded& loaded) {
      loaded.info.recommended.temperature = 0.6;
      loaded.info.recommended.top_p = 0.001;
    });
  };
  open();
  app::ChatDefaults defaults = m_settings->chatDefaults();
  defaults.sampling.top_k = 9;
  defaults.sampling.max_new_tokens = 500;
  defaults.systemPrompt = QStringLiteral("Be kind.");
  m_settings->setChatDefaults(defaults);
  ui::ChatSettingsDialog* dialog = openDialog();
  EXPECT_EQ(dialog->systemPrompt()->toPlainText(), QStringLiteral("Be kind.")) << "a chat that is not saved yet goes along";
  EXPECT_EQ(dialog->chosen(), (ui::ChatAnswering{{}, QStringLiteral("Be kind.")}));
  dialog->sampling()->seed()->setText(QStringLiteral("3"));
  dialog->recommendedButton()->click();
  SamplingChoice expected;
  expected.temperature = 0.6;
  expected.top_k = 0;  // not named: off
  expected.top_p = 0.001;
  expected.seed = 3;  // the person's own
  EXPECT_EQ(dialog->chosen().sampling, expected);
  dialog->systemPrompt()->setPlainText(QStringLiteral("Be rude."));
  dialog->defaultsButton()->click();
  EXPECT_EQ(dialog->chosen(), (ui::ChatAnswering{{}, QStringLiteral("Be kind.")}));
  accept(dialog);
  EXPECT_FALSE(button()->differs());
}

TEST_F(ChatSettingsTest, ThinkingIsLimitedInTheBoxWhereTheModelThinks) {
  EXPECT_TRUE(composer()->answering().thinking->isHidden()) << "this model does not think";
  close();
  m_script = [](const Request& request) {
    return changed<ModelLoaded>(answering("red")(request), [](ModelLoaded& loaded) { loaded.info.thinks = true; });
  };
  open();
  ui::ThinkingChoice* thinking = composer()->answering().thinking;
  EXPECT_FALSE(thinking->isHidden());
  EXPECT_EQ(thinking->text(), QStringLiteral("Thinking: model’s default"));
  const auto choose = [&](const QString& words) {
    Q_EMIT thinking->menu()->aboutToShow();
    for (QAction* action : thinking->menu()->actions()) {
      if (action->text() == words) return action->trigger();
    }
    ADD_FAILURE() << words.toStdString();
  };
  choose(QStringLiteral("Thinking: at most 256 tokens"));
  EXPECT_EQ(thinking->text(), QStringLiteral("Thinking: at most 256 tokens"));
  EXPECT_TRUE(button()->differs());
  ask(QStringLiteral("first"));
  EXPECT_EQ(lastRequest<Turn>().sampling.thought_tokens, 256);
  choose(QStringLiteral("No thinking"));
  ask(QStringLiteral("second"));
  EXPECT_EQ(lastRequest<Turn>().sampling.thought_tokens, 0);
  EXPECT_EQ(lastRequest<Turn>().prompt.thinking, Thinking::kOff);
  // A number of its own, from the dialog, is one more choice.
  ui::ChatSettingsDialog* dialog = openDialog();
  dialog->sampling()->thinks()->setCurrentIndex(3);
  dialog->sampling()->thoughtTokens()->setValue(700);
  accept(dialog);
  Q_EMIT thinking->menu()->aboutToShow();
  EXPECT_EQ(thinking->menu()->actions().size(), 7);
  EXPECT_EQ(thinking->text(), QStringLiteral("Thinking: at most 700 tokens"));
  choose(QStringLiteral("Thinking: model’s default"));
  EXPECT_FALSE(button()->differs()) << "that is how Settings have it";
}

TEST_F(ChatSettingsTest, WithoutASeedEachDrawnAnswerHasAnother) {
  app::ChatDefaults defaults = m_settings->chatDefaults();
  defaults.sampling.temperature = 1.0;
  m_settings->setChatDefaults(defaults);
  ask(QStringLiteral("first"));
  const std::uint64_t first = lastRequest<Turn>().sampling.seed;
  ask(QStringLiteral("second"));
  EXPECT_NE(lastRequest<Turn>().sampling.seed, first);
  EXPECT_FALSE(button()->differs()) << "these are the defaults";
}

TEST_F(ChatSettingsTest, ComparisonsAreGreedyWhateverTheChatIs) {
  ask(QStringLiteral("first"));
  app::ConversationOptions options = session().chat.options();
  options.sampling.temperature = 1.0;
  options.sampling.repetition_penalty = 1.5;
  options.sampling.max_new_tokens = 40;
  options.systemPrompt = QStringLiteral("Be brief.");
  session().chat.setOptions(options);
  m_script = [](const Request& request) { return compare_script(request, {"red", "blue"}); };
  m_window->page().compareOrLeave();
  ASSERT_TRUE(sends(QStringLiteral("second")));
  ASSERT_TRUE(waitUntil([this] {
    const std::vector<Request> requests = m_log->requests();
    return std::any_of(requests.begin(), requests.end(), [](const Request& r) { return std::holds_alternative<Compare>(r.body); });
  }));
  const Compare compare = lastRequest<Compare>();
  Sampling greedy{.max_new_tokens = 40};
  EXPECT_EQ(compare.sampling, greedy);
  EXPECT_EQ(compare.messages.front().role, Role::kSystem);
}

TEST_F(ChatSettingsTest, TheSettingsHoldTheDefaultsAndResetThem) {
  auto* dialog = new ui::SettingsDialog(*m_settings, m_window.get());
  auto* sampling = dialog->findChild<ui::SamplingForm*>();
  auto* prompt = dialog->findChild<QPlainTextEdit*>();
  ASSERT_NE(sampling, nullptr);
  ASSERT_NE(prompt, nullptr);
  sampling->temperature()->setValue(0.4);
  sampling->longest()->setValue(1000);
  sampling->seed()->setText(QStringLiteral("8"));
  prompt->setPlainText(QStringLiteral("Be brief."));
  const app::ChatDefaults chosen = m_settings->chatDefaults();
  EXPECT_EQ(chosen.sampling.temperature, 0.4);
  EXPECT_EQ(chosen.sampling.max_new_tokens, 1000);
  EXPECT_EQ(chosen.sampling.seed, 8U);
  EXPECT_EQ(chosen.systemPrompt, QStringLiteral("Be brief."));
  for (QPushButton* each : dialog->findChildren<QPushButton*>()) {
    if (each->text() == QStringLiteral("Reset all")) each->click();
  }
  EXPECT_EQ(m_settings->chatDefaults(), chosen) << "it asks first";
  auto* question = dialog->findChild<QMessageBox*>();
  ASSERT_NE(question, nullptr);
  question->button(QMessageBox::Cancel)->click();
  EXPECT_EQ(m_settings->chatDefaults(), chosen);
  for (QPushButton* each : dialog->findChildren<QPushButton*>()) {
    if (each->text() == QStringLiteral("Reset all") && each->window() == dialog) each->click();
  }
  for (QAbstractButton* each : dialog->findChildren<QMessageBox*>().last()->buttons()) {
    if (each->text() == QStringLiteral("Reset all")) each->click();
  }
  EXPECT_EQ(m_settings->chatDefaults(), app::Settings().chatDefaults());
  EXPECT_EQ(sampling->values().temperature, 0.0);
  EXPECT_TRUE(prompt->toPlainText().isEmpty());
  delete dialog;
}

}  // namespace
}  // namespace winnow::test
