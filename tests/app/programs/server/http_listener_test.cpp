#include "app/programs/server/http_listener.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "engine/base/error.h"
#include "tests/app/programs/server/http_client.h"

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

// Each byte comes in time, and the body would take hours.
TEST_F(HttpListenerTest, ABodyThatDripsIsLetGo) {
  limits.silenceMs = 100;
  limits.leastBytesPerS = 1'000'000;
  start();
  const HttpClient client(listener->port());
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  std::thread drip([&] {
    for (int i = 0; i < 400; ++i) {
      client.send("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  EXPECT_EQ(client.receive(), "");
  drip.join();
}

TEST_F(HttpListenerTest, BodiesCountAsTheyComeAndNotAsTheyAreAnnounced) {
  limits.allBodyBytes = 1000;
  limits.bodyBytes = 2000;
  start();
  const HttpClient one(listener->port()), two(listener->port());
  for (const HttpClient* each : {&one, &two}) each->send("POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1900\r\n\r\nx");
  EXPECT_EQ(status(ask(request("POST /3", std::string(800, 'x')))), "HTTP/1.1 200 OK");
  one.send(std::string(1100, 'x'));
  EXPECT_EQ(status(one.receive()), "HTTP/1.1 503 Service Unavailable");
}

// A browser's or a script's connection is closed without a word otherwise.
TEST_F(HttpListenerTest, WhoIsRefusedInTheMiddleOfABodyReadsWhy) {
  start();
  EXPECT_EQ(status(ask(request("POST /closed", std::string(4'000'000, 'x')))), "HTTP/1.1 403 Forbidden");
}

TEST_F(HttpListenerTest, ForeignCodingsEndTheConnection) {
  start();
  for (const char* coding : {"xchunked", "identity", "gzip, chunked", "chunked, identity"}) {
    const std::string reply = ask("POST /1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " + std::string(coding) +
                                  "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(status(reply), "HTTP/1.1 501 Not Implemented") << coding;
    EXPECT_EQ(reply.find("smuggled"), std::string::npos);
  }
  const std::string chunks =
      "POST /1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  EXPECT_EQ(body(ask(chunks)), "POST /1  abc");
}

// As `nc -N` does.
TEST_F(HttpListenerTest, WhoHasEndedItsOwnHalfIsAnswered) {
  std::promise<std::shared_ptr<HttpAnswer>> asked;
  std::atomic<bool> gone{false};
  start([&](HttpRequest, std::shared_ptr<HttpAnswer> answer) {
    answer->whenGone([&] { gone = true; });
    asked.set_value(std::move(answer));
  });
  const HttpClient client(listener->port());
  client.send(request("GET /"));
  client.finish();
  const std::shared_ptr<HttpAnswer> answer = asked.get_future().get();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // looked at more than once
  EXPECT_FALSE(gone);
  answer->send({200, "text/plain", "late", {}});
  EXPECT_EQ(body(client.receive()), "late");
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

TEST_F(HttpListenerTest, WhoIsAnsweredKeepsItsPlaceAndWhoWaitsLongestWithoutAHeaderMakesRoom) {
  limits.connections = 2;
  std::promise<std::shared_ptr<HttpAnswer>> held;
  start([&](HttpRequest asked, std::shared_ptr<HttpAnswer> answer) {
    if (asked.path == "/long") return held.set_value(std::move(answer));
    answer->send({200, "text/plain", asked.path, {}});
  });
  const HttpClient busy(listener->port());
  busy.send(request("GET /long"));
  const std::shared_ptr<HttpAnswer> answer = held.get_future().get();
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(std::make_unique<HttpClient>(listener->port()));
    idle.back()->send(i % 2 == 0 ? "" : "GET / HT");
    EXPECT_EQ(body(ask(request("GET /honest"))), "/honest");
  }
  EXPECT_EQ(idle.front()->receive(), "");
  answer->send({200, "text/plain", "after all", {}});
  EXPECT_EQ(body(busy.receive()), "after all");
}

TEST_F(HttpListenerTest, WhereEverybodyIsAnsweredANewOneIsClosed) {
  limits.connections = 1;
  std::promise<std::shared_ptr<HttpAnswer>> held;
  start([&](HttpRequest, std::shared_ptr<HttpAnswer> answer) { held.set_value(std::move(answer)); });
  const HttpClient busy(listener->port());
  busy.send(request("GET /"));
  const std::shared_ptr<HttpAnswer> answer = held.get_future().get();
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
