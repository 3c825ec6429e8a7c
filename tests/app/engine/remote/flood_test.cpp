// A server that never waits: what nobody has taken yet stays bounded at every hop, and whoever stops the answer is heard.
#include <gtest/gtest.h>

#include <QNetworkAccessManager>
#include <memory>

#include "app/engine/process/event_frames.h"
#include "app/engine/remote/remote_engine.h"
#include "app/engine/remote/winnow_server_engine.h"
#include "app/library/network/awaited_reply.h"
#include "engine/messages/wire.h"
#include "tests/support/flooding_server.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::FloodingServer;

constexpr std::int64_t kMostOnTheWay = std::int64_t{16} << 20;  // what the kernel holds included
const std::string kDelta = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}\n\n";

QUrl urlOf(const FloodingServer& server) { return QUrl(QString::fromStdString(server.address() + "/file")); }

TEST(Flood, AReplyThatNobodyReadsIsHeldWithinItsBound) {
  enum class How : int { kGet = 1, kPost = 2 };
  for (const How how : {How::kGet, How::kPost}) {
    const FloodingServer server(test::kEndlessStream, std::string(1000, 'x'));
    QNetworkAccessManager manager;
    QNetworkRequest request = bareRequest(urlOf(server));
    request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json"));
    const std::unique_ptr<QNetworkReply> reply(how == How::kGet ? manager.get(request) : manager.post(request, QByteArray("{}")));
    boundHeldBytes(*reply);
    ASSERT_TRUE(test::waitUntil([&] { return server.isHeldBack(); })) << "it was never held back";
    EXPECT_LE(reply->bytesAvailable(), kMostHeldBytes);
    EXPECT_LT(server.sentBytes(), kMostOnTheWay);
    reply->abort();
  }
}

TEST(Flood, AllOfAReplyComesThroughTheBound) {
  constexpr std::int64_t kBodyBytes = std::int64_t{64} << 20;
  const FloodingServer server("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(kBodyBytes) + "\r\n\r\n",
                              std::string(1000, 'x'));
  QNetworkAccessManager manager;
  const std::unique_ptr<QNetworkReply> reply(manager.get(bareRequest(urlOf(server))));
  std::int64_t taken = 0;
  const ReplyEnd end = awaitReply(*reply, {0, test::kPatienceMs, 0}, [&](std::string_view piece) { taken += std::ssize(piece); }, {});
  EXPECT_EQ(end.waitedMs, 0);
  EXPECT_EQ(reply->error(), QNetworkReply::NoError);
  EXPECT_EQ(taken, kBodyBytes);
}

// Takes nothing until the server waits, and stops then.
class HeldSink final : public EventSink {
 public:
  HeldSink(const FloodingServer& server, Interrupt kind) : m_server(server), m_kind(kind) {}
  void on_event(Event event) override {
    last = std::move(event);
    if (!std::holds_alternative<TextDelta>(last.body) || m_source.token().requested()) return;
    while (!m_server.isHeldBack()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    sentBytes = m_server.sentBytes();
    m_kind == Interrupt::kStop ? m_source.request_stop() : m_source.request_cancel();
  }
  InterruptToken token() const { return m_source.token(); }

  Event last;
  std::int64_t sentBytes = 0;

 private:
  const FloodingServer& m_server;
  const Interrupt m_kind;
  InterruptSource m_source;
};

Turn floodedQuestion() { return {.messages = {{Role::kUser, {TextItem{"Why?"}}}}}; }

void expectHeldAndHeard(const FloodingServer& server, Engine& engine, Interrupt kind) {
  HeldSink sink(server, kind);
  engine.handle({1, floodedQuestion()}, sink, sink.token());
  const auto* finished = std::get_if<Finished>(&sink.last.body);
  ASSERT_NE(finished, nullptr) << std::get<Failed>(sink.last.body).error.reason;
  EXPECT_EQ(finished->reason, StopReason::kInterrupted);
  EXPECT_GT(sink.sentBytes, 0);
  EXPECT_LT(sink.sentBytes, kMostOnTheWay);
  EXPECT_LT(server.sentBytes(), 2 * kMostOnTheWay) << "it went on being read";
}

TEST(Flood, AnAnswerIsHeldBackAndStopIsHeard) {
  for (const std::string& piece : {kDelta, std::string(": ping\n\n") + kDelta, std::string(60, '\n') + kDelta}) {
    const FloodingServer server(test::kEndlessStream, piece);
    ServerTraits traits{.model = "small"};
    RemoteEngine engine(std::make_unique<ServerConnection>(ServerAddress{server.address() + "/v1", "small"}, ""), traits, nullptr);
    expectHeldAndHeard(server, engine, Interrupt::kStop);
  }
}

TEST(Flood, AnotherWinnowsEventsAreHeldBackAndCancelIsHeard) {
  const std::vector<std::uint8_t> event = encoded(Event{1, TextDelta{"word "}});
  const FloodingServer server("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n", frameOf(event));
  WinnowServerEngine engine(std::make_unique<ServerConnection>(ServerAddress{server.address() + "/v1", "small"}, ""));
  expectHeldAndHeard(server, engine, Interrupt::kCancel);
}

// What says nothing has no end, either, and is not waited for.
TEST(Flood, WordlessBytesWithoutAnEndAreRefused) {
  const FloodingServer server(test::kEndlessStream, ": ping" + std::string(1000, '.') + "\n\n");
  ServerTraits traits{.model = "small"};
  RemoteEngine engine(std::make_unique<ServerConnection>(ServerAddress{server.address() + "/v1", "small"}, ""), traits, nullptr);
  HeldSink sink(server, Interrupt::kStop);
  engine.handle({1, floodedQuestion()}, sink, {});
  ASSERT_TRUE(std::holds_alternative<Failed>(sink.last.body));
  EXPECT_EQ(std::get<Failed>(sink.last.body).error.reason, "the stream of the answer has no end");
}

}  // namespace
}  // namespace winnow::app
