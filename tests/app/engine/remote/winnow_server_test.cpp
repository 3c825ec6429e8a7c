// One machine's Winnow asks another's: what comes back is what the engine there says, and nobody reaches what is another's.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "app/engine/process/carried_files.h"
#include "app/engine/remote/connect_to_server.h"
#include "app/engine/remote/winnow_server_engine.h"
#include "app/ground/threads/worker_thread.h"
#include "app/media/files/media_opener.h"
#include "app/programs/server/api_server.h"
#include "engine/messages/wire.h"
#include "tests/app/programs/server/http_client.h"
#include "tests/support/event_recorder.h"
#include "tests/support/fake_model_server.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::HttpClient;
using test::waitUntil;
using winnow::testing::EventRecorder;

constexpr char kSession[] = "00112233445566778899aabbccddeeff";
constexpr char kKey[] = "WINNOW_TEST_WIRE_KEY";

// A Winnow that asks: its engine lives on a thread of its own, as in a program.
class AskingWinnow {
 public:
  AskingWinnow(std::uint16_t port, const std::string& keySource) : m_thread("asking") {
    ServerAddress address = serverAddressOf("http://127.0.0.1:" + std::to_string(port) + "/v1");
    if (!keySource.empty()) address.key = keySourceOf(keySource);
    m_loaded = begin([this, address](EventRecorder& events) {
      try {
        m_engine = connectToServer(address, nullptr, nullptr, {});
        m_engine->handle({1, LoadModel{}}, events, {});
      } catch (const Exception& problem) {
        events.on_event({1, Failed{problem.error()}});
      }
    });
  }
  ~AskingWinnow() {
    m_thread.post([this] { m_engine.reset(); });
  }

  EventRecorder loaded() { return wait(m_loaded); }
  std::future<EventRecorder> send(RequestBody body, const InterruptToken& interrupt = {}) {
    const RequestId id = ++m_lastId;
    return begin([this, id, body = std::move(body), interrupt](EventRecorder& events) { m_engine->handle({id, body}, events, interrupt); });
  }
  EventRecorder ask(RequestBody body) {
    std::future<EventRecorder> answer = send(std::move(body));
    return wait(answer);
  }
  static EventRecorder wait(std::future<EventRecorder>& answer) {
    EXPECT_TRUE(waitUntil([&] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return answer.get();
  }

 private:
  std::future<EventRecorder> begin(std::function<void(EventRecorder&)> job) {
    auto done = std::make_shared<std::promise<EventRecorder>>();
    m_thread.post([job = std::move(job), done] {
      EventRecorder events;
      job(events);
      done->set_value(std::move(events));
    });
    return done->get_future();
  }

  std::future<EventRecorder> m_loaded;
  std::unique_ptr<Engine> m_engine;
  RequestId m_lastId = 10;
  WorkerThread m_thread;  // last
};

class WinnowServerTest : public ::testing::Test {
 protected:
  void start(test::ScriptFunction script = {}) {
    server.reset();
    host = std::make_unique<EngineHost>([script, log = log] { return std::make_unique<test::ScriptedEngine>(script, log); });
    options.port = 0;
    options.storeFolder = folder.file("store");
    server = std::make_unique<ApiServer>(*host, opener, options);
    model.name = "tiny";
    model.folder = "/home/somebody/models/tiny";
    model.layers = 4;
    model.context_tokens = 4096;
    server->setModel(model);
  }
  AskingWinnow& client(const std::string& key = {}) { return *clients.emplace_back(std::make_unique<AskingWinnow>(server->port(), key)); }
  Turn question(ConversationId conversation, const std::string& path = {}) {
    Turn turn{.conversation = conversation};
    Message message;
    if (!path.empty()) message.items.push_back(MediaItem{{path, MediaKind::kVideo, {.frame_count = 4}}});
    message.items.push_back(TextItem{"Which card?"});
    turn.messages = {message};
    return turn;
  }
  std::string posted(const std::string& path, const std::string& body, const std::string& headers) {
    auto reply = std::async(std::launch::async, [port = server->port(), path, body, headers] {
      const HttpClient http(port);
      http.send(test::request(path, body, headers));
      return http.receive();
    });
    EXPECT_TRUE(waitUntil([&] { return reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return reply.get();
  }
  std::string postedRequest(const RequestBody& body) {
    const std::vector<std::uint8_t> bytes = encoded(Request{5, body});
    return posted("POST /winnow/v1/requests?model=" + mark(), {bytes.begin(), bytes.end()}, sessionHeader());
  }
  static std::string sessionHeader() { return std::string("Winnow-Session: ") + kSession + "\r\n"; }
  std::string mark() {
    const std::string props = posted("GET /props", "", "");
    return nlohmann::json::parse(props.substr(props.find("\r\n\r\n") + 4))["winnow"]["model"];
  }

  test::ScratchFolder folder;
  std::shared_ptr<test::ScriptedEngineLog> log = std::make_shared<test::ScriptedEngineLog>();
  ApiOptions options;
  ModelInfo model;
  FfmpegMediaOpener opener;
  std::unique_ptr<EngineHost> host;
  std::unique_ptr<ApiServer> server;
  std::vector<std::unique_ptr<AskingWinnow>> clients;
};

TEST_F(WinnowServerTest, TellsTheModelAndNothingOfWhereItIs) {
  start();
  const EventRecorder events = client().loaded();
  ASSERT_TRUE(events.last<ModelLoaded>()) << events.last<Failed>().value_or(Failed{}).error.reason;
  const ModelInfo info = events.last<ModelLoaded>()->info;
  EXPECT_EQ(info.name, "tiny");
  EXPECT_EQ(info.layers, 4);
  EXPECT_EQ(info.folder.find("somebody"), std::string::npos);
  EXPECT_TRUE(info.server.starts_with("Winnow at 127.0.0.1:"));
  for (const Ability able : {Ability::kCompress, Ability::kPlan, Ability::kPrepare, Ability::kCompare, Ability::kScore, Ability::kContinue})
    EXPECT_TRUE(can(info, able)) << static_cast<int>(able);
  EXPECT_FALSE(can(info, Ability::kKeep));
  EXPECT_FALSE(can(info, Ability::kWatch));
}

// Kept maps, per-layer budgets, figures: to the byte what an engine in this process says.
TEST_F(WinnowServerTest, WhatTheEngineSaysComesAsItSaysIt) {
  start();
  AskingWinnow& asking = client();
  asking.loaded();
  const std::string video = folder.write("film.mp4", "a film");
  Compare compare{.conversation = 3, .messages = question(3, video).messages};
  compare.recipes.resize(2);
  compare.recipes[0].method = "full";
  Score score{.turn = question(3, video), .answer = "The star."};
  for (const RequestBody& body : {RequestBody(question(3, video)), RequestBody(Plan{question(3, video)}),
                                  RequestBody(Prepare{question(4, video)}), RequestBody(compare), RequestBody(score)}) {
    const EventRecorder there = asking.ask(body);
    test::ScriptedEngine own;
    EventRecorder here;
    own.handle({there.events.empty() ? 0 : there.events.front().id, body}, here, {});
    ASSERT_FALSE(there.events.empty());
    EXPECT_TRUE(ends_request(there.events.back()));
    EXPECT_EQ(there.streamed(), here.streamed());
    const auto same = [&]<class Body>(Body) {
      const std::vector<Body> a = there.all<Body>(), b = here.all<Body>();
      ASSERT_EQ(a.size(), b.size()) << body.index();
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(encoded(Event{0, a[i]}), encoded(Event{0, b[i]})) << body.index();
    };
    same(MediaSampled());
    same(CacheReport());
    same(Planned());
    same(Prepared());
    same(ColumnStarted());
    same(Compared());
    same(Scored());
  }
}

TEST_F(WinnowServerTest, AFileIsSentOnceAndReadUnderItsHash) {
  start();
  AskingWinnow& asking = client();
  asking.loaded();
  std::string bytes;
  for (int i = 0; i < 3'000'000; ++i) bytes.push_back(static_cast<char>(i * 31 + i / 1000));
  const std::string video = folder.write("long film.mp4", bytes);
  const EventRecorder first = asking.ask(question(1, video));
  ASSERT_TRUE(first.last<Finished>()) << first.last<Failed>().value_or(Failed{}).error.reason;
  EXPECT_EQ(first.last<MediaSampled>()->path, video) << "here it has the name that it has here";
  const auto path = [&] {
    const Request last = log->requests().back();
    return std::get<MediaItem>(std::get<Turn>(last.body).messages[0].items[0]).media.path;
  };
  EXPECT_EQ(std::filesystem::path(path()).parent_path(), options.storeFolder);
  EXPECT_EQ(std::filesystem::file_size(path()), bytes.size());
  asking.ask(question(1, folder.write("the same.mp4", bytes)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(options.storeFolder), {}), 1) << "the same bytes are one file";
  std::filesystem::remove(path());  // the server has made room
  EXPECT_TRUE(asking.ask(question(1, video)).last<Finished>()) << "it is sent again";
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(WinnowServerTest, ClientsCannotReachEachOthersConversations) {
  start();
  AskingWinnow& one = client();
  AskingWinnow& two = client();
  one.loaded();
  two.loaded();
  one.ask(question(7));
  two.ask(question(7));
  one.ask(question(7));
  const std::vector<Request> asked = log->requests();
  ASSERT_EQ(asked.size(), 3U);
  const auto number = [&](int i) { return conversation_of(asked[static_cast<std::size_t>(i)].body); };
  EXPECT_NE(number(0), number(1));
  EXPECT_EQ(number(0), number(2));
  EXPECT_GE(number(0), kFirstServedConversation);
  two.ask(ForgetConversation{7});
  one.ask(question(7));
  EXPECT_EQ(conversation_of(log->requests().back().body), number(0)) << "it forgot its own";
  two.ask(question(7));
  EXPECT_NE(conversation_of(log->requests().back().body), number(1)) << "a forgotten number does not come again";
}

TEST_F(WinnowServerTest, ADraftsPreparationGoesToItsFirstQuestion) {
  start();
  AskingWinnow& asking = client();
  asking.loaded();
  const std::string video = folder.write("film.mp4", "a film");
  asking.ask(Prepare{question(kDraftConversation, video)});
  ASSERT_EQ(log->prepares().size(), 1U);
  const ConversationId prepared = log->prepares().front().turn.conversation;
  EXPECT_GE(prepared, kFirstServedConversation) << "not the draft of the window that serves";
  asking.ask(question(9, video));
  EXPECT_EQ(conversation_of(log->requests().back().body), prepared);
  asking.ask(Prepare{question(kDraftConversation, video)});
  EXPECT_NE(log->prepares().back().turn.conversation, prepared) << "it was taken over once";
  asking.ask(question(9, video));
  EXPECT_EQ(conversation_of(log->requests().back().body), prepared) << "it asks again, and keeps its own";
}

TEST_F(WinnowServerTest, StopKeepsAndCancelRestores) {
  start([](const Request& asked) {
    if (!std::holds_alternative<Turn>(asked.body)) return test::default_script(asked);
    return test::Script{{{}, test::Say{TextDelta{"The "}}}, {{}, test::Stall{}}};
  });
  AskingWinnow& asking = client();
  asking.loaded();
  for (const Interrupt kind : {Interrupt::kStop, Interrupt::kCancel}) {
    InterruptSource interrupt;
    const std::size_t before = log->requests().size();
    std::future<EventRecorder> answer = asking.send(question(1), interrupt.token());
    ASSERT_TRUE(waitUntil([&] { return log->requests().size() == before + 1; }));
    kind == Interrupt::kStop ? interrupt.request_stop() : interrupt.request_cancel();
    const EventRecorder events = AskingWinnow::wait(answer);
    ASSERT_TRUE(events.last<Finished>());
    EXPECT_EQ(events.last<Finished>()->reason, StopReason::kInterrupted);
    EXPECT_EQ(events.last<Finished>()->restored, kind == Interrupt::kCancel);
    EXPECT_TRUE(waitUntil([&] { return log->interruptOf(log->requests().back().id) == kind; }));
    ASSERT_TRUE(waitUntil([&] { return !host->isBusy(); }));
  }
}

TEST_F(WinnowServerTest, ALostConnectionIsSaidAndWhatCameIsKept) {
  start([](const Request& asked) {
    if (!std::holds_alternative<Turn>(asked.body)) return test::default_script(asked);
    return test::Script{{{}, test::Say{TextDelta{"The star"}}}, {{}, test::Stall{}}};
  });
  AskingWinnow& asking = client();
  asking.loaded();
  std::future<EventRecorder> answer = asking.send(question(1));
  ASSERT_TRUE(waitUntil([&] { return log->requests().size() == 1; }));
  const auto sent = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  ASSERT_TRUE(waitUntil([&] { return std::chrono::steady_clock::now() > sent; }));
  server.reset();
  const EventRecorder events = AskingWinnow::wait(answer);
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kServerBrokeOff);
  EXPECT_EQ(events.streamed(), "The star");
  const EventRecorder later = asking.ask(question(1));
  EXPECT_EQ(later.last<Failed>()->error.code, ErrorCode::kServerUnreachable);
}

TEST_F(WinnowServerTest, AnotherModelThereIsNoAnswer) {
  start();
  AskingWinnow& asking = client();
  asking.loaded();
  model.name = "huge";
  server->setModel(model);
  const EventRecorder events = asking.ask(question(1));
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kServerModelMissing);
  EXPECT_EQ(events.last<Failed>()->error.subject, "tiny");
  EXPECT_TRUE(log->requests().empty());
}

TEST_F(WinnowServerTest, TheKeyIsAskedForAndTaken) {
  options.access.key = "open sesame";
  start();
  ::setenv(kKey, "wrong", 1);
  EXPECT_EQ(client(std::string("env:") + kKey).loaded().last<Failed>()->error.code, ErrorCode::kServerKeyRefused);
  EXPECT_EQ(posted("PUT /winnow/v1/media/" + std::string(64, 'a') + "?at=0&of=1", "x", "").substr(9, 3), "401");
  ::unsetenv(kKey);
}

TEST_F(WinnowServerTest, FaultsOfItsEngineNameNoFileThere) {
  start([](const Request& asked) {
    const std::string path = std::get<MediaItem>(std::get<Turn>(asked.body).messages[0].items[0]).media.path;
    return test::failure_script(ErrorCode::kDamagedFile, path, "it ends inside its index");
  });
  AskingWinnow& asking = client();
  asking.loaded();
  const std::string video = folder.write("film.mp4", "a film");
  EXPECT_EQ(asking.ask(question(1, video)).last<Failed>()->error.subject, video);
  start([](const Request&) { return test::failure_script(ErrorCode::kStorageFull, "/home/somebody/cache", "no room"); });
  AskingWinnow& second = client();
  second.loaded();
  EXPECT_EQ(second.ask(question(1)).last<Failed>()->error.subject, "");
}

TEST_F(WinnowServerTest, WhatNamesFilesThereIsNotDone) {
  start();
  const std::string forbidden = "403";
  Turn named = question(1, "/etc/passwd");
  EXPECT_EQ(postedRequest(SaveConversation{1, "/tmp/x", "m"}).substr(9, 3), forbidden);
  EXPECT_EQ(postedRequest(LoadConversation{1, "/tmp/x", "m"}).substr(9, 3), forbidden);
  EXPECT_EQ(postedRequest(ExportTurn{question(1), "/tmp/x"}).substr(9, 3), forbidden);
  EXPECT_EQ(postedRequest(WatchClip{question(1), false, {}}).substr(9, 3), forbidden);
  EXPECT_EQ(postedRequest(named).substr(9, 3), "400");
  named = question(1, "sha256:../../../../etc/passwd");
  EXPECT_EQ(postedRequest(named).substr(9, 3), "400");
  named = question(1, carriedName(std::string(64, '0')));
  EXPECT_EQ(postedRequest(named).substr(9, 3), "404");
  std::get<MediaItem>(named.messages[0].items[0]).media.subtitles = "/etc/passwd";
  EXPECT_NE(postedRequest(named).substr(9, 3), "200");
  LoadModel other;
  other.folder = "/home/somebody/models/other";
  EXPECT_NE(postedRequest(other).find("tiny"), std::string::npos) << "only what is loaded is told";
  EXPECT_TRUE(log->requests().empty());
}

TEST_F(WinnowServerTest, WhatIsNoRequestIsRefused) {
  start();
  const std::string path = "POST /winnow/v1/requests?model=" + mark();
  std::string good = [&] {
    const std::vector<std::uint8_t> bytes = encoded(Request{5, question(1)});
    return std::string(bytes.begin(), bytes.end());
  }();
  EXPECT_EQ(posted(path, good, "").substr(9, 3), "400") << "without a session";
  EXPECT_EQ(posted(path, good, "Winnow-Session: short\r\n").substr(9, 3), "400");
  EXPECT_EQ(posted("POST /winnow/v1/requests?model=other", good, sessionHeader()).substr(9, 3), "409");
  EXPECT_EQ(posted("GET /winnow/v1/requests", "", sessionHeader()).substr(9, 3), "404");
  unsigned seed = 1;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = good;
    for (int change = 0; change < 3; ++change) {
      seed = seed * 1664525u + 1013904223u;
      damaged[(seed >> 8) % damaged.size()] = static_cast<char>(seed >> 24);
    }
    if (i % 3 == 0) damaged.resize((seed >> 9) % damaged.size());
    if (damaged.empty()) continue;
    const std::string reply = posted(path, damaged, sessionHeader());
    EXPECT_TRUE(reply.substr(9, 3) == "200" || reply.substr(9, 1) == "4") << reply.substr(0, 200);
  }
  EXPECT_EQ(posted(path, good, sessionHeader()).substr(9, 3), "200") << "it still answers";
}

TEST_F(WinnowServerTest, AWinnowOfAnotherVersionIsNotAskedSo) {
  test::FakeModelServer other;
  other.serve("winnow", {"x"});
  other.answerJson("/props", R"({"winnow":{"version":"9","wire":99,"model":"m"}})");
  ServerConnection connection(serverAddressOf(other.url()), "");
  try {
    isWinnowServer(connection, {});
    ADD_FAILURE() << "it was taken";
  } catch (const Exception& problem) {
    EXPECT_EQ(problem.error().code, ErrorCode::kServerNotUnderstood);
    EXPECT_NE(problem.error().reason.find("99"), std::string::npos);
  }
  other.answerJson("/props", R"({"winnow":{"version":"0.0"}})");
  EXPECT_FALSE(isWinnowServer(connection, {})) << "an old one is asked by OpenAI's API";
}

TEST_F(WinnowServerTest, AnswersThatAreNoneAreSaid) {
  for (const QByteArray& piece :
       {QByteArray("\xff\xff\xff\xff"), QByteArray("\x03\0\0\0abc", 7), QByteArray("\x40\0\0\0ab", 6), QByteArray()}) {
    test::FakeModelServer other;
    other.answerJson("/props", R"({"winnow":{"wire":1,"model":"m"}})");
    test::FakeAnswer answer{.pieces = {piece}};
    other.answer("/winnow/v1/requests?model=m", answer);
    other.answer("/winnow/v1/requests", answer);
    WinnowServerEngine engine(std::make_unique<ServerConnection>(serverAddressOf(other.url()), "", ServerPatience{1000, 1000, 1000}));
    EventRecorder events;
    engine.handle({1, LoadModel{}}, events, {});
    ASSERT_TRUE(events.last<Failed>());
    const ErrorCode code = events.last<Failed>()->error.code;
    EXPECT_TRUE(code == ErrorCode::kServerNotUnderstood || code == ErrorCode::kServerBrokeOff) << static_cast<int>(code);
  }
}

}  // namespace
}  // namespace winnow::app
