// A turn becomes a request, its stream the engine's events.
#include "app/engine/remote/remote_engine.h"

#include <gtest/gtest.h>

#include <QTimer>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/event_recorder.h"
#include "tests/support/fake_model_server.h"
#include "tests/support/memory_media.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::chunkOf;
using test::FakeAnswer;
using test::FakeModelServer;
using winnow::testing::EventRecorder;

class RemoteEngineTest : public ::testing::Test {
 protected:
  RemoteEngineTest() {
    m_server.serve("vllm", {"one ", "two ", "three"});
    m_media.add("cat.png", {winnow::testing::patterned_picture(32, 16, 1)});
    m_traits.kind = ServerKind::kVllm;
    m_traits.model = "small";
    m_traits.continues = true;
  }

  EventRecorder ask(const RequestBody& body, const InterruptToken& interrupt = {}) {
    RemoteEngine engine(std::make_unique<ServerConnection>(ServerAddress{m_server.url(), "small"}, "", ServerPatience{2000, 2000, 5000}),
                        m_traits, &m_media);
    EventRecorder events;
    if (m_hook) events.hook = m_hook;
    engine.handle({9, body}, events, interrupt);
    return events;
  }
  Turn turn(std::vector<Item> items) const {
    return {.messages = {{Role::kSystem, {TextItem{"Be brief."}}}, {Role::kUser, std::move(items)}}};
  }
  nlohmann::json body() const { return nlohmann::json::parse(m_server.asked.back().body.toStdString()); }

  FakeModelServer m_server;
  winnow::testing::MemoryMediaOpener m_media;
  ServerTraits m_traits;
  std::function<void(const Event&)> m_hook;
};

TEST_F(RemoteEngineTest, AnAnswerComesInPiecesWithItsFigures) {
  const EventRecorder events = ask(turn({TextItem{"Count."}}));
  const auto done = events.last<Finished>();
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(events.streamed(), "one two three");
  EXPECT_EQ(done->answer, "one two three");
  EXPECT_EQ(done->reason, StopReason::kStopToken);
  EXPECT_EQ(done->figures.tokens.thread_text, 40);
  EXPECT_EQ(done->figures.tokens.prompt, 10) << "30 came from the server's cache";
  EXPECT_EQ(done->figures.tokens.generated, 3);
  EXPECT_GT(done->figures.timings_ms.ttft, 0.0);
  EXPECT_TRUE(ends_request(events.events.back()));
  EXPECT_EQ(m_server.asked.back().path, "/v1/chat/completions");
}

TEST_F(RemoteEngineTest, TheRequestSaysWhatTheTurnSays) {
  Turn asked = turn({MediaItem{{"cat.png", MediaKind::kImage, {}}}, TextItem{"What is it?"}});
  asked.sampling.temperature = 0.5;
  asked.sampling.top_k = 40;
  asked.sampling.stop_strings = {"END"};
  asked.sampling.max_new_tokens = 77;
  asked.sampling.thought_tokens = 0;
  const EventRecorder events = ask(asked);
  const nlohmann::json said = body();
  EXPECT_EQ(said["model"], "small");
  EXPECT_EQ(said["stream"], true);
  EXPECT_EQ(said["temperature"], 0.5);
  EXPECT_EQ(said["top_k"], 40);
  EXPECT_EQ(said["max_tokens"], 77);
  EXPECT_EQ(said["stop"], nlohmann::json::array({"END"}));
  EXPECT_EQ(said["chat_template_kwargs"]["enable_thinking"], false);
  EXPECT_FALSE(said.contains("min_p"));
  ASSERT_EQ(said["messages"].size(), 2U);
  EXPECT_EQ(said["messages"][0]["content"], "Be brief.");
  const nlohmann::json& parts = said["messages"][1]["content"];
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_TRUE(parts[0]["image_url"]["url"].get<std::string>().starts_with("data:image/jpeg;base64,/9j/"));
  EXPECT_EQ(parts[1]["text"], "What is it?");
  EXPECT_EQ(events.all<MediaSampled>().size(), 1U);
}

// A server's own default lets a thought and its answer end.
TEST_F(RemoteEngineTest, ALimitThatNobodyChoseIsNotSent) {
  Turn asked = turn({TextItem{"Why?"}});
  answer_to_the_end(asked.sampling, ModelInfo());
  ask(asked);
  EXPECT_FALSE(body().contains("max_tokens"));
  EXPECT_FALSE(body().contains("max_completion_tokens"));
}

TEST_F(RemoteEngineTest, AModelThatIsAFileIsCalledByItsFile) {
  const auto named = [&](const char* model) {
    m_traits.model = model;
    return RemoteEngine(std::make_unique<ServerConnection>(ServerAddress{m_server.url(), model}, "", ServerPatience{2000, 2000, 5000}),
                        m_traits, &m_media)
        .info();
  };
  EXPECT_EQ(named("/srv/models/small-q4.gguf").name, "small-q4.gguf");
  EXPECT_NE(named("/srv/models/small-q4.gguf").folder.find("/srv/models/small-q4.gguf"), std::string::npos) << "asked by its whole name";
  EXPECT_EQ(named("org/small").name, "org/small");
}

TEST_F(RemoteEngineTest, ThoughtsAreKeptApart) {
  m_server.answer("/v1/chat/completions", {.pieces = {chunkOf(R"({"reasoning_content":"hmm "})"), chunkOf(R"({"reasoning":"so"})"),
                                                      chunkOf(R"({"content":"yes"})", R"("stop")"), "data: [DONE]\n\n"}});
  const auto done = ask(turn({TextItem{"?"}})).last<Finished>();
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->thought, "hmm so");
  EXPECT_EQ(done->answer, "yes");
}

TEST_F(RemoteEngineTest, ATextOnlyModelIsSentNoPicture) {
  m_traits.sees = false;
  const auto failed = ask(turn({MediaItem{{"cat.png", MediaKind::kImage, {}}}, TextItem{"What is it?"}})).last<Failed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->error.code, ErrorCode::kModelReadsText);
  EXPECT_EQ(failed->error.subject, "cat.png");
  EXPECT_TRUE(m_server.asked.empty());
}

TEST_F(RemoteEngineTest, MorePicturesThanItTakesAreRefusedBeforehand) {
  m_traits.mostPictures = 1;
  const MediaItem cat{{"cat.png", MediaKind::kImage, {}}};
  const auto failed = ask(turn({cat, cat, TextItem{"Which?"}})).last<Failed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->error.code, ErrorCode::kTooManyPictures);
  EXPECT_NE(failed->error.reason.find("2 images and frames, it takes 1"), std::string::npos) << failed->error.reason;
  EXPECT_TRUE(m_server.asked.empty());
}

// vLLM 0.32, unless it was started with --trust-request-mm-kwargs.
TEST_F(RemoteEngineTest, AServerThatTakesNoNumberOfFramesIsGivenTheFrames) {
  const test::ScratchFolder scratch;
  const std::string film = scratch.write("film.mp4", "abc");
  m_media.add(film, {winnow::testing::patterned_picture(32, 16, 1), winnow::testing::patterned_picture(32, 16, 2)});
  m_traits.takesVideos = true;
  m_server.answerJson("/v1/chat/completions", R"({"error":{"message":"Per-request media_io_kwargs are disabled by default"}})", 400);
  int told = 0;
  m_hook = [&](const Event& event) {
    if (std::holds_alternative<MediaSampled>(event.body) && ++told == 2) m_server.serve("vllm", {"a ", "film"});
  };
  const EventRecorder events = ask(turn({MediaItem{{film, MediaKind::kVideo, {}}}, TextItem{"What is it?"}}));
  ASSERT_TRUE(events.last<Finished>().has_value());
  EXPECT_EQ(events.last<Finished>()->answer, "a film");
  ASSERT_EQ(m_server.asked.size(), 2U);
  const auto said = [&](std::size_t request) { return nlohmann::json::parse(m_server.asked[request].body.toStdString()); };
  EXPECT_TRUE(said(0).contains("media_io_kwargs"));
  EXPECT_FALSE(said(1).contains("media_io_kwargs"));
  const nlohmann::json parts = said(1)["messages"][1]["content"];
  EXPECT_EQ(std::ranges::count_if(parts, [](const nlohmann::json& part) { return part.contains("image_url"); }), 2);
}

TEST_F(RemoteEngineTest, WhatAServerCannotDoIsRefusedAndNamedBeforehand) {
  const Turn asked = turn({TextItem{"?"}});
  const RequestBody bodies[] = {Plan{asked}, Prepare{asked},     Compare{},          Score{asked, "a"},
                                WatchClip{}, SaveConversation{}, LoadConversation{}, ExportTurn{asked, "/tmp/x"}};
  for (const RequestBody& each : bodies) {
    const auto failed = ask(each).last<Failed>();
    ASSERT_TRUE(failed.has_value()) << each.index();
    EXPECT_EQ(failed->error.code, ErrorCode::kNotAble) << each.index();
  }
  EXPECT_TRUE(ask(ForgetConversation{1}).events.empty());
  const auto loaded = ask(LoadModel{}).last<ModelLoaded>();
  ASSERT_TRUE(loaded.has_value());
  for (const Ability ability : {Ability::kCompress, Ability::kPlan, Ability::kPrepare, Ability::kCompare, Ability::kScore, Ability::kWatch,
                                Ability::kKeep, Ability::kExport})
    EXPECT_FALSE(can(loaded->info, ability));
  EXPECT_TRUE(can(loaded->info, Ability::kContinue));
  EXPECT_TRUE(loaded->info.server.starts_with("vLLM at 127.0.0.1:"));
  EXPECT_TRUE(m_server.asked.empty());
}

TEST_F(RemoteEngineTest, AnAnswerThatWasBegunGoesOnWhereTheServerCan) {
  Turn asked = turn({TextItem{"Count."}});
  asked.answer_begun = "zero ";
  EXPECT_EQ(ask(asked).last<Finished>()->answer, "one two three");
  EXPECT_EQ(body()["messages"][2]["content"], "zero ");
  EXPECT_EQ(body()["continue_final_message"], true);
  m_traits.continues = false;
  EXPECT_EQ(ask(asked).last<Failed>()->error.code, ErrorCode::kNotAble);
}

TEST_F(RemoteEngineTest, StopKeepsWhatWasWrittenAndClosesTheConnection) {
  m_server.answer("/v1/chat/completions", {.pieces = {chunkOf(R"({"content":"half"})")}, .end = FakeAnswer::End::kHang});
  InterruptSource interrupt;
  m_hook = [&](const Event& event) {
    if (std::holds_alternative<TextDelta>(event.body)) interrupt.request_stop();
  };
  const auto done = ask(turn({TextItem{"?"}}), interrupt.token()).last<Finished>();
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->reason, StopReason::kInterrupted);
  EXPECT_FALSE(done->restored);
  EXPECT_EQ(done->answer, "half");
  EXPECT_TRUE(test::waitUntil([this] { return m_server.open() == 0; })) << "the server goes on writing for nobody";
}

TEST_F(RemoteEngineTest, CancelBeforeAnythingCameRestores) {
  m_server.answer("/v1/chat/completions", {.end = FakeAnswer::End::kHang, .raw = QByteArray()});
  InterruptSource interrupt;
  QTimer::singleShot(50, [&] { interrupt.request_cancel(); });
  const auto done = ask(turn({TextItem{"?"}}), interrupt.token()).last<Finished>();
  ASSERT_TRUE(done.has_value());
  EXPECT_TRUE(done->restored);
  EXPECT_TRUE(test::waitUntil([this] { return m_server.open() == 0; }));
}

}  // namespace
}  // namespace winnow::app
