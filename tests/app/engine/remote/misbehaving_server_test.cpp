// Everything that a server can do wrong ends in an error that says so; what was written before it is kept.
#include <gtest/gtest.h>
#include <zlib.h>

#include <QFile>
#include <QSslCertificate>
#include <QSslKey>

#include "app/engine/remote/remote_engine.h"
#include "tests/support/event_recorder.h"
#include "tests/support/fake_model_server.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::app {
namespace {

using test::chunkOf;
using test::FakeAnswer;
using test::FakeModelServer;
using winnow::testing::EventRecorder;

constexpr ServerPatience kShort{1000, 1000, 400};        // of who waits for it to end
constexpr ServerPatience kLong{60'000, 60'000, 60'000};  // where something else ends it first, on a busy machine too

Turn question() { return {.messages = {{Role::kUser, {TextItem{"Why?"}}}}}; }

RemoteEngine engineAt(const std::string& url, const ServerPatience& patience = kLong) {
  ServerTraits traits{.model = "small"};
  return RemoteEngine(std::make_unique<ServerConnection>(ServerAddress{url, "small"}, "", patience), traits, nullptr);
}

EventRecorder asked(const std::string& url, const ServerPatience& patience = kLong) {
  EventRecorder events;
  engineAt(url, patience).handle({1, question()}, events, {});
  return events;
}

struct Fault {
  const char* name;
  FakeAnswer answer;
  ErrorCode code;
  const char* reason;        // a part of it
  const char* written = "";  // that came before
};

FakeAnswer refusal(int status, const QByteArray& body, const QByteArray& headers = {}) {
  return {.status = status, .type = "application/json", .headers = headers, .pieces = {body}};
}
FakeAnswer stream(std::vector<QByteArray> pieces, FakeAnswer::End end = FakeAnswer::End::kClose) {
  return {.pieces = std::move(pieces), .end = end};
}
FakeAnswer raw(const QByteArray& bytes, FakeAnswer::End end = FakeAnswer::End::kClose) { return {.end = end, .raw = bytes}; }

const QByteArray kHalf = chunkOf(R"({"content":"half"})");

std::vector<Fault> faults() {
  using enum ErrorCode;
  using End = FakeAnswer::End;
  const QByteArray deep = "data: " + QByteArray(100, '[') + QByteArray(100, ']') + "\n\n";
  return {
      {"no key", refusal(401, R"({"error":{"message":"Incorrect API key."}})", "WWW-Authenticate: Bearer\r\n"), kServerKeyRefused,
       "Incorrect API key"},
      {"forbidden", refusal(403, R"({"detail":"not for you"})"), kServerForbids, "not for you"},
      {"no such model", refusal(404, R"({"error":{"message":"The model `small` does not exist."}})"), kServerModelMissing,
       "does not exist"},
      {"no such page", {.status = 404, .type = "text/html", .pieces = {"<h1>404</h1>"}}, kServerNotOne, "status 404"},
      {"wrong method", refusal(405, R"({"detail":"Method Not Allowed"})"), kServerNotOne, "Method Not Allowed"},
      {"too slow for it", refusal(408, ""), kServerBusy, "status 408"},
      {"too large", {.status = 413, .type = "text/html", .pieces = {"<html>413</html>"}}, kServerTooLarge, "status 413"},
      {"busy, with a time", refusal(429, R"({"error":{"message":"Rate limit"}})", "Retry-After: 20\r\n"), kServerBusy, "wait for 20 s"},
      {"busy, with a bad time", refusal(429, "{}", "Retry-After: soon\r\n"), kServerBusy, "status 429"},
      {"loading", refusal(503, R"({"error":{"code":503,"message":"Loading model"}})"), kServerBusy, "Loading model"},
      {"a fault of its own", refusal(500, R"({"error":"CUDA error"})"), kServerFailed, "CUDA error"},
      {"a gateway", {.status = 502, .type = "text/html", .pieces = {"<html>bad gateway</html>"}}, kServerFailed, "status 502"},
      {"context, OpenAI", refusal(400, R"({"error":{"message":"too long","code":"context_length_exceeded"}})"), kContextFull, "too long"},
      {"context, vLLM", refusal(400, R"({"message":"This model's maximum context length is 4096 tokens."})"), kContextFull, "4096"},
      {"context, llama-server", refusal(400, R"({"error":{"message":"too many tokens","type":"exceed_context_size_error"}})"), kContextFull,
       "too many"},
      {"text only", refusal(500, R"({"error":{"message":"image input is not supported - hint: provide the mmproj"}})"), kModelReadsText,
       "mmproj"},
      {"too many pictures", refusal(400, R"({"message":"At most 2 image(s) may be provided in one prompt."})"), kTooManyPictures,
       "At most 2"},
      {"an argument", refusal(400, R"({"error":{"message":"Unrecognized request argument: top_k"}})"), kServerRefuses, "top_k"},
      {"a list of faults", refusal(422, R"({"detail":[{"loc":["body"],"msg":"field required"},{"msg":"too long"}]})"), kServerRefuses,
       "field required; too long"},
      {"a list of words", refusal(400, R"({"error":{"message":["one","two"]}})"), kServerRefuses, "one; two"},
      {"a compression that nobody knows", refusal(200, "...", "Content-Encoding: zstd\r\n"), kServerNotUnderstood, "compressed (zstd)"},
      {"a compression that is none", refusal(200, "no gzip at all", "Content-Encoding: gzip\r\n"), kServerNotUnderstood, "cannot be read"},
      {"a redirect", refusal(307, "", "Location: https://elsewhere/v1\r\n"), kServerNotOne, "https://elsewhere/v1"},
      {"a web page", {.type = "text/html; charset=utf-8", .pieces = {"<html>Log in</html>"}}, kServerNotOne, "web page"},
      {"an answer of another form", refusal(200, R"({"text":"hello"})"), kServerNotUnderstood, "another form"},
      {"no JSON", refusal(200, "hello"), kServerNotUnderstood, "no JSON"},
      {"an empty answer", refusal(200, ""), kServerBrokeOff, "without saying so"},
      {"an empty stream", stream({}), kServerBrokeOff, "without saying so"},
      {"a damaged piece", stream({kHalf, "data: {\"choices\":[\n\n"}), kServerNotUnderstood, "no JSON", "half"},
      {"bytes that are no text", stream({kHalf, "data: {\"a\":\"\xFF\xC3\"}\n\n"}), kServerNotUnderstood, "no JSON", "half"},
      {"a zero byte", stream({kHalf, QByteArray("data: {\"a\":\0}\n\n", 14)}), kServerNotUnderstood, "no JSON", "half"},
      {"a deep piece", stream({kHalf, deep}), kServerNotUnderstood, "deeper", "half"},
      {"an endless line", stream({kHalf, QByteArray(60'000, 'x')}, End::kRepeat), kServerNotUnderstood, "has no end", "half"},
      {"an endless refusal", {.status = 500, .pieces = {QByteArray(60'000, 'x')}, .end = End::kRepeat}, kServerNotUnderstood, "no end"},
      {"an endless head", raw("X-More: and more\r\n", End::kRepeat), kServerUnreachable, ""},
      {"another protocol", raw("SSH-2.0-OpenSSH_9.2\r\n\r\n"), kServerUnreachable, ""},
      {"nothing", raw(""), kServerUnreachable, ""},
      {"silence", raw("", End::kHang), kServerUnreachable, "nothing came"},
      {"silence in the middle", stream({kHalf}, End::kHang), kServerUnreachable, "nothing came", "half"},
      {"an end in the middle", stream({kHalf}), kServerBrokeOff, "without saying so", "half"},
      {"fewer bytes than promised", stream({kHalf}, End::kShort), kServerBrokeOff, "", "half"},
      {"half a chunk", stream({kHalf}, End::kChunked), kServerBrokeOff, "", "half"},
      {"a fault in the middle", stream({kHalf, "data: {\"error\":{\"message\":\"out of KV cache\",\"code\":500}}\n\n"}), kServerFailed,
       "KV cache", "half"},
      {"a fault without words", stream({kHalf, "data: {\"error\":{}}\n\n"}), kServerFailed, "without a word", "half"},
  };
}

TEST(MisbehavingServer, EveryFaultIsNamedAndWhatWasWrittenIsKept) {
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.name);
    FakeModelServer server;
    server.answer("/v1/chat/completions", fault.answer);
    const EventRecorder events = asked(server.url(), fault.code == ErrorCode::kServerUnreachable ? kShort : kLong);
    ASSERT_FALSE(events.events.empty());
    const auto* failed = std::get_if<Failed>(&events.events.back().body);
    ASSERT_NE(failed, nullptr) << "it did not fail";
    EXPECT_EQ(static_cast<int>(failed->error.code), static_cast<int>(fault.code)) << failed->error.reason;
    EXPECT_NE(failed->error.reason.find(fault.reason), std::string::npos) << failed->error.reason;
    EXPECT_FALSE(failed->error.subject.empty());
    EXPECT_EQ(events.streamed(), fault.written);
  }
  EXPECT_GE(faults().size(), 30U);
}

TEST(MisbehavingServer, NobodyThereIsUnreachable) {
  std::string url;
  {
    const FakeModelServer gone;
    url = gone.url();
  }
  for (const std::string& each : {url, std::string("http://no-such-host.invalid/v1")}) {
    const auto failed = asked(each).last<Failed>();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->error.code, ErrorCode::kServerUnreachable) << failed->error.reason;
  }
}

TEST(MisbehavingServer, ACertificateThatNobodyVouchesForIsNotTrusted) {
  const test::ScratchFolder scratch;
  const std::string made =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=loopback -addext subjectAltName=IP:127.0.0.1 -keyout " +
      test::shell_quoted(scratch.file("key.pem")) + " -out " + test::shell_quoted(scratch.file("own.pem")) + " 2>/dev/null";
  ASSERT_EQ(test::shell(made), 0);
  QFile key(QString::fromStdString(scratch.file("key.pem")));
  ASSERT_TRUE(key.open(QIODevice::ReadOnly));
  FakeModelServer server;
  server.serve("vllm", {"hello"});
  server.encrypt(QSslCertificate::fromPath(QString::fromStdString(scratch.file("own.pem"))).value(0), QSslKey(key.readAll(), QSsl::Rsa));
  const auto failed = asked(server.url()).last<Failed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->error.code, ErrorCode::kServerUntrusted) << failed->error.reason;
  EXPECT_TRUE(server.asked.empty()) << "nothing may be sent to it";
}

TEST(MisbehavingServer, OtherFormsOfTheSameAnswerAreRead) {
  const QByteArray whole =
      R"({"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":1}})";
  const QByteArray done = "data:[DONE]\r\n\r\n";
  const FakeAnswer forms[] = {
      refusal(200, whole),
      {.type = "text/plain", .pieces = {chunkOf(R"({"content":"hello"})"), "data: [DONE]\n\n"}},
      stream({chunkOf(R"({"content":"hello"})", R"("length")")}),
      stream({": ping\n\n", "event: message\r\n", "data:{\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\r\n\r\n", done})};
  for (const FakeAnswer& form : forms) {
    FakeModelServer server;
    server.answer("/v1/chat/completions", form);
    const EventRecorder events = asked(server.url());
    ASSERT_TRUE(events.last<Finished>().has_value()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "");
    EXPECT_EQ(events.last<Finished>()->answer, "hello");
  }
}

QByteArray gzipOf(const QByteArray& bytes) {
  z_stream state{};
  deflateInit2(&state, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  QByteArray packed(static_cast<qsizetype>(deflateBound(&state, static_cast<uLong>(bytes.size()))), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  deflate(&state, Z_FINISH);
  packed.truncate(static_cast<qsizetype>(state.total_out));
  deflateEnd(&state);
  return packed;
}

// Proxies compress what nobody asked them to.
TEST(MisbehavingServer, AnAnswerThatCameCompressedIsReadAndItsFaultsToo) {
  QByteArray stream;
  for (const QByteArray& piece : test::streamOf({"hel", "lo"})) stream += piece;
  FakeModelServer server;
  server.answer("/v1/chat/completions", {.headers = "Content-Encoding: gzip\r\n", .pieces = {gzipOf(stream)}});
  EXPECT_EQ(asked(server.url()).last<Finished>().value_or(Finished{}).answer, "hello");
  server.answer("/v1/chat/completions", refusal(500, gzipOf(R"({"error":"CUDA error"})"), "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(asked(server.url()).last<Failed>()->error.reason, "it says (status 500): CUDA error");
  server.answer("/v1/chat/completions", {.headers = "Content-Encoding: gzip\r\n", .pieces = {gzipOf(QByteArray(64 << 20, 'x'))}});
  EXPECT_EQ(asked(server.url()).last<Failed>()->error.reason, "a line of the answer has no end");
}

// Bytes that say nothing are not patience's bytes.
TEST(MisbehavingServer, AStreamThatOnlyDripsIsGivenUp) {
  FakeModelServer server;
  server.answer("/v1/chat/completions", {.pieces = {kHalf, ": ping\n\n"}, .end = FakeAnswer::End::kDrip});
  const EventRecorder events = asked(server.url(), kShort);
  ASSERT_TRUE(events.last<Failed>().has_value());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kServerUnreachable);
  EXPECT_NE(events.last<Failed>()->error.reason.find("no word came"), std::string::npos) << events.last<Failed>()->error.reason;
  EXPECT_EQ(events.streamed(), "half");
}

// A server that refuses pictures, or more than so many, is not sent them again.
TEST(MisbehavingServer, ARefusalOfPicturesIsRemembered) {
  FakeModelServer server;
  server.answer("/v1/chat/completions", refusal(400, R"({"message":"small is not a multimodal model"})"));
  RemoteEngine engine = engineAt(server.url());
  EXPECT_TRUE(engine.info().traits.sees);
  EventRecorder events;
  engine.handle({1, question()}, events, {});
  EXPECT_FALSE(engine.info().traits.sees);
  server.answer("/v1/chat/completions", refusal(400, R"({"message":"At most 2 image(s) may be provided"})"));
  engine.handle({2, question()}, events, {});
  EXPECT_EQ(engine.info().most_pictures, 2);
}

}  // namespace
}  // namespace winnow::app
