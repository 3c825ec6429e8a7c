// EngineHost with a scripted engine: order, interrupts, broken engines, pacing, destruction.
#include "app/engine/host/engine_host.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QEventLoop>
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/support/gathering_engine.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/wait_until.h"
#include "tests/support/wired_engine.h"

namespace winnow::app {
namespace {

using namespace std::chrono_literals;
using test::ScriptedEngine;
using test::ScriptedEngineLog;
using test::ScriptFunction;
using test::waitUntil;
using test::WiredEngine;

Turn question(const char* text) {
  Turn turn;
  turn.messages.push_back({Role::kUser, {TextItem{text}}});
  return turn;
}

class EngineHostTest : public testing::Test {
 protected:
  void start(ScriptFunction script = {}) {
    // shared: read by the test while the engine writes on its thread
    m_log = std::make_shared<ScriptedEngineLog>();
    use([script, log = m_log] { return std::make_unique<WiredEngine>(std::make_unique<ScriptedEngine>(script, log)); });
  }

  void use(EngineHost::EngineFactory factory) { m_host = std::make_unique<EngineHost>(std::move(factory)); }

  RequestId post(RequestBody body) {
    return m_host->post(std::move(body), m_host.get(), [this](const Event& event) { m_events.push_back(event); });
  }

  const Event* outcome(RequestId id) const {
    for (const Event& event : m_events)
      if (event.id == id && ends_request(event)) return &event;
    return nullptr;
  }

  bool waitForOutcome(RequestId id) {
    return waitUntil([&] { return outcome(id) != nullptr; });
  }

  bool waitForText(RequestId id) {
    return waitUntil([&] {
      for (const Event& event : m_events)
        if (event.id == id && std::holds_alternative<TextDelta>(event.body)) return true;
      return false;
    });
  }

  std::string textOf(RequestId id) const {
    std::string joined;
    for (const Event& event : m_events)
      if (const auto* delta = std::get_if<TextDelta>(&event.body); delta && event.id == id) joined += delta->text;
    return joined;
  }

  std::vector<Event> m_events;
  std::shared_ptr<ScriptedEngineLog> m_log;
  std::unique_ptr<EngineHost> m_host;
};

TEST_F(EngineHostTest, DeltasJoinToTheAnswerAndTheOutcomeIsLast) {
  start();
  LoadModel demo;
  demo.folder = "/models/demo";
  const RequestId load = post(demo);
  const RequestId turn = post(question("what is red?"));
  ASSERT_TRUE(waitForOutcome(turn));
  EXPECT_EQ(std::get<ModelLoaded>(outcome(load)->body).info.name, "demo");
  const auto& finished = std::get<Finished>(outcome(turn)->body);
  EXPECT_EQ(finished.answer, "You asked: what is red?");
  EXPECT_EQ(textOf(turn), finished.answer);
  EXPECT_EQ(&m_events.back(), outcome(turn));
  EXPECT_FALSE(m_host->isBusy());
}

TEST_F(EngineHostTest, RunsRequestsInTheOrderPosted) {
  start();
  std::vector<RequestId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(post(question("q")));
  ASSERT_TRUE(waitForOutcome(ids.back()));
  const std::vector<Request> requests = m_log->requests();
  ASSERT_EQ(requests.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(requests[i].id, ids[i]);
}

TEST_F(EngineHostTest, StopKeepsTheTextSoFar) {
  start([](const Request&) { return test::Script{{0ms, test::Say{TextDelta{"part "}}}, {0ms, test::Stall{}}}; });
  const RequestId id = post(question("q"));
  ASSERT_TRUE(waitForText(id));
  m_host->stop(id);
  ASSERT_TRUE(waitForOutcome(id));
  const auto& finished = std::get<Finished>(outcome(id)->body);
  EXPECT_EQ(finished.reason, StopReason::kInterrupted);
  EXPECT_FALSE(finished.restored);
  EXPECT_EQ(finished.answer, "part ");
  EXPECT_EQ(m_log->interruptOf(id), Interrupt::kStop);
}

TEST_F(EngineHostTest, CancelOfTheRunningRequestLeavesTheNextAlone) {
  std::atomic<int> served{0};
  start([&](const Request& request) {
    return served++ == 0 ? test::Script{{0ms, test::Say{TextDelta{"a"}}}, {0ms, test::Stall{}}} : test::default_script(request);
  });
  const RequestId first = post(question("q"));
  const RequestId second = post(question("r"));
  ASSERT_TRUE(waitForText(first));
  m_host->cancel(first);
  ASSERT_TRUE(waitForOutcome(second));
  EXPECT_TRUE(std::get<Finished>(outcome(first)->body).restored);
  EXPECT_EQ(std::get<Finished>(outcome(second)->body).answer, "You asked: r");
}

TEST_F(EngineHostTest, ARequestCancelledWhileItWaitsNeverReachesTheEngine) {
  start([](const Request&) { return test::Script{{0ms, test::Say{TextDelta{"a"}}}, {0ms, test::Stall{}}}; });
  const RequestId first = post(question("q"));
  const RequestId waiting = post(question("r"));
  ASSERT_TRUE(waitForText(first));
  m_host->cancel(waiting);
  m_host->stop(first);
  ASSERT_TRUE(waitForOutcome(waiting));
  EXPECT_TRUE(std::get<Finished>(outcome(waiting)->body).restored);
  EXPECT_EQ(m_log->requests().size(), 1u);
}

TEST_F(EngineHostTest, CancelAllEndsEverything) {
  start([](const Request&) { return test::Script{{0ms, test::Stall{}}}; });
  std::vector<RequestId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(post(question("q")));
  for (const RequestId id : ids) m_host->cancel(id);
  ASSERT_TRUE(waitUntil([&] { return !m_host->isBusy(); }));
  for (const RequestId id : ids) EXPECT_TRUE(std::get<Finished>(outcome(id)->body).restored);
}

TEST_F(EngineHostTest, AnExceptionBecomesFailedAndTheNextRequestIsServed) {
  std::atomic<int> served{0};
  start([&](const Request& request) -> test::Script {
    switch (served++) {
      case 0: return {{0ms, test::Throw{"broken"}}};
      case 1: return {{0ms, test::ThrowForeign{}}};
      case 2: return {{0ms, test::EndSilently{}}};
      default: return test::default_script(request);
    }
  });
  std::vector<RequestId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(post(question("q")));
  ASSERT_TRUE(waitForOutcome(ids.back()));
  for (int i = 0; i < 3; ++i) {
    const auto* failed = std::get_if<Failed>(&outcome(ids[static_cast<std::size_t>(i)])->body);
    ASSERT_NE(failed, nullptr) << i;
    EXPECT_EQ(failed->error.code, ErrorCode::kInternal);
  }
  EXPECT_EQ(std::get<Failed>(outcome(ids[0])->body).error.reason, "broken");
  EXPECT_TRUE(std::holds_alternative<Finished>(outcome(ids[3])->body));
}

TEST_F(EngineHostTest, NothingIsDeliveredAfterTheOutcome) {
  start([](const Request&) {
    return test::Script{
        {0ms, test::Say{Finished{}}}, {0ms, test::Say{TextDelta{"late"}}}, {0ms, test::Say{Failed{}}}, {0ms, test::Throw{"late"}}};
  });
  const RequestId first = post(question("q"));
  const RequestId second = post(question("q"));
  ASSERT_TRUE(waitForOutcome(second));
  EXPECT_EQ(m_events.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Finished>(outcome(first)->body));
}

TEST_F(EngineHostTest, AFactoryThatThrowsFailsTheRequestAndIsTriedAgain) {
  std::atomic<int> tries{0};
  use([&]() -> std::unique_ptr<Engine> {
    if (tries++ < 2) throw Exception(ErrorCode::kDeviceUnavailable, "cuda", "no driver");  // before any request, and at the first
    return std::make_unique<ScriptedEngine>();
  });
  const RequestId first = post(question("q"));
  const RequestId second = post(question("q"));
  ASSERT_TRUE(waitForOutcome(second));
  EXPECT_EQ(std::get<Failed>(outcome(first)->body).error.code, ErrorCode::kDeviceUnavailable);
  EXPECT_TRUE(std::holds_alternative<Finished>(outcome(second)->body));
}

TEST_F(EngineHostTest, WatchedEndsAClip) {
  start();
  WatchClip clip;
  clip.turn.messages.push_back({Role::kUser, {MediaItem{{"/dev/video0", MediaKind::kVideo, {0, 0.5}}}}});
  clip.begins = true;
  clip.frames.resize(8);
  const RequestId id = post(std::move(clip));
  ASSERT_TRUE(waitForOutcome(id));
  ASSERT_TRUE(std::holds_alternative<Watched>(outcome(id)->body));
  EXPECT_EQ(std::get<Watched>(outcome(id)->body).frames, 8);
  EXPECT_FALSE(m_host->isBusy());
}

TEST_F(EngineHostTest, ForgetConversationIsSilent) {
  start();
  post(ForgetConversation{3});
  EXPECT_FALSE(m_host->isBusy());
  const RequestId turn = post(question("q"));
  ASSERT_TRUE(waitForOutcome(turn));
  for (const Event& event : m_events) EXPECT_EQ(event.id, turn);
  EXPECT_EQ(m_log->requests().size(), 2u);
}

TEST_F(EngineHostTest, TextArrivesAtMostThirtyTimesASecond) {
  start([](const Request&) {
    test::Script script;
    for (int i = 0; i < 300; ++i) script.push_back({1ms, test::Say{TextDelta{"x"}}});
    script.push_back({0ms, test::Say{Finished{}}});
    return script;
  });
  QElapsedTimer elapsed;
  elapsed.start();
  const RequestId id = post(question("q"));
  ASSERT_TRUE(waitForOutcome(id));
  const auto updates = static_cast<qint64>(m_events.size()) - 1;
  EXPECT_EQ(textOf(id).size(), 300u);
  EXPECT_GE(updates, 2);
  EXPECT_LE(updates, elapsed.elapsed() / 33 + 2);
}

TEST_F(EngineHostTest, DestroyingTheHostCancelsAndDestroysTheEngineOnItsThread) {
  start([](const Request&) { return test::Script{{0ms, test::Say{TextDelta{"a"}}}, {0ms, test::Stall{}}}; });
  const RequestId id = post(question("q"));
  post(question("waits"));
  ASSERT_TRUE(waitForText(id));
  m_host.reset();
  EXPECT_EQ(m_log->interruptOf(id), Interrupt::kCancel);
  EXPECT_EQ(m_log->destroyed(), 1);
  EXPECT_EQ(m_log->requests().size(), 1u);
  const std::size_t before = m_events.size();
  QCoreApplication::processEvents();
  EXPECT_EQ(m_events.size(), before);
}

TEST_F(EngineHostTest, AReceiverMayDestroyTheHost) {
  start();
  QObject receiver;
  m_host->post(question("q"), &receiver, [this](const Event& event) {
    if (ends_request(event)) m_host.reset();
  });
  EXPECT_TRUE(waitUntil([&] { return m_host == nullptr; }));
}

TEST_F(EngineHostTest, OrderHoldsWhenAReceiverRunsANestedLoop) {
  start();
  bool nested = false;
  const RequestId first = m_host->post(question("one two three"), m_host.get(), [&](const Event& event) {
    m_events.push_back(event);
    if (nested) return;
    nested = true;
    QEventLoop loop;
    QTimer::singleShot(50, &loop, &QEventLoop::quit);
    loop.exec();
  });
  const RequestId second = post(question("four five six"));
  ASSERT_TRUE(waitForOutcome(second));
  EXPECT_EQ(textOf(first), "You asked: one two three");
  EXPECT_EQ(textOf(second), "You asked: four five six");
  EXPECT_TRUE(std::is_sorted(m_events.begin(), m_events.end(), [](const Event& a, const Event& b) { return a.id < b.id; }));
}

TEST_F(EngineHostTest, EachRequestIsAnsweredToTheOneWhoAsked) {
  start();
  QObject one, other;
  std::vector<Event> toOne, toOther;
  const RequestId first = m_host->post(question("one"), &one, [&](const Event& event) { toOne.push_back(event); });
  const RequestId second = m_host->post(question("other"), &other, [&](const Event& event) { toOther.push_back(event); });
  m_host->post(question("nobody's"));
  const RequestId last = post(question("last"));
  ASSERT_TRUE(waitForOutcome(last));
  for (const auto& [events, id] : {std::pair(&toOne, first), std::pair(&toOther, second)}) {
    ASSERT_FALSE(events->empty());
    EXPECT_TRUE(std::all_of(events->begin(), events->end(), [id = id](const Event& event) { return event.id == id; }));
    EXPECT_TRUE(ends_request(events->back()));
  }
  EXPECT_TRUE(std::all_of(m_events.begin(), m_events.end(), [last](const Event& event) { return event.id == last; }));
}

TEST_F(EngineHostTest, NothingComesToAReceiverThatIsGone) {
  start();
  auto gone = std::make_unique<QObject>();
  bool came = false;
  m_host->post(question("q"), gone.get(), [&](const Event&) { came = true; });
  gone.reset();
  const RequestId next = post(question("next"));
  ASSERT_TRUE(waitForOutcome(next));
  EXPECT_FALSE(came);
  EXPECT_FALSE(m_host->isBusy());
}

TEST_F(EngineHostTest, RequestsAreTakenInWhileOneRuns) {
  use([] { return std::make_unique<test::GatheringEngine>(3); });
  const RequestId first = post(question("a"));
  m_host->post(ForgetConversation{9});
  const RequestId second = post(question("b"));
  const RequestId third = post(question("c"));
  for (const RequestId id : {first, second, third}) ASSERT_TRUE(waitForOutcome(id));
  EXPECT_EQ(textOf(first), "You asked: a");
  EXPECT_EQ(textOf(second), "You asked: b");
  EXPECT_EQ(textOf(third), "You asked: c");
  EXPECT_FALSE(m_host->isBusy());
}

// Says something as long as it is listened to.
class EndlessEngine final : public Engine {
 public:
  explicit EndlessEngine(std::atomic<std::int64_t>& said) : m_said(said) {}
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override {
    for (int i = 0; !interrupt.requested(); ++i) {
      sink.on_event({request.id, TextDelta{std::string(1000, 'x'), i % 2 == 0 ? TextKind::kAnswer : TextKind::kThought}});
      m_said += 1000;
    }
    Finished finished{.reason = StopReason::kInterrupted};
    sink.on_event({request.id, std::move(finished)});
  }

 private:
  std::atomic<std::int64_t>& m_said;
};

// A window that is busy does not fill the memory, and its Stop does not stand in a line behind what it has not shown.
TEST_F(EngineHostTest, AnEngineIsHeldBackByWhoDoesNotListenAndHearsStop) {
  std::atomic<std::int64_t> said{0};
  use([&said] { return std::make_unique<EndlessEngine>(said); });
  const RequestId id = post(question("q"));
  std::int64_t before = -1;  // the loop does not run meanwhile
  while (said != before || said == 0) {
    before = said;
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_LT(said, 8 << 20);
  m_host->stop(id);
  ASSERT_TRUE(waitForOutcome(id));
  EXPECT_LT(said, 16 << 20);
  EXPECT_EQ(static_cast<std::int64_t>(textOf(id).size()), said) << "nothing is lost";
}

TEST_F(EngineHostTest, AnEngineThatIsHeldBackEndsWithTheProgram) {
  std::atomic<std::int64_t> said{0};
  use([&said] { return std::make_unique<EndlessEngine>(said); });
  post(question("q"));
  while (said < 1 << 20) std::this_thread::sleep_for(10ms);
  m_host.reset();
  EXPECT_LT(said, 16 << 20);
}

}  // namespace
}  // namespace winnow::app
