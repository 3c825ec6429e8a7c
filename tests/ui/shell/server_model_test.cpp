// A server in the engine's place, in the window: how it is connected to, what is greyed, and what is said of its answers.
#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>

#include "tests/support/fake_model_server.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/model/connect_dialog.h"

namespace winnow::test {
namespace {

const QString kPlace = QStringLiteral("http://gpu:8000/v1#model=Qwen/Qwen2-VL&key=env:GPU_KEY");

ModelInfo serversModel() {
  ModelInfo info{.folder = kPlace.toStdString(), .name = "Qwen/Qwen2-VL", .device = "server", .server = "vLLM at gpu:8000"};
  for (int ability = 1; ability <= static_cast<int>(Ability::kContinue); ++ability) info.lacks.push_back(static_cast<Ability>(ability));
  return info;
}

Script serversAnswer() {
  Finished done;
  done.answer = "It is red.";
  done.figures.tokens.thread_text = 40;
  done.figures.tokens.prompt = 10;
  done.figures.tokens.generated = 3;
  done.figures.timings_ms.ttft = 250.0;
  done.figures.tokens_per_s = 20.0;
  return {{{}, Say{Progress{Phase::kPrefill, 0, 0}}}, {{}, Say{TextDelta{"It is red."}}}, {{}, Say{done}}};
}

class ServerModelTest : public WindowTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(m_folder.isValid());
    m_script = [this](const Request& request) -> Script {
      const auto* load = std::get_if<LoadModel>(&request.body);
      if (load != nullptr && load->folder.starts_with("http")) return {{{}, Say{ModelLoaded{serversModel()}}}};
      if (std::holds_alternative<Turn>(request.body) && m_answers) return m_answers();
      return default_script(request);
    };
    ui::InitialState initial{.modelFolder = kPlace, .demoModelFolder = kDemo};
    open(initial);
    ASSERT_EQ(session().model.state(), ui::ModelState::kReady);
  }
  QAction* action(const QString& beginning) {
    for (QAction* each : m_window->actions())
      if (each->text().startsWith(beginning)) return each;
    return nullptr;
  }

  std::function<Script()> m_answers = serversAnswer;
};

TEST_F(ServerModelTest, WhatTheServerCannotDoIsGreyWithTheReason) {
  for (const char* label : {"&Compare methods", "Choose a &method", "Chan&ge the recipe", "&Watch", "&What changed?"}) {
    QAction* each = action(QString::fromLatin1(label));
    ASSERT_NE(each, nullptr) << label;
    EXPECT_FALSE(each->isEnabled()) << label;
    EXPECT_TRUE(each->toolTip().startsWith(QStringLiteral("vLLM at gpu:8000 answers"))) << label;
  }
  EXPECT_FALSE(composer()->method()->isEnabled());
  EXPECT_EQ(composer()->method()->toolTip(),
            QStringLiteral("vLLM at gpu:8000 answers, and its cache is its own: methods, shares and pins have no effect."));
  EXPECT_TRUE(m_window->statusText().startsWith(QStringLiteral("Qwen/Qwen2-VL  ·  vLLM at gpu:8000")))
      << m_window->statusText().toStdString();
  session().model.load(QStringLiteral("/models/shapes-demo"));
  ASSERT_TRUE(waitUntil([this] { return composer()->method()->isEnabled(); })) << "a model on this computer can do it all";
  EXPECT_TRUE(action(QStringLiteral("&Compare methods"))->isEnabled());
}

TEST_F(ServerModelTest, NobodyIsToldThatEverythingStaysHere) {
  bool told = false;
  for (const QLabel* label : m_window->findChildren<QLabel*>()) {
    EXPECT_FALSE(label->text().contains(QStringLiteral("stays on this computer"))) << label->text().toStdString();
    told = told || label->text().contains(QStringLiteral("is sent to vLLM at gpu:8000"));
  }
  EXPECT_TRUE(told);
}

TEST_F(ServerModelTest, NothingIsPlannedOrPreparedForIt) {
  ASSERT_TRUE(attaches("/pictures/cat.png"));
  ask(QStringLiteral("What is it?"));
  EXPECT_TRUE(m_log->plans().empty());
  EXPECT_TRUE(m_log->prepares().empty());
}

TEST_F(ServerModelTest, ItsAnswersSayWhatIsKnownAndNoMore) {
  ask(QStringLiteral("Which colour?"));
  EXPECT_EQ(last().text, QStringLiteral("It is red."));
  const ui::MessageMetrics& metrics = last().metrics;
  EXPECT_TRUE(metrics.byServer);
  EXPECT_EQ(metrics.promptTokens, 40);
  EXPECT_EQ(metrics.cachedTokens, 30);
  EXPECT_FALSE(last().checkable);
  const ui::CacheFigures& figures = session().answers.monitor().figures();
  EXPECT_TRUE(figures.byServer);
  EXPECT_EQ(figures.cachedTokens, 30);
  const ConversationId chat = session().chat.id();
  close();
  open({});
  ASSERT_TRUE(waitUntil([this] { return m_store->isOpen(); }));
  session().chat.open(chat);
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; })) << "it is saved as others are";
  EXPECT_TRUE(last().metrics.byServer);
  EXPECT_EQ(last().roleLabel, QStringLiteral("Qwen/Qwen2-VL"));
}

TEST_F(ServerModelTest, AnAnswerThatBreaksOffIsKeptAndSaidSo) {
  m_answers = [] {
    Script script = {{{}, Say{TextDelta{"It is"}}}};
    script.push_back({{}, Say{Failed{{ErrorCode::kServerBrokeOff, "gpu:8000", "its answer ends without saying so"}}}});
    return script;
  };
  ask(QStringLiteral("Which colour?"));
  EXPECT_EQ(last().text, QStringLiteral("It is"));
  EXPECT_EQ(last().status, ui::MessageStatus::kFailed);
  ASSERT_TRUE(last().error.has_value());
  EXPECT_EQ(last().error->code, ErrorCode::kServerBrokeOff);
}

TEST_F(ServerModelTest, IsAmongTheRecentModelsUnderItsName) {
  ASSERT_TRUE(waitUntil([this] { return m_settings->recentModelFolders().contains(kPlace); }));
  for (const QToolButton* button : m_window->findChildren<QToolButton*>()) {
    if (!button->accessibleName().startsWith(QStringLiteral("Model: "))) continue;
    QStringList labels;
    for (const QAction* each : button->menu()->actions()) labels << each->text();
    EXPECT_TRUE(labels.contains(QStringLiteral("Conn&ect to a server…"))) << labels.join(u',').toStdString();
    EXPECT_TRUE(labels.contains(QStringLiteral("Qwen/Qwen2-VL at gpu:8000"))) << labels.join(u',').toStdString();
  }
}

TEST_F(ServerModelTest, AKeyThatNoDesktopKeepsIsSaid) {
  m_desktopKeys->mood = FakeSecretService::Mood::kRefuses;
  m_keys.keep(app::serverAddressOf("http://gpu:8000/v1"), "sk-typed");
  const ui::NoticeBar* notice = nullptr;
  ASSERT_TRUE(waitUntil([&] {
    for (const ui::NoticeBar* bar : m_window->findChildren<ui::NoticeBar*>()) {
      if (bar->text().contains(QStringLiteral("did not keep the key"))) notice = bar;
    }
    return notice != nullptr;
  }));
  session().model.load(kPlace);
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
  EXPECT_TRUE(notice->text().contains(QStringLiteral("did not keep the key"))) << "a model that is ready is no reason to take it away";
  EXPECT_TRUE(notice->details().contains(QStringLiteral("there is no keyring"))) << notice->details().toStdString();
  EXPECT_FALSE(notice->details().contains(QStringLiteral("sk-typed")));
}

TEST_F(ServerModelTest, AKeyThatIsMissingCanBeTyped) {
  const QString place = QStringLiteral("http://gpu:8000/v1#key=desktop");
  m_script = [](const Request& request) {
    return std::holds_alternative<LoadModel>(request.body)
               ? failure_script(ErrorCode::kServerKeyMissing, "http://gpu:8000", "the desktop keeps none for it")
               : default_script(request);
  };
  session().model.load(place);
  const QPushButton* button = nullptr;
  ASSERT_TRUE(waitUntil([&] {
    for (const ui::NoticeBar* bar : m_window->findChildren<ui::NoticeBar*>()) {
      if (bar->text().startsWith(QStringLiteral("Your desktop keeps no key for this server. Type it again.")))
        button = bar->button(QStringLiteral("Type the key…"));
    }
    return button != nullptr;
  }));
  const_cast<QPushButton*>(button)->click();
  auto* dialog = m_window->findChild<ui::ConnectDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->address()->currentText(), QStringLiteral("http://gpu:8000/v1"));
  EXPECT_EQ(dialog->problem(), QStringLiteral("Type the key."));
  dialog->key()->setText(QStringLiteral("sk-typed"));
  EXPECT_TRUE(dialog->connectButton()->isEnabled());
  dialog->reject();
}

class ConnectDialogTest : public testing::Test {
 protected:
  ConnectDialogTest() { m_server.serve("vllm", {}); }

  FakeModelServer m_server;
  std::shared_ptr<FakeSecretService::Record> m_desktop = std::make_shared<FakeSecretService::Record>();  // shared: the ring asks it
  app::KeyRing m_keys{std::make_unique<FakeSecretService>(m_desktop)};
};

void chooseKey(const ui::ConnectDialog& dialog, app::KeySource::Kind kind) {
  dialog.keyKind()->setCurrentIndex(dialog.keyKind()->findData(int(kind)));
}

TEST_F(ConnectDialogTest, ListsTheModelsAndNamesThePlaceWithoutTheKey) {
  auto* dialog = new ui::ConnectDialog({}, m_keys);
  QSignalSpy chosen(dialog, &ui::ConnectDialog::chosen);
  EXPECT_FALSE(dialog->connectButton()->isEnabled());
  dialog->address()->setEditText(QString::fromStdString(m_server.url()));
  EXPECT_TRUE(dialog->connectButton()->isEnabled());
  dialog->testButton()->click();
  ASSERT_TRUE(waitUntil([&] { return dialog->model()->count() == 2; })) << dialog->status().toStdString();
  EXPECT_EQ(dialog->status(), QStringLiteral("It can be reached and lists 2 models."));
  dialog->model()->setCurrentText(QStringLiteral("large"));
  chooseKey(*dialog, app::KeySource::Kind::kEnvironment);
  EXPECT_FALSE(dialog->connectButton()->isEnabled()) << "the variable has no name yet";
  dialog->keyName()->setText(QStringLiteral("GPU_KEY"));
  dialog->accept();
  ASSERT_EQ(chosen.size(), 1);
  EXPECT_EQ(chosen[0][0].toString(), QString::fromStdString(m_server.url()) + QStringLiteral("#model=large&key=env:GPU_KEY"));
}

TEST_F(ConnectDialogTest, SaysWhyAServerCannotBeAsked) {
  ui::ConnectDialog dialog({}, m_keys);
  dialog.setAttribute(Qt::WA_DeleteOnClose, false);
  dialog.address()->setEditText(QString::fromStdString(m_server.url()));
  m_server.answerJson("/v1/models", R"({"error":{"message":"no"}})", 401);
  dialog.testButton()->click();
  ASSERT_TRUE(waitUntil([&] { return dialog.status().contains(QStringLiteral("does not accept the key")); }))
      << dialog.status().toStdString();
  chooseKey(dialog, app::KeySource::Kind::kEnvironment);
  dialog.keyName()->setText(QStringLiteral("WINNOW_NO_SUCH_KEY"));
  dialog.testButton()->click();
  ASSERT_TRUE(waitUntil([&] { return dialog.status().contains(QStringLiteral("is not in “WINNOW_NO_SUCH_KEY”")); }))
      << dialog.status().toStdString();
  for (const char* bad : {"ftp://host", "http://me:secret@host/v1", "a b"}) {
    dialog.address()->setEditText(QString::fromLatin1(bad));
    EXPECT_FALSE(dialog.connectButton()->isEnabled()) << bad;
  }
  for (const char* open : {"http://far:8000/v1", "far:8000", "http://localhost.example/v1", "http://127.example:80/v1"}) {
    dialog.address()->setEditText(QString::fromLatin1(open));
    EXPECT_TRUE(dialog.status().startsWith(QStringLiteral("Without https"))) << open << ": " << dialog.status().toStdString();
  }
  for (const char* safe : {"https://far:8000/v1", "http://localhost:8000", "127.0.0.1:8000", "http://[::1]:8000/v1"}) {
    dialog.address()->setEditText(QString::fromLatin1(safe));
    EXPECT_EQ(dialog.status(), QString()) << safe;
  }
}

TEST_F(ConnectDialogTest, AKeyThatIsTypedGoesToTheDesktopAlone) {
  auto* dialog = new ui::ConnectDialog({}, m_keys);
  QSignalSpy chosen(dialog, &ui::ConnectDialog::chosen);
  dialog->address()->setEditText(QString::fromStdString(m_server.url()));
  chooseKey(*dialog, app::KeySource::Kind::kDesktop);
  EXPECT_EQ(dialog->key()->echoMode(), QLineEdit::Password);
  EXPECT_EQ(dialog->problem(), QStringLiteral("Type the key."));
  dialog->key()->setText(QStringLiteral("two words"));
  EXPECT_FALSE(dialog->connectButton()->isEnabled());
  dialog->key()->setText(QStringLiteral("sk-typed"));
  EXPECT_TRUE(waitUntil([&] { return dialog->status().startsWith(QStringLiteral("The key is kept by your desktop’s key store")); }))
      << dialog->status().toStdString();
  dialog->testButton()->click();
  ASSERT_TRUE(waitUntil([&] { return dialog->model()->count() == 2; })) << dialog->status().toStdString();
  EXPECT_TRUE(m_server.asked.back().head.contains("Bearer sk-typed"));
  EXPECT_TRUE(m_desktop->secrets.empty()) << "only tried";
  dialog->accept();
  ASSERT_EQ(chosen.size(), 1);
  const QString place = chosen[0][0].toString();
  EXPECT_TRUE(place.endsWith(QStringLiteral("&key=desktop"))) << place.toStdString();
  const std::string origin = app::serverAddressOf(place.toStdString()).origin();
  EXPECT_TRUE(waitUntil([&] { return m_desktop->secret(origin) == "sk-typed"; }));
  ui::ConnectDialog later({place}, m_keys);
  later.setAttribute(Qt::WA_DeleteOnClose, false);
  EXPECT_TRUE(later.connectButton()->isEnabled()) << "it needs not be typed again";
  EXPECT_TRUE(later.key()->text().isEmpty());
  later.address()->setEditText(QStringLiteral("https://other/v1"));
  EXPECT_FALSE(later.connectButton()->isEnabled()) << "which has none yet";
}

// It was said to be kept where no key store runs.
TEST_F(ConnectDialogTest, WhereNoDesktopKeepsKeysThatIsSaidBeforeOneIsTyped) {
  m_desktop->mood = FakeSecretService::Mood::kRefuses;
  ui::ConnectDialog dialog({}, m_keys);
  dialog.setAttribute(Qt::WA_DeleteOnClose, false);
  dialog.address()->setEditText(QString::fromStdString(m_server.url()));
  chooseKey(dialog, app::KeySource::Kind::kDesktop);
  dialog.key()->setText(QStringLiteral("sk-typed"));
  EXPECT_TRUE(waitUntil([&] { return dialog.status().startsWith(QStringLiteral("Your desktop keeps no keys")); }))
      << dialog.status().toStdString();
  EXPECT_TRUE(dialog.connectButton()->isEnabled()) << "it can be used all the same";
}

TEST_F(ConnectDialogTest, OffersTheServersOfBefore) {
  ui::ConnectDialog dialog({QStringLiteral("/models/a.gguf"), kPlace, QStringLiteral("https://other/v1")}, m_keys);
  dialog.setAttribute(Qt::WA_DeleteOnClose, false);
  EXPECT_EQ(dialog.address()->count(), 2);
  EXPECT_EQ(dialog.address()->currentText(), QStringLiteral("http://gpu:8000/v1"));
  EXPECT_EQ(dialog.model()->currentText(), QStringLiteral("Qwen/Qwen2-VL"));
  EXPECT_EQ(dialog.keyName()->text(), QStringLiteral("GPU_KEY"));
}

}  // namespace
}  // namespace winnow::test
