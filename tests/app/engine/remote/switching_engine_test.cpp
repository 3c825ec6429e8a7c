// A server's model takes the place of this machine's, and the other way round.
#include "app/engine/remote/switching_engine.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/support/event_recorder.h"

namespace winnow::app {
namespace {

using winnow::testing::EventRecorder;

// Says who it is, and counts how many of its kind there are.
class NamedEngine final : public Engine {
 public:
  NamedEngine(std::string name, int& alive) : m_name(std::move(name)), m_alive(alive) { ++m_alive; }
  ~NamedEngine() override { --m_alive; }
  void handle(const Request& request, EventSink& sink, const InterruptToken& /*interrupt*/) override {
    if (const auto* load = std::get_if<LoadModel>(&request.body)) {
      if (load->folder == "missing") return sink.on_event({request.id, Failed{{ErrorCode::kModelFolderMissing, "missing", "is gone"}}});
      ModelInfo info{.name = m_name};
      return sink.on_event({request.id, ModelLoaded{info}});
    }
    Finished done{.answer = m_name};
    sink.on_event({request.id, std::move(done)});
  }

 private:
  const std::string m_name;
  int& m_alive;
};

class SwitchingEngineTest : public ::testing::Test {
 protected:
  SwitchingEngine engine(SwitchingEngine::Begin begin) {
    return SwitchingEngine([this] { return std::make_unique<NamedEngine>("own", m_own); },
                           [this](const ServerAddress& address, const InterruptToken&) -> std::unique_ptr<Engine> {
                             if (address.model == "none") throw Exception(ErrorCode::kServerModelMissing, "none", "is not there");
                             return std::make_unique<NamedEngine>(address.model, m_servers);
                           },
                           begin);
  }
  static EventRecorder handled(Engine& engine, const RequestBody& body) {
    EventRecorder events;
    engine.handle({1, body}, events, {});
    return events;
  }
  static LoadModel load(const std::string& folder) { return {.folder = folder}; }
  static std::string answer(Engine& engine) { return handled(engine, Turn()).last<Finished>()->answer; }

  int m_own = 0;
  int m_servers = 0;
};

TEST_F(SwitchingEngineTest, WhoeverHasTheModelAnswers) {
  SwitchingEngine engine = this->engine(SwitchingEngine::Begin::kWithNone);
  EXPECT_EQ(m_own, 0);
  EXPECT_EQ(handled(engine, load("http://gpu/v1#model=far")).last<ModelLoaded>()->info.name, "far");
  EXPECT_EQ(answer(engine), "far");
  EXPECT_EQ(m_own, 0) << "a server's model needs no engine here";
  handled(engine, load("/models/near"));
  EXPECT_EQ(answer(engine), "own");
  EXPECT_EQ(m_servers, 0);
  handled(engine, load("http://gpu/v1#model=far"));
  EXPECT_EQ(m_own, 0) << "its memory is given back";
}

TEST_F(SwitchingEngineTest, WhatCannotBeLoadedLeavesTheModelOfBefore) {
  SwitchingEngine engine = this->engine(SwitchingEngine::Begin::kWithOwn);
  EXPECT_EQ(m_own, 1);
  handled(engine, load("/models/near"));
  EXPECT_EQ(handled(engine, load("http://gpu/v1#model=none")).last<Failed>()->error.code, ErrorCode::kServerModelMissing);
  EXPECT_EQ(handled(engine, load("http://")).last<Failed>()->error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(answer(engine), "own");
  handled(engine, load("http://gpu/v1#model=far"));
  EXPECT_EQ(handled(engine, load("missing")).last<Failed>()->error.code, ErrorCode::kModelFolderMissing);
  EXPECT_EQ(answer(engine), "far");
  EXPECT_EQ(m_own, 0);
}

}  // namespace
}  // namespace winnow::app
