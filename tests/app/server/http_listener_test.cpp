#include "app/server/http_listener.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/base/error.h"
#include "tests/app/server/http_client.h"

namespace winnow::app {
namespace {

using test::HttpClient;
using test::request;

class HttpListenerTest : public testing::Test {
 protected:
  void start(HttpListener::Handler handler = {}) {
    if (!handler) {
      handler = [](HttpRequest asked, std::shared_ptr<HttpAnswer> answer) {
        answer->send({200, "text/plain", asked.method + " " + asked.path + " " + asked.query + " " + asked.body, {}});
      };
    }
    listener = std::make_unique<HttpListener>(
        "127.0.0.1", 0, limits,
        [](const HttpRequest& asked) -> std::optional<HttpReply> {
          if (asked.path == "/closed") return HttpReply{403, "text/plain", "no", {}};
          return std::nullopt;
        },
        std::move(handler));
  }
  std::string ask(const std::string& bytes) const {
    const HttpClient client(listener->port());
    client.send(bytes);
    return client.receive();
  }
  static std::string status(const std::string& reply) { return reply.substr(0, reply.find("\r\n")); }
  static std::string body(const std::string& reply) { return reply.substr(reply.find("\r\n\r\n") + 4); }

  HttpLimits limits;
  std::unique_ptr<HttpListener> listener;
};

TEST_F(HttpListenerTest, GivesWholeRequestsAndSendsWhatIsAnswered) {
  start();
  const std::string reply = ask(request("POST /a/b?c=d", "hello"));
  EXPECT_EQ(status(reply), "HTTP/1.1 200 OK");
  EXPECT_EQ(body(reply), "POST /a/b c=d hello");
}

TEST_F(HttpListenerTest, OneConnectionServesRequestsInTheirOrder) {
  start();
  const HttpClient client(listener->port());
  client.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string both = client.receive("GET /2");
  EXPECT_LT(both.find("GET /1"), both.find("GET /2"));
}

TEST_F(HttpListenerTest, WhatIsNotHttpIsAnsweredAndClosed) {
  limits.headerBytes = 512;
  limits.bodyBytes = 100;
  start();
  EXPECT_EQ(status(ask("\x16\x03\x01 not http\r\n\r\n")), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(status(ask(request("GET /", "", "X: " + std::string(2000, 'x') + "\r\n"))), "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_EQ(status(ask(request("POST /", std::string(101, 'x')))), "HTTP/1.1 413 Payload Too Large");
  EXPECT_EQ(status(ask("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n" + std::string(200, 'x'))),
            "HTTP/1.1 413 Payload Too Large");
  EXPECT_EQ(status(ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n")), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(status(ask(request("GET /"))), "HTTP/1.1 200 OK") << "the next one is served";
}

TEST_F(HttpListenerTest, TheGateComesBeforeTheBody) {
  start();
  EXPECT_EQ(status(ask("POST /closed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")), "HTTP/1.1 403 Forbidden");
}

TEST_F(HttpListenerTest, WhoDoesNotGoOnIsLetGo) {
  limits.headerMs = 50;
  limits.silenceMs = 50;
  start();
  EXPECT_EQ(ask("GET / HT"), "");
  EXPECT_EQ(ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc"), "");
}

TEST_F(HttpListenerTest, StreamsPieces) {
  start([](HttpRequest, std::shared_ptr<HttpAnswer> answer) {
    std::thread([answer] {
      answer->begin({200, "text/event-stream", "", {{"X-Own", "yes"}}});
      answer->write("one ");
      answer->write("two");
      answer->end();
    }).detach();
  });
  const std::string reply = ask(request("GET /"));
  EXPECT_NE(reply.find("X-Own: yes"), std::string::npos);
  EXPECT_NE(reply.find("4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"), std::string::npos) << reply;
}

TEST_F(HttpListenerTest, TellsThatTheOtherSideIsGone) {
  std::mutex mutex;
  std::condition_variable changed;
  int gone = 0;
  std::vector<std::shared_ptr<HttpAnswer>> held;
  start([&](HttpRequest asked, std::shared_ptr<HttpAnswer> answer) {
    if (asked.path == "/stream") answer->begin({200, "text/plain", "x", {}});
    answer->whenGone([&] {
      const std::lock_guard lock(mutex);
      ++gone;
      changed.notify_all();
    });
    const std::lock_guard lock(mutex);
    held.push_back(std::move(answer));
    changed.notify_all();
  });
  const auto wait = [&](auto condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), condition);
  };
  for (const std::size_t asked : {1U, 2U}) {
    {
      const HttpClient client(listener->port());
      client.send(request(asked == 1 ? "GET /whole" : "GET /stream"));
      ASSERT_TRUE(wait([&] { return held.size() == asked; }));
    }
    EXPECT_TRUE(wait([&] { return gone == static_cast<int>(asked); }));
  }
  listener.reset();
}

TEST_F(HttpListenerTest, ADroppedAnswerIsAnError) {
  start([](HttpRequest, const std::shared_ptr<HttpAnswer>&) {});
  EXPECT_EQ(status(ask(request("GET /"))), "HTTP/1.1 500 Internal Server Error");
}

TEST_F(HttpListenerTest, MoreConnectionsThanAllowedAreClosed) {
  limits.connections = 2;
  start();
  const HttpClient one(listener->port()), two(listener->port());
  one.send("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  two.send("GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(one.receive("GET /1").find("200 OK"), std::string::npos);
  EXPECT_NE(two.receive("GET /2").find("200 OK"), std::string::npos);
  EXPECT_EQ(ask(request("GET /3")), "");
}

TEST_F(HttpListenerTest, EndsWithAnswersOpen) {
  std::mutex mutex;
  std::vector<std::shared_ptr<HttpAnswer>> held;
  start([&](HttpRequest, std::shared_ptr<HttpAnswer> answer) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(answer));
  });
  const HttpClient client(listener->port());
  client.send(request("GET /"));
  while (true) {
    const std::lock_guard lock(mutex);
    if (!held.empty()) break;
  }
  listener.reset();
  held.front()->send({});  // goes nowhere
  EXPECT_EQ(client.receive(), "");
}

TEST_F(HttpListenerTest, SaysWhyItCannotListen) {
  start();
  const auto handler = [](HttpRequest, const std::shared_ptr<HttpAnswer>&) {};
  const auto gate = [](const HttpRequest&) -> std::optional<HttpReply> { return std::nullopt; };
  try {
    const HttpListener second("127.0.0.1", listener->port(), limits, gate, handler);
    FAIL() << "it listens twice";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().reason, "another program listens there");
  }
  EXPECT_THROW(HttpListener("somewhere", 0, limits, gate, handler), Exception);
}

}  // namespace
}  // namespace winnow::app
