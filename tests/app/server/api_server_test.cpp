// The API over a scripted engine: what clients read, line by line; turns in a line; askers that leave.
#include "app/server/api_server.h"

#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "app/media/media_opener.h"
#include "tests/app/server/http_client.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using nlohmann::json;
using test::HttpClient;
using test::request;
using test::waitUntil;

std::string bodyOf(const std::string& reply) { return reply.substr(reply.find("\r\n\r\n") + 4); }
std::string statusOf(const std::string& reply) { return reply.substr(9, 3); }

std::string chat(const std::string& words, const std::string& fields = "") {
  return R"({"messages":[{"role":"user","content":")" + words + R"("}])" + fields + "}";
}

class ApiServerTest : public testing::Test {
 protected:
  void start(test::ScriptFunction script = {}) {
    host = std::make_unique<EngineHost>([script, log = log] { return std::make_unique<test::ScriptedEngine>(script, log); });
    options.port = 0;
    options.storeFolder = folder.file("store");
    server = std::make_unique<ApiServer>(*host, opener, options);
    ModelInfo model;
    model.name = "tiny";
    model.context_tokens = 4096;
    server->setModel(model);
  }
  // The client sends and waits on another thread, while this one runs the loop.
  std::future<std::string> send(const std::string& bytes) {
    return std::async(std::launch::async, [port = server->port(), bytes] {
      const HttpClient client(port);
      client.send(bytes);
      return client.receive();
    });
  }
  std::string ask(const std::string& bytes) {
    std::future<std::string> reply = send(bytes);
    EXPECT_TRUE(waitUntil([&] { return reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return reply.get();
  }
  std::string complete(const std::string& body) { return ask(request("POST /v1/chat/completions", body)); }
  // The pieces of a stream: what stands behind "data: ".
  static std::vector<std::string> dataOf(const std::string& reply) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; (at = reply.find("data: ", at)) != std::string::npos;) {
      const std::size_t end = reply.find("\n\n", at);
      lines.push_back(reply.substr(at + 6, end - at - 6));
      at = end;
    }
    return lines;
  }

  test::ScratchFolder folder;
  std::shared_ptr<test::ScriptedEngineLog> log = std::make_shared<test::ScriptedEngineLog>();  // shared: outlives the engine
  ApiOptions options;
  FfmpegMediaOpener opener;
  std::unique_ptr<EngineHost> host;
  std::unique_ptr<ApiServer> server;
};

TEST_F(ApiServerTest, AnswersAtOnce) {
  start();
  const std::string reply = complete(chat("hello", R"(,"model":"tiny")"));
  EXPECT_EQ(statusOf(reply), "200");
  const json answer = json::parse(bodyOf(reply));
  EXPECT_EQ(answer["object"], "chat.completion");
  EXPECT_EQ(answer["model"], "tiny");
  EXPECT_TRUE(answer["id"].get<std::string>().starts_with("chatcmpl-"));
  EXPECT_EQ(answer["choices"].size(), 1U);
  EXPECT_EQ(answer["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(answer["choices"][0]["message"]["content"], "You asked: hello");
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
  const json& usage = answer["usage"];
  EXPECT_EQ(usage["total_tokens"], usage["prompt_tokens"].get<int>() + usage["completion_tokens"].get<int>());
  EXPECT_TRUE(usage["winnow"].contains("kv_bytes"));
  EXPECT_EQ(server->requests(), 1);
}

TEST_F(ApiServerTest, StreamsAsStrictClientsCheckIt) {
  start();
  const std::string reply = complete(chat("hello", R"(,"stream":true,"stream_options":{"include_usage":true})"));
  EXPECT_NE(reply.find("Content-Type: text/event-stream"), std::string::npos);
  const std::vector<std::string> lines = dataOf(reply);
  ASSERT_GE(lines.size(), 5U) << reply;
  EXPECT_EQ(lines.back(), "[DONE]");
  std::string text;
  const json first = json::parse(lines.front());
  EXPECT_EQ(first["choices"][0]["delta"]["role"], "assistant");
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const json chunk = json::parse(lines[i]);
    EXPECT_EQ(chunk["id"], first["id"]);
    EXPECT_EQ(chunk["created"], first["created"]);
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    const bool isUsage = i + 2 == lines.size();
    EXPECT_EQ(chunk.contains("usage"), isUsage);
    EXPECT_EQ(chunk["choices"].size(), isUsage ? 0U : 1U);
    if (isUsage) continue;
    const bool isLast = i + 3 == lines.size();
    EXPECT_EQ(chunk["choices"][0]["finish_reason"], isLast ? json("stop") : json(nullptr));
    text += chunk["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(text, "You asked: hello");
}

TEST_F(ApiServerTest, UsageIsStreamedOnlyWhereItIsAskedFor) {
  start();
  EXPECT_EQ(complete(chat("hello", R"(,"stream":true)")).find("usage"), std::string::npos);
}

TEST_F(ApiServerTest, TellsModelsHealthAndProperties) {
  start();
  const json models = json::parse(bodyOf(ask(request("GET /v1/models"))));
  EXPECT_EQ(models["object"], "list");
  EXPECT_EQ(models["data"][0]["id"], "tiny");
  EXPECT_EQ(json::parse(bodyOf(ask(request("GET /v1/models/tiny"))))["owned_by"], "winnow");
  EXPECT_EQ(statusOf(ask(request("GET /v1/models/gpt-4"))), "404");
  EXPECT_EQ(json::parse(bodyOf(ask(request("GET /props"))))["default_generation_settings"]["n_ctx"], 4096);
  EXPECT_EQ(statusOf(ask(request("GET /health"))), "200");
  EXPECT_NE(ask(request("GET /metrics")).find("winnow_requests_total{status=\"404\"} 1"), std::string::npos);
  server->setModel(std::nullopt);
  EXPECT_EQ(statusOf(ask(request("GET /health"))), "503");
  EXPECT_EQ(statusOf(complete(chat("hello"))), "503");
}

TEST_F(ApiServerTest, RefusalsAreErrorObjects) {
  start();
  for (const auto& [bytes, status] : {std::pair{request("POST /v1/chat/completions", "{}"), "400"},
                                      {request("POST /v1/chat/completions", "nonsense"), "400"},
                                      {request("POST /v1/chat/completions", chat("x", R"(,"model":"gpt-4")")), "404"},
                                      {request("GET /v1/chat/completions"), "405"},
                                      {request("POST /v1/models", "{}"), "405"},
                                      {request("POST /v1/embeddings", "{}"), "404"}}) {
    const std::string reply = ask(bytes);
    EXPECT_EQ(statusOf(reply), status);
    EXPECT_TRUE(json::parse(bodyOf(reply))["error"]["message"].is_string()) << reply;
  }
  EXPECT_TRUE(log->requests().empty()) << "the engine saw none of them";
}

TEST_F(ApiServerTest, WhatTheEngineRefusesIsTheCallersFaultOrNot) {
  const auto status = [&](ErrorCode code) {
    start([code](const Request&) { return test::failure_script(code, "/store/abc", "because"); });
    const std::string reply = complete(chat("x"));
    EXPECT_EQ(reply.find("/store"), std::string::npos) << "no path of this machine is told";
    return statusOf(reply);
  };
  EXPECT_EQ(status(ErrorCode::kContextFull), "400");
  EXPECT_EQ(status(ErrorCode::kDamagedFile), "400");
  EXPECT_EQ(status(ErrorCode::kOutOfMemory), "503");
  EXPECT_EQ(status(ErrorCode::kDeviceFailed), "500");
}

TEST_F(ApiServerTest, AnErrorInTheMiddleOfAStreamIsSaid) {
  start([](const Request&) {
    return test::Script{{{}, test::Say{TextDelta{"par"}}}, {{}, test::Say{Failed{{ErrorCode::kDeviceFailed, "", "the card fell off"}}}}};
  });
  const std::vector<std::string> lines = dataOf(complete(chat("x", R"(,"stream":true)")));
  EXPECT_NE(lines.back().find("the card fell off"), std::string::npos);
}

TEST_F(ApiServerTest, ThreadsGoOnAndNewOnesDoNot) {
  start();
  complete(chat("one"));
  complete(
      R"({"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"You asked: one"},{"role":"user","content":"two"}]})");
  complete(chat("three"));
  const std::vector<Request> requests = log->requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(conversation_of(requests[0].body), kFirstServedConversation);
  EXPECT_EQ(conversation_of(requests[1].body), kFirstServedConversation);
  EXPECT_EQ(conversation_of(requests[2].body), kFirstServedConversation + 1);
}

TEST_F(ApiServerTest, OnlySoManyMayWait) {
  options.mostWaiting = 2;
  start([](const Request&) { return test::Script{{{}, test::Stall{}}}; });
  std::future<std::string> running = send(request("POST /v1/chat/completions", chat("1")));
  ASSERT_TRUE(waitUntil([&] { return log->requests().size() == 1; }));
  std::future<std::string> waiting = send(request("POST /v1/chat/completions", chat("2")));
  ASSERT_TRUE(waitUntil([&] { return server->requests() == 2; }));
  const std::string refused = complete(chat("3"));
  EXPECT_EQ(statusOf(refused), "429");
  EXPECT_NE(refused.find("Retry-After: "), std::string::npos);
  server.reset();  // lets the two go
  running.wait();
  waiting.wait();
}

TEST_F(ApiServerTest, WhoLeavesIsNotAnswered) {
  start([](const Request& asked) {
    return std::get<Turn>(asked.body).messages.back().items.empty() ? test::Script{} : test::Script{{{}, test::Stall{}}};
  });
  {
    const HttpClient running(server->port());
    running.send(request("POST /v1/chat/completions", chat("1")));
    ASSERT_TRUE(waitUntil([&] { return log->requests().size() == 1; }));
    const HttpClient waiting(server->port());
    waiting.send(request("POST /v1/chat/completions", chat("2")));
    ASSERT_TRUE(waitUntil([&] { return server->requests() == 2; }));
  }
  const RequestId first = log->requests().front().id;
  EXPECT_TRUE(waitUntil([&] { return log->interruptOf(first) == Interrupt::kCancel; }));
  EXPECT_TRUE(waitUntil([&] { return !host->isBusy(); }));
  EXPECT_EQ(log->requests().size(), 1U) << "the second was taken out of the line";
}

// Who shares the engine, as a window's user does, is before all that wait in the line.
TEST_F(ApiServerTest, TheEnginesOwnUserWaitsForNoOneInTheLine) {
  start([](const Request& asked) {
    return conversation_of(asked.body) == 7 ? test::default_script(asked) : test::Script{{{}, test::Stall{}}};
  });
  std::future<std::string> running = send(request("POST /v1/chat/completions", chat("1")));
  ASSERT_TRUE(waitUntil([&] { return log->requests().size() == 1; }));
  std::future<std::string> waiting = send(request("POST /v1/chat/completions", chat("2")));
  ASSERT_TRUE(waitUntil([&] { return server->waiting() == 1; }));
  EXPECT_TRUE(server->isAnswering());
  const Turn own = std::get<Turn>(log->requests().front().body);
  for (int i = 0; i < 2; ++i) {
    Turn turn = own;
    turn.conversation = 7;
    host->post(std::move(turn));
  }
  host->cancel(log->requests().front().id);
  ASSERT_TRUE(waitUntil([&] { return log->requests().size() == 4; }));
  const std::vector<Request> requests = log->requests();
  EXPECT_EQ(conversation_of(requests[1].body), 7U);
  EXPECT_EQ(conversation_of(requests[2].body), 7U);
  EXPECT_GE(conversation_of(requests[3].body), kFirstServedConversation);
  server.reset();
  running.wait();
  waiting.wait();
}

TEST_F(ApiServerTest, AnotherModelEndsWhatWasAskedOfTheOneBefore) {
  start([](const Request&) { return test::Script{{{}, test::Stall{}}}; });
  std::future<std::string> running = send(request("POST /v1/chat/completions", chat("1")));
  ASSERT_TRUE(waitUntil([&] { return log->requests().size() == 1; }));
  std::future<std::string> waiting = send(request("POST /v1/chat/completions", chat("2")));
  ASSERT_TRUE(waitUntil([&] { return server->waiting() == 1; }));
  server->setModel(std::nullopt);
  EXPECT_EQ(server->waiting(), 0);
  for (std::future<std::string>* reply : {&running, &waiting}) {
    ASSERT_TRUE(waitUntil([&] { return reply->wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    const std::string said = reply->get();
    EXPECT_EQ(statusOf(said), "503");
    EXPECT_NE(said.find("model_changed"), std::string::npos) << said;
  }
  EXPECT_FALSE(server->isAnswering());
}

TEST_F(ApiServerTest, PlansWithoutAnswering) {
  start();
  const json plan = json::parse(bodyOf(ask(request("POST /winnow/plan", chat("hello")))));
  EXPECT_GT(plan["kv_bytes_full"], 0);
  EXPECT_TRUE(log->requests().empty());
  EXPECT_EQ(log->plans().size(), 1U);
}

TEST_F(ApiServerTest, APageThatMayAskIsToldSo) {
  options.access.origins = {"http://localhost:3000"};
  start();
  const std::string preflight = ask(request("OPTIONS /v1/chat/completions", "", "Origin: http://localhost:3000\r\n"));
  EXPECT_EQ(statusOf(preflight), "204");
  EXPECT_NE(preflight.find("Access-Control-Allow-Origin: http://localhost:3000"), std::string::npos);
  EXPECT_EQ(statusOf(ask(request("GET /v1/models", "", "Origin: http://evil.example\r\n"))), "403");
}

}  // namespace
}  // namespace winnow::app
