// Model > Serve to other programs: what asks from outside while somebody chats, and what ends it.
#include <QAction>
#include <QClipboard>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <future>

#include "app/media/files/media_opener.h"
#include "app/programs/server/api_server.h"
#include "tests/app/programs/server/http_client.h"
#include "tests/ui/support/window_fixture.h"

namespace winnow::test {
namespace {

class ServingTest : public WindowTest {
 protected:
  void SetUp() override {
    m_serve = [this](const app::RequestDefaults& defaults) {
      app::ApiOptions options{
          .port = m_port, .defaults = defaults, .storeFolder = m_folder.filePath(QStringLiteral("served")).toStdString()};
      auto server = std::make_unique<app::ApiServer>(*m_engine, m_reader, options);
      m_port = server->port();
      return server;
    };
  }
  QAction* action(const QString& label) {
    for (const QToolButton* button : m_window->findChildren<QToolButton*>()) {
      if (!button->accessibleName().startsWith(QStringLiteral("Model: "))) continue;
      for (QAction* each : button->menu()->actions())
        if (each->text() == label) return each;
    }
    return nullptr;
  }
  QAction* serve() { return action(QStringLiteral("&Serve to other programs")); }
  ui::NoticeBar* notice() { return noticeBar("serving"); }
  std::future<std::string> send(const std::string& words) {
    const std::string body = R"({"messages":[{"role":"user","content":")" + words + R"("}]})";
    return std::async(std::launch::async, [port = m_port, body] {
      const HttpClient client(port);
      client.send(request("POST /v1/chat/completions", body));
      return client.receive();
    });
  }
  static bool came(const std::future<std::string>& reply) {
    return waitUntil([&] { return reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  }
  bool says(const QString& words) {
    return waitUntil([&] { return notice()->text().contains(words); });
  }
  // Turns wait until they are interrupted.
  void stall() {
    m_script = [](const Request& request) {
      if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
      return Script{{{}, Stall{}}};
    };
  }

  app::FfmpegMediaOpener m_reader;
  std::uint16_t m_port = 0;  // of the server, once there was one
};

TEST_F(ServingTest, IsOffUntilItIsTurnedOnAndSaysWhereItIs) {
  open();
  ASSERT_NE(serve(), nullptr);
  EXPECT_FALSE(serve()->isChecked());
  EXPECT_TRUE(notice()->isHidden());
  serve()->trigger();
  EXPECT_TRUE(serve()->isChecked());
  EXPECT_TRUE(says(QStringLiteral("http://127.0.0.1:%1/v1").arg(m_port)));
  action(QStringLiteral("Copy its a&ddress"))->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("http://127.0.0.1:%1/v1").arg(m_port));
  const std::future<std::string> reply = send("hello");
  ASSERT_TRUE(came(reply));
  EXPECT_TRUE(says(QStringLiteral("Answered: 1 · waiting: 0")));
  EXPECT_EQ(transcript()->messageCount(), 0) << "what others ask is in no chat";
  notice()->button(QStringLiteral("Stop serving"))->click();
  EXPECT_FALSE(serve()->isChecked());
  EXPECT_TRUE(notice()->isHidden());
  EXPECT_FALSE(HttpClient(m_port).connected());
}

TEST_F(ServingTest, IsRememberedOnlyWhereTheSettingsSaySo) {
  open();
  serve()->trigger();
  reopen();
  EXPECT_FALSE(serve()->isChecked());
  m_settings->setAtStart({true, true});
  reopen();
  EXPECT_TRUE(waitUntil([&] { return serve()->isChecked(); }));
}

TEST_F(ServingTest, TheWindowsQuestionIsNextWhoeverElseWaits) {
  stall();
  open();
  serve()->trigger();
  const std::future<std::string> running = send("one");
  ASSERT_TRUE(waitUntil([&] { return m_log->requests().size() == 2; }));  // the first is LoadModel
  const std::future<std::string> waiting = send("two");
  ASSERT_TRUE(says(QStringLiteral("waiting: 1")));
  composer()->prompt()->setPlainText(QStringLiteral("mine"));
  ASSERT_TRUE(waitUntil([&] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([&] { return session().answers.busy(); }));
  ASSERT_TRUE(waitUntil([&] { return m_engine->unfinished() >= 2; }));
  m_engine->stop(m_log->requests().back().id);
  ASSERT_TRUE(came(running));
  ASSERT_TRUE(waitUntil([&] { return m_log->requests().size() == 3; }));
  EXPECT_LT(conversation_of(m_log->requests().back().body), app::kFirstServedConversation);
  session().answers.stop();
  ASSERT_TRUE(waitUntil([&] { return m_log->requests().size() == 4; }));
  EXPECT_GE(conversation_of(m_log->requests().back().body), app::kFirstServedConversation);
  serve()->trigger();
  EXPECT_TRUE(came(waiting));
}

TEST_F(ServingTest, AnotherModelAndTheEndOfTheWindowEndItsAnswers) {
  stall();
  open();
  serve()->trigger();
  const std::future<std::string> first = send("one");
  ASSERT_TRUE(waitUntil([&] { return m_log->requests().size() == 2; }));
  session().model.load(QStringLiteral("/models/other"));
  ASSERT_TRUE(came(first));
  EXPECT_TRUE(waitUntil([&] { return session().model.state() == ui::ModelState::kReady; }));
  EXPECT_TRUE(serve()->isChecked()) << "the next model is served";
  const std::future<std::string> second = send("two");
  ASSERT_TRUE(waitUntil([&] { return m_log->requests().size() == 4; }));
  close();
  EXPECT_TRUE(came(second));
}

TEST_F(ServingTest, SaysWhyItCannotBeTurnedOn) {
  open();
  app::EngineHost other([] { return std::make_unique<ScriptedEngine>(); });
  app::ApiOptions options{.port = 0, .storeFolder = m_folder.filePath(QStringLiteral("other")).toStdString()};
  const app::ApiServer taken(other, m_reader, options);
  m_port = taken.port();
  serve()->trigger();
  EXPECT_FALSE(serve()->isChecked());
  EXPECT_TRUE(noticeBar("faults")->text().contains(QStringLiteral("another program listens there")));
}

}  // namespace
}  // namespace winnow::test
