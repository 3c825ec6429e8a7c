// The API over a scripted engine: what clients read, line by line; turns in a line; askers that leave.
#include "app/programs/server/api_server.h"

#include <gtest/gtest.h>

#include <QDate>
#include <algorithm>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tests/app/programs/server/api_server_fixture.h"
#include "tests/support/gathering_engine.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using nlohmann::json;
using test::HttpClient;
using test::request;
using test::waitUntil;

std::string chat(const std::string& words, const std::string& fields = "") {
  return R"({"messages":[{"role":"user","content":")" + words + R"("}])" + fields + "}";
}

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

TEST_F(ApiServerTest, TellsTheSeedOfAnAnswerThatIsSampled) {
  start();
  const json sampled = json::parse(bodyOf(complete(chat("hello", R"(,"temperature":1)"))));
  const json again = json::parse(bodyOf(complete(chat("hello", R"(,"temperature":1,"seed":-7)"))));
  const json chunk = json::parse(dataOf(complete(chat("hello", R"(,"temperature":1,"seed":9,"stream":true)"))).front());
  EXPECT_EQ(again["seed"], -7);
  EXPECT_EQ(chunk["seed"], 9);
  const std::vector<Request> requests = log->requests();
  EXPECT_EQ(std::get<Turn>(requests[0].body).sampling.seed, sampled["seed"].get<std::uint64_t>());
  EXPECT_EQ(std::get<Turn>(requests[1].body).sampling.seed, static_cast<std::uint64_t>(-7));
  EXPECT_FALSE(json::parse(bodyOf(complete(chat("hello")))).contains("seed")) << "the likeliest tokens need none";
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

TEST_F(ApiServerTest, DescribesTheEndpointsThatItHas) {
  options.version = "1.2.3";
  start();
  const json description = json::parse(bodyOf(ask(request("GET /openapi.json"))));
  EXPECT_EQ(description["info"]["version"], "1.2.3");
  EXPECT_GE(description["paths"].size(), 11U);
  for (const auto& [path, methods] : description["paths"].items()) {
    std::string named = path;
    if (const std::size_t at = named.find("{name}"); at != std::string::npos) named.replace(at, 6, "tiny");
    const bool posts = methods.contains("post");
    const std::string status = statusOf(ask(posts ? request("POST " + named, "{}") : request("GET " + named)));
    EXPECT_EQ(status, posts ? "400" : "200") << path;
    EXPECT_TRUE(methods[posts ? "post" : "get"]["responses"].contains(status)) << path;
    EXPECT_EQ(statusOf(ask(request((posts ? "GET " : "DELETE ") + named))), "405") << path;
  }
}

TEST_F(ApiServerTest, AnAddressWithoutTheVersionIsAnsweredAlike) {
  start();
  EXPECT_EQ(json::parse(bodyOf(ask(request("POST /chat/completions", chat("hello")))))["choices"][0]["message"]["content"],
            "You asked: hello");
  EXPECT_EQ(json::parse(bodyOf(ask(request("POST /completions", R"({"prompt":"x"})"))))["object"], "text_completion");
  EXPECT_EQ(json::parse(bodyOf(ask(request("GET /models"))))["data"][0]["id"], "tiny");
  EXPECT_EQ(json::parse(bodyOf(ask(request("GET /models/tiny"))))["id"], "tiny");
}

TEST_F(ApiServerTest, EndpointsOfOtherApisAreNamedWithWhatToAskInstead) {
  start();
  for (const char* line : {"POST /v1/responses", "POST /responses", "GET /v1/responses/resp_1", "POST /v1/messages", "POST /api/chat"}) {
    const std::string reply = ask(request(line, "{}"));
    EXPECT_EQ(statusOf(reply), "404") << line;
    EXPECT_NE(reply.find("use /v1/chat/completions"), std::string::npos) << reply;
  }
  EXPECT_NE(ask(request("POST /v1/responses", "{}")).find("(/v1/responses)"), std::string::npos);
}

TEST_F(ApiServerTest, AnAnswerThatIsBegunGoesOn) {
  start();
  const std::string reply = complete(R"({"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"You asked"}]})");
  EXPECT_EQ(statusOf(reply), "200");
  const std::vector<Request> requests = log->requests();
  EXPECT_EQ(std::get<Turn>(requests.at(0).body).answer_begun, "You asked");
  EXPECT_EQ(statusOf(ask(request("POST /tokenize", R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})"))),
            "400");
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

// With nothing attached they were told as an attached file's.
TEST_F(ApiServerTest, LimitsOfWordsAreToldInTheirOwnWords) {
  const auto words = [&](const char* subject, const char* reason) {
    start([=](const Request&) { return test::failure_script(ErrorCode::kLimitExceeded, subject, reason); });
    return json::parse(bodyOf(complete(chat("x"))))["error"]["message"].get<std::string>();
  };
  EXPECT_EQ(words("chat template", "takes too many steps"), "the chat template takes too many steps");
  EXPECT_EQ(words("", "the text is longer than 16 MiB"), "the text is longer than 16 MiB");
  EXPECT_EQ(words("wire", "a message is larger than 512 MiB"), "wire: a message is larger than 512 MiB");
  EXPECT_EQ(words("/store/abc", "is too long"), "an attached file cannot be used: is too long");
}

// Text that is cut within a character stays JSON that every reader takes.
TEST_F(ApiServerTest, HalvesOfCharactersAreReplacedInEveryForm) {
  start([](const Request&) {
    Finished finished{.answer = "\xF0\x9F\x98"};
    return test::Script{{{}, test::Say{TokenSampled{{1, "\xED\xA0\xBD", -0.5}, {}}}},  // a lone surrogate, as UTF-8 must not write it
                        {{}, test::Say{TextDelta{"\xF0\x9F"}}},
                        {{}, test::Say{finished}}};
  });
  const json whole = json::parse(bodyOf(complete(chat("x", R"(,"logprobs":true)"))));
  EXPECT_EQ(whole["choices"][0]["message"]["content"], "\xEF\xBF\xBD");
  for (const std::string& line : dataOf(complete(chat("x", R"(,"stream":true,"logprobs":true)")))) {
    EXPECT_TRUE(line == "[DONE]" || json::accept(line)) << line;
  }
}

TEST_F(ApiServerTest, AnErrorInTheMiddleOfAStreamIsSaid) {
  start([](const Request&) {
    return test::Script{{{}, test::Say{TextDelta{"par"}}}, {{}, test::Say{Failed{{ErrorCode::kDeviceFailed, "", "the card fell off"}}}}};
  });
  const std::vector<std::string> lines = dataOf(complete(chat("x", R"(,"stream":true)")));
  EXPECT_NE(lines.back().find("the card fell off"), std::string::npos);
}

TEST_F(ApiServerTest, ThoughtsAreApartAndCounted) {
  start([](const Request&) {
    Finished finished;
    finished.thought = "They greet me.";
    finished.answer = "Good day";
    finished.figures.tokens.thought = 4;
    finished.figures.tokens.generated = 6;
    return test::Script{{{}, test::Say{TextDelta{"They greet me.", TextKind::kThought}}},
                        {{}, test::Say{TextDelta{"Good day"}}},
                        {{}, test::Say{finished}}};
  });
  const json whole = json::parse(bodyOf(complete(chat("x"))));
  EXPECT_EQ(whole["choices"][0]["message"]["content"], "Good day");
  EXPECT_EQ(whole["choices"][0]["message"]["reasoning_content"], "They greet me.");
  EXPECT_EQ(whole["usage"]["completion_tokens_details"]["reasoning_tokens"], 4);

  std::string thought;
  std::string text;
  for (const std::string& line : dataOf(complete(chat("x", R"(,"stream":true)")))) {
    if (line == "[DONE]") continue;
    const json delta = json::parse(line)["choices"][0]["delta"];
    EXPECT_TRUE(text.empty() || !delta.contains("reasoning_content")) << "thoughts come first";
    thought += delta.value("reasoning_content", "");
    text += delta.value("content", "");
  }
  EXPECT_EQ(thought, "They greet me.");
  EXPECT_EQ(text, "Good day");
}

// "red" and " and" are told at once; " <e" may be the beginning of a stop string, which "nd>" completes.
test::Script wordsWithProbabilities(StopReason reason) {
  const auto token = [](std::int64_t id, const char* bytes) {
    const TokenProbability sampled{id, bytes, -0.5};
    return test::Step{{}, test::Say{TokenSampled{sampled, {sampled, {9, "\xC3", -std::numeric_limits<double>::infinity()}}}}};
  };
  Finished finished{.reason = reason, .answer = reason == StopReason::kStopString ? "r\u00e9d and" : "r\u00e9d and <end"};
  test::Script script = {token(1, "r\u00e9d"), {{}, test::Say{TextDelta{"r\u00e9d"}}},
                         token(2, " and"),     {{}, test::Say{TextDelta{" and"}}},
                         token(3, " <e"),      token(4, "nd")};
  if (reason != StopReason::kStopString) script.push_back({{}, test::Say{TextDelta{" <end"}}});
  script.push_back({{}, test::Say{finished}});
  return script;
}

TEST_F(ApiServerTest, ProbabilitiesComeWithTheirWords) {
  start([](const Request&) { return wordsWithProbabilities(StopReason::kLength); });
  const json whole = json::parse(bodyOf(complete(chat("x", R"(,"logprobs":true,"top_logprobs":2)"))));
  const json& content = whole["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(content.size(), 4U);
  EXPECT_EQ(content[0]["token"], "r\u00e9d");
  EXPECT_EQ(content[0]["bytes"], (json{0x72, 0xC3, 0xA9, 0x64}));
  EXPECT_EQ(content[0]["logprob"], -0.5);
  EXPECT_EQ(content[0]["top_logprobs"].size(), 2U);
  EXPECT_EQ(content[0]["top_logprobs"][1]["token"], "bytes:\\xc3");
  EXPECT_EQ(content[0]["top_logprobs"][1]["logprob"], -9999.0) << "JSON has no infinity";
  EXPECT_EQ(std::get<Turn>(log->requests()[0].body).sampling.told_probabilities, 2);

  std::string words;
  for (const std::string& line : dataOf(complete(chat("x", R"(,"stream":true,"logprobs":true)")))) {
    if (line == "[DONE]") continue;
    const json choice = json::parse(line)["choices"][0];
    std::string tokens;
    for (const json& token : choice["logprobs"].is_null() ? json::array() : choice["logprobs"]["content"]) tokens += token["token"];
    EXPECT_EQ(tokens, choice["delta"].value("content", "")) << "each chunk has those of its text";
    words += tokens;
  }
  EXPECT_EQ(words, "r\u00e9d and <end");
}

TEST_F(ApiServerTest, WhatAStopStringTookHasNoProbabilities) {
  start([](const Request&) { return wordsWithProbabilities(StopReason::kStopString); });
  const json whole = json::parse(bodyOf(complete(chat("x", R"(,"logprobs":true)"))));
  EXPECT_EQ(whole["choices"][0]["logprobs"]["content"].size(), 2U);
}

TEST_F(ApiServerTest, CompletesAText) {
  start([](const Request&) { return wordsWithProbabilities(StopReason::kLength); });
  const auto text = [&](const std::string& fields) { return ask(request("POST /v1/completions", R"({"prompt":"A b)" + fields + "}")); };
  const json whole = json::parse(bodyOf(text(R"(","echo":true)")));
  EXPECT_EQ(whole["object"], "text_completion");
  EXPECT_TRUE(whole["id"].get<std::string>().starts_with("cmpl-"));
  EXPECT_EQ(whole["choices"][0]["text"], "A br\u00e9d and <end");
  EXPECT_EQ(whole["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(whole["choices"][0]["logprobs"].is_null() || whole["choices"][0]["logprobs"].is_object());
  EXPECT_FALSE(whole["choices"][0].contains("message"));

  const json told = json::parse(bodyOf(text(R"(","logprobs":1)")))["choices"][0]["logprobs"];
  EXPECT_EQ(told["tokens"], (json{"r\u00e9d", " and", " <e", "nd"}));
  EXPECT_EQ(told["text_offset"], (json{0, 3, 7, 10})) << "in characters";
  EXPECT_EQ(told["token_logprobs"][0], -0.5);
  EXPECT_EQ(told["top_logprobs"][0].size(), 2U);

  std::string streamed;
  const std::vector<std::string> lines = dataOf(text(R"(","stream":true,"echo":true)"));
  EXPECT_EQ(lines.back(), "[DONE]");
  for (const std::string& line : lines) {
    if (line != "[DONE]") streamed += json::parse(line)["choices"][0]["text"];
  }
  EXPECT_EQ(streamed, "A br\u00e9d and <end");
}

TEST_F(ApiServerTest, PlainTextGoesOnFromNothingAndIsForgotten) {
  start();
  ask(request("POST /v1/completions", R"({"prompt":"one"})"));
  EXPECT_TRUE(waitUntil([&] { return log->requests().size() == 2; }));
  const std::vector<Request> requests = log->requests();
  EXPECT_EQ(std::get<Turn>(requests[0].body).prompt.form, PromptForm::kPlainText);
  EXPECT_EQ(std::get<ForgetConversation>(requests[1].body).conversation, conversation_of(requests[0].body));
}

TEST_F(ApiServerTest, TellsTokensInTheFormsOfOtherServers) {
  start([](const Request&) { return test::Script{{{}, test::Say{Tokenized{{5, 6}, {"a", "\xC3"}, "a\xC3"}}}}; });
  const auto asked = [&](const std::string& path, const std::string& body) {
    return json::parse(bodyOf(ask(request("POST " + path, body))));
  };
  EXPECT_EQ(asked("/tokenize", R"({"content":"x"})"), (json{{"tokens", {5, 6}}}));
  const json pieces = asked("/tokenize", R"({"content":"x","add_special":true,"with_pieces":true})")["tokens"];
  EXPECT_EQ(pieces[0], (json{{"id", 5}, {"piece", "a"}}));
  EXPECT_EQ(pieces[1]["piece"], (json{0xC3}));
  const json vllm = asked("/tokenize", R"({"prompt":"x","return_token_strs":true})");
  EXPECT_EQ(vllm["count"], 2);
  EXPECT_EQ(vllm["max_model_len"], 4096);
  EXPECT_EQ(vllm["token_strs"].size(), 2U);
  EXPECT_EQ(asked("/tokenize", R"({"messages":[{"role":"user","content":"x"}]})")["tokens"], (json{5, 6}));
  EXPECT_EQ(asked("/detokenize", R"({"tokens":[5,6]})")["content"].get<std::string>().substr(0, 1), "a");
  const std::vector<Request> requests = log->requests();
  ASSERT_EQ(requests.size(), 5U);
  const auto form = [&](std::size_t i) { return std::get<Tokenize>(requests[i].body).prompt.form; };
  EXPECT_EQ(form(0), PromptForm::kBareText);
  EXPECT_EQ(form(1), PromptForm::kPlainText);
  EXPECT_EQ(form(2), PromptForm::kPlainText);
  EXPECT_EQ(form(3), PromptForm::kChatTemplate);
  const std::string today = QDate::currentDate().toString(Qt::ISODate).toStdString();
  EXPECT_EQ(std::get<Tokenize>(requests[3].body).prompt.day, today) << "templates that write a date write the one of an answer";
  EXPECT_EQ(std::get<Detokenize>(requests[4].body).tokens, (std::vector<std::int64_t>{5, 6}));
  for (const char* body : {"{}", R"({"content":1})", R"({"content":"a","parse_special":false})", R"({"tokens":[1.5]})"}) {
    EXPECT_EQ(statusOf(ask(request("POST /tokenize", body))), "400") << body;
    EXPECT_EQ(statusOf(ask(request("POST /detokenize", body))), "400") << body;
  }
  EXPECT_EQ(server->requests(), 0) << "nothing was answered";
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

TEST_F(ApiServerTest, FourClientsAreAnsweredTogether) {
  options.atOnce = 4;
  use([] { return std::make_unique<test::GatheringEngine>(4); });
  std::vector<std::future<std::string>> replies;
  for (const char* const words : {"one", "two", "three"}) replies.push_back(send(request("POST /v1/chat/completions", chat(words))));
  replies.push_back(send(request("POST /v1/completions", R"({"prompt":"four"})")));
  std::vector<std::string> said;
  for (std::future<std::string>& reply : replies) {
    ASSERT_TRUE(waitUntil([&] { return reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    const json choice = json::parse(bodyOf(reply.get()))["choices"][0];
    said.push_back(choice.contains("text") ? choice["text"] : choice["message"]["content"]);
  }
  EXPECT_EQ(said, (std::vector<std::string>{"You asked: one", "You asked: two", "You asked: three", "You asked: four"}));
  EXPECT_EQ(server->answered(), 4);
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

// A picture of the network was waited for by the thread that reads all requests.
class ApiServerFetchesTest : public ApiServerTest {
 protected:
  void SetUp() override {
    RemoteMediaLimits& limits = options.remoteMedia.emplace();
    limits.resolve = [](const std::string&) { return std::vector<std::string>{"127.0.0.1"}; };
    limits.allowed = [](const std::string&) { return true; };
    limits.silenceMs = limits.wholeMs = 3'600'000;
  }
  std::string aboutPicture() const {
    const std::string url = "http://pictures.example:" + std::to_string(slow.port()) + "/dot.png";
    return R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":")" + url + R"("}}]}]})";
  }
  int fetching() {
    const std::lock_guard lock(mutex);
    return static_cast<int>(std::ssize(unanswered));
  }

  std::mutex mutex;  // guards unanswered
  std::vector<std::shared_ptr<HttpAnswer>> unanswered;
  HttpListener slow{"127.0.0.1", 0, HttpLimits(), [](const HttpRequest&) { return std::optional<HttpReply>(); },
                    [this](const HttpRequest&, std::shared_ptr<HttpAnswer> answer) {
                      const std::lock_guard lock(mutex);
                      unanswered.push_back(std::move(answer));
                    }};
};

TEST_F(ApiServerFetchesTest, NoOtherRequestWaitsForMediaOfTheNetwork) {
  start();
  std::future<std::string> first = send(request("POST /v1/chat/completions", aboutPicture()));
  ASSERT_TRUE(waitUntil([&] { return fetching() == 1; }));
  std::future<std::string> second = send(request("POST /v1/chat/completions", aboutPicture()));
  ASSERT_TRUE(waitUntil([&] { return fetching() == 2; })) << "nor one that has to wait as well";
  EXPECT_EQ(statusOf(complete(chat("hello"))), "200");
  EXPECT_EQ(log->requests().size(), 1U);
  const std::string dot =
      QByteArray::fromBase64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg==").toStdString();
  {
    const std::lock_guard lock(mutex);
    unanswered[0]->send({200, "image/png", dot, {}});
    unanswered[1]->send({404, "text/plain", "a page", {}});
  }
  const auto isThere = [](const std::future<std::string>& reply) {
    return reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  EXPECT_TRUE(waitUntil([&] { return isThere(first) && isThere(second); }));
  std::vector<std::string> statuses{statusOf(first.get()), statusOf(second.get())};
  std::ranges::sort(statuses);
  EXPECT_EQ(statuses, (std::vector<std::string>{"200", "400"}));
}

TEST_F(ApiServerFetchesTest, WhoLeavesIsNotFetchedFor) {
  options.mostWaiting = 1;
  start();
  {
    const HttpClient leaves(server->port());
    leaves.send(request("POST /v1/chat/completions", aboutPicture()));
    ASSERT_TRUE(waitUntil([&] { return fetching() == 1; }));
    EXPECT_EQ(statusOf(complete(chat("hello"))), "429") << "it has the only place";
  }
  EXPECT_TRUE(waitUntil([&] { return statusOf(complete(chat("hello"))) == "200"; }));
}

TEST_F(ApiServerFetchesTest, EndsWhileMediaAreFetched) {
  start();
  const HttpClient client(server->port());
  client.send(request("POST /v1/chat/completions", aboutPicture()));
  ASSERT_TRUE(waitUntil([&] { return fetching() == 1; }));
  server.reset();  // would wait for an hour
  EXPECT_TRUE(log->requests().empty());
}

}  // namespace
}  // namespace winnow::app
