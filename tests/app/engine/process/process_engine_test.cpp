// Engines in processes that misbehave: every request ends once, whatever its process does, and the next one is answered.
#include "app/engine/process/process_engine.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "app/engine/process/retrying_engine.h"
#include "tests/support/asked_queue.h"
#include "tests/support/event_recorder.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

using std::chrono::milliseconds;
using winnow::testing::AskedQueue;
using winnow::testing::EventRecorder;
using winnow::testing::QueuedRequest;

Turn question(const std::string& text) {
  Turn turn{.conversation = 1};
  turn.messages.push_back({Role::kUser, {TextItem{text}}});
  return turn;
}

LoadModel model(const std::string& name) { return {.folder = "/models/" + name}; }

class ProcessEngineTest : public ::testing::Test {
 protected:
  // times: how often a misdeed is done, in all processes together.
  EngineProcessSettings worker(const std::string& at_start = {}, std::size_t times = 1000) {
    scratch_.write("times", std::string(times, '.'));
    return {SCRIPTED_WORKER, milliseconds(150), {at_start, scratch_.file("times")}};
  }
  std::size_t timesLeft() const { return std::filesystem::file_size(scratch_.file("times")); }

  EventRecorder run(Engine& engine, RequestBody body, const InterruptToken& interrupt = {}) {
    EventRecorder events;
    engine.handle({++last_id_, std::move(body)}, events, interrupt);
    std::size_t ends = 0;
    for (const Event& event : events.events) {
      EXPECT_EQ(event.id, last_id_);
      ends += ends_request(event) ? 1 : 0;
    }
    EXPECT_EQ(ends, 1U);
    EXPECT_TRUE(!events.events.empty() && ends_request(events.events.back()));
    return events;
  }

  static Error failure(const EventRecorder& events) {
    const std::optional<Failed> failed = events.last<Failed>();
    EXPECT_TRUE(failed);
    return failed ? failed->error : Error{};
  }
  static std::string answer(const EventRecorder& events) {
    const std::optional<Failed> failed = events.last<Failed>();
    EXPECT_FALSE(failed) << failed->error.reason;
    return events.last<Finished>().value_or(Finished{}).answer;
  }

  test::ScratchFolder scratch_;
  RequestId last_id_ = 0;
};

struct Misdeed {
  const char* name;
  ErrorCode code;
  const char* reason;
};

class Misdeeds : public ProcessEngineTest, public ::testing::WithParamInterface<Misdeed> {};

TEST_P(Misdeeds, EndTheRequestOnceAndTheNextIsAnswered) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  for (const std::string when : {"", " after text"}) {
    const EventRecorder events = run(engine, question(GetParam().name + when));
    EXPECT_EQ(failure(events).code, GetParam().code);
    EXPECT_NE(failure(events).reason.find(GetParam().reason), std::string::npos) << failure(events).reason;
    EXPECT_EQ(events.streamed(), when.empty() ? "" : "so far");
    EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
  }
}

TEST_F(ProcessEngineTest, EachProcessIsToldThePasswordsOfDocuments) {
  Passwords passwords;
  passwords.set({"a.pdf", "one"});
  EngineProcessSettings settings = worker("", 1);
  settings.passwords = &passwords;
  ProcessEngine engine(settings);
  EXPECT_EQ(answer(run(engine, question("password of a.pdf"))), "one");
  passwords.set({"b.pdf", "two"});
  passwords.set({"a.pdf", "three"});
  EXPECT_EQ(answer(run(engine, question("password of b.pdf"))), "two");
  EXPECT_EQ(failure(run(engine, question("crash"))).code, ErrorCode::kEngineCrashed);
  EXPECT_EQ(answer(run(engine, question("password of a.pdf"))), "three") << "another process";
  passwords.set({"a.pdf", ""});
  EXPECT_EQ(answer(run(engine, question("password of a.pdf"))), "") << "forgotten";
}

TEST_P(Misdeeds, AtTheStartEndTheRequestOnce) {
  if (GetParam().name == std::string("second hello")) GTEST_SKIP() << "the first one is as it should be";
  ProcessEngine engine(worker(GetParam().name, 1));
  std::this_thread::sleep_for(milliseconds(20));  // whether it is met at the request or before it
  for (int i = 0; i < 2 && timesLeft() > 0; ++i) run(engine, model("demo"));
  run(engine, model("demo"));
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

INSTANTIATE_TEST_SUITE_P(All, Misdeeds,
                         ::testing::Values(Misdeed{"crash", ErrorCode::kEngineCrashed, "signal 11 (Segmentation fault)"},
                                           Misdeed{"exit 0", ErrorCode::kEngineCrashed, "status 0"},
                                           Misdeed{"no memory", ErrorCode::kEngineOutOfMemory, "no memory"},
                                           Misdeed{"garbage", ErrorCode::kEngineCrashed, "no message"},
                                           Misdeed{"garbage inside", ErrorCode::kEngineCrashed, "no message"},
                                           Misdeed{"half a message", ErrorCode::kEngineCrashed, "status 0"},
                                           Misdeed{"too much", ErrorCode::kEngineCrashed, "no message"},
                                           Misdeed{"another's event", ErrorCode::kEngineCrashed, "no message"},
                                           Misdeed{"another's end", ErrorCode::kEngineCrashed, "no message"},
                                           Misdeed{"second hello", ErrorCode::kEngineCrashed, "no message"}),
                         [](const auto& misdeed) {
                           std::string name;
                           for (const char letter : std::string(misdeed.param.name)) {
                             if (std::isalnum(static_cast<unsigned char>(letter)) != 0) name += letter;
                           }
                           return name;
                         });

TEST_F(ProcessEngineTest, AnotherVersionIsRefused) {
  ProcessEngine engine(worker("another version", 1));
  const Error error = failure(run(engine, model("demo")));
  EXPECT_EQ(error.code, ErrorCode::kEngineCrashed);
  EXPECT_NE(error.reason.find("version"), std::string::npos) << error.reason;
  run(engine, model("demo"));
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

TEST_F(ProcessEngineTest, AMissingProgramIsNamed) {
  ProcessEngine engine({"/nowhere/winnow-engine"});
  const Error error = failure(run(engine, model("demo")));
  EXPECT_EQ(error.code, ErrorCode::kEngineCrashed);
  EXPECT_EQ(error.subject, "/nowhere/winnow-engine");
}

// As in an installation from which a library was removed.
TEST_F(ProcessEngineTest, AMissingLibraryIsNamed) {
  std::ifstream whole(SCRIPTED_WORKER, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  const std::string there = "libstdc++.so.6", gone = "libabsent.so.6";
  std::size_t named = 0;
  for (std::size_t at = bytes.find(there); at != std::string::npos; at = bytes.find(there, at + 1), ++named)
    bytes.replace(at, there.size(), gone);
  ASSERT_GT(named, 0U);
  scratch_.write("winnow-engine", bytes);
  std::filesystem::permissions(scratch_.file("winnow-engine"), std::filesystem::perms::owner_all);
  ProcessEngine engine({scratch_.file("winnow-engine")});
  const Error error = failure(run(engine, model("demo")));
  EXPECT_EQ(error.code, ErrorCode::kEngineCrashed);
  EXPECT_EQ(error.subject, gone) << error.reason;
}

TEST_F(ProcessEngineTest, InterruptsArrive) {
  ProcessEngine engine(worker());
  for (const Interrupt kind : {Interrupt::kStop, Interrupt::kCancel}) {
    InterruptSource source;
    EventRecorder events;
    events.hook = [&](const Event& event) {
      if (std::holds_alternative<TextDelta>(event.body)) kind == Interrupt::kStop ? source.request_stop() : source.request_cancel();
    };
    engine.handle({++last_id_, question("wait")}, events, source.token());
    ASSERT_TRUE(events.last<Finished>());
    EXPECT_EQ(events.last<Finished>()->reason, StopReason::kInterrupted);
    EXPECT_EQ(events.last<Finished>()->restored, kind == Interrupt::kCancel);
    EXPECT_EQ(events.last<Finished>()->answer, "so far");
  }
}

TEST_F(ProcessEngineTest, OneThatDoesNotAnswerAnInterruptIsEnded) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  InterruptSource source;
  source.request_stop();
  run(engine, question("red?"), source.token());
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (std::holds_alternative<Progress>(event.body)) source.request_stop();
  };
  source = {};
  engine.handle({++last_id_, question("hang")}, events, source.token());
  EXPECT_EQ(failure(events).code, ErrorCode::kEngineSilent);
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

TEST_F(ProcessEngineTest, OneThatDoesNotBeginIsEnded) {
  EngineProcessSettings settings = worker("hang", 1);
  settings.startPatience = milliseconds(2'000);
  ProcessEngine engine(settings);
  EXPECT_EQ(failure(run(engine, model("demo"))).code, ErrorCode::kEngineSilent);
  run(engine, model("demo"));
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

TEST_F(ProcessEngineTest, TheModelIsLoadedAgainBeforeTheNextRequest) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  run(engine, question("crash"));
  const EventRecorder events = run(engine, question("red?"));
  EXPECT_EQ(answer(events), "You asked: red?");
  ASSERT_FALSE(events.events.empty());
  const auto* progress = std::get_if<Progress>(&events.events.front().body);
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->phase, Phase::kLoadWeights);
  EXPECT_FALSE(events.last<ModelLoaded>());
  EXPECT_TRUE(run(engine, question("blue?")).all<Progress>().empty() ||
              run(engine, question("blue?")).all<Progress>().front().phase != Phase::kLoadWeights)
      << "only once";
}

TEST_F(ProcessEngineTest, AnotherModelOfTheSameNameIsNotTakenForIt) {
  ProcessEngine engine(worker());
  run(engine, model("changing"));
  run(engine, question("crash"));
  for (int i = 0; i < 2; ++i) {
    const Error error = failure(run(engine, question("red?")));
    EXPECT_EQ(error.code, ErrorCode::kModelFileChanged);
    EXPECT_EQ(error.subject, "/models/changing");
  }
  run(engine, model("changing"));
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

TEST_F(ProcessEngineTest, AModelAtWhichItEndsLeavesTheOneOfBefore) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  EXPECT_EQ(failure(run(engine, model("crash"))).code, ErrorCode::kEngineCrashed);
  const EventRecorder events = run(engine, question("red?"));
  EXPECT_EQ(answer(events), "You asked: red?");
  EXPECT_EQ(events.all<Progress>().front().phase, Phase::kLoadWeights);
}

TEST_F(ProcessEngineTest, OneThatEndedBetweenRequestsIsTold) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  const auto end = [&] {
    ::kill(engine.pid(), SIGKILL);
    siginfo_t gone{};
    ::waitid(P_PID, static_cast<id_t>(engine.pid()), &gone, WEXITED | WNOWAIT);
  };
  end();
  const Error error = failure(run(engine, question("red?")));
  EXPECT_EQ(error.code, ErrorCode::kEngineCrashed);
  EXPECT_NE(error.reason.find("signal 9"), std::string::npos) << error.reason;
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
  end();
  EXPECT_TRUE(run(engine, model("demo")).last<ModelLoaded>()) << "a new model asks for nothing that was lost";
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
  end();
  EventRecorder silent;
  engine.handle({++last_id_, ForgetConversation{1}}, silent, {});
  EXPECT_TRUE(silent.events.empty());
  EXPECT_LT(engine.pid(), 0) << "nothing is started in order to forget";
  EXPECT_EQ(failure(run(engine, SaveConversation{1, "/tmp/none", "m"})).code, ErrorCode::kEngineCrashed);
}

// A CUDA error stays with its process.
TEST_F(ProcessEngineTest, OneWhoseGpuHasFailedIsStartedAnew) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  const pid_t before = engine.pid();
  EXPECT_EQ(failure(run(engine, question("GPU fault"))).code, ErrorCode::kDeviceFailed);
  const EventRecorder events = run(engine, question("red?"));
  EXPECT_EQ(answer(events), "You asked: red?");
  EXPECT_NE(engine.pid(), before);
  EXPECT_EQ(events.all<Progress>().front().phase, Phase::kLoadWeights);
}

TEST_F(ProcessEngineTest, OneThatEndsBehindTheLastEventIsToldToTheNextRequest) {
  ProcessEngine engine(worker());
  EXPECT_EQ(answer(run(engine, question("crash after the end"))), "");
  EXPECT_EQ(failure(run(engine, question("red?"))).code, ErrorCode::kEngineCrashed);
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

// A terminal whose reader has gone throws out of its sink.
TEST_F(ProcessEngineTest, ASinkThatThrowsEndsTheRequest) {
  ProcessEngine engine(worker());
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (std::holds_alternative<TextDelta>(event.body)) throw Exception(ErrorCode::kFileUnreadable, "standard output", "Broken pipe");
  };
  engine.handle({++last_id_, question("wait")}, events, {});
  EXPECT_EQ(failure(events).subject, "standard output");
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

class Retrying : public ProcessEngineTest {
 protected:
  std::unique_ptr<RetryingEngine> retrying(std::size_t times) {
    return std::make_unique<RetryingEngine>(std::make_unique<ProcessEngine>(worker("", times)));
  }
};

TEST_F(Retrying, AsksOnceMoreAndSilently) {
  const auto engine = retrying(1);
  run(*engine, model("demo"));
  const EventRecorder events = run(*engine, question("crash"));
  EXPECT_EQ(answer(events), "You asked: crash");
  EXPECT_EQ(events.all<MediaSampled>().size(), 1U);
  const std::vector<Progress> progress = events.all<Progress>();
  const auto again = std::find_if(progress.begin(), progress.end(), [](const Progress& at) { return at.phase == Phase::kLoadWeights; });
  ASSERT_NE(again, progress.end());
  EXPECT_EQ(again->total, 0U) << "said at once, before the other process is there";
  EXPECT_EQ(run(*engine, Plan{question("crash")}).all<Planned>().size(), 1U);
}

TEST_F(Retrying, NeverAThirdTime) {
  const auto engine = retrying(3);
  run(*engine, model("demo"));
  EXPECT_EQ(failure(run(*engine, question("crash"))).code, ErrorCode::kEngineCrashed);
  EXPECT_EQ(timesLeft(), 1U);
  EXPECT_EQ(answer(run(*engine, question("crash"))), "You asked: crash") << "asked again it is another request";
}

TEST_F(Retrying, NotWhatHasBeenSaidNorAModel) {
  const auto engine = retrying(1000);
  run(*engine, model("demo"));
  for (const RequestBody& body : {RequestBody(question("crash after text")), RequestBody(model("crash"))}) {
    const std::size_t before = timesLeft();
    failure(run(*engine, body));
    EXPECT_EQ(timesLeft(), before - 1);
  }
}

// Hears one line up to second 30, and ends with the fault; asked again it hears another.
class BrokenHearing final : public Engine {
 public:
  BrokenHearing(ErrorCode fault, std::size_t times) : fault_(fault), times_(times) {}
  void handle(const Request& request, EventSink& sink, const InterruptToken& /*interrupt*/) override {
    asked.push_back(std::get<Transcribe>(request.body));
    const TimedLine line{asked.back().heard_s, asked.back().heard_s + 1.0, "Line " + std::to_string(asked.size())};
    sink.on_event({request.id, LinesHeard{60.0, asked.back().heard_s + 30.0, 60.0, {line}, "de"}});
    if (asked.size() <= times_) return sink.on_event({request.id, Failed{{fault_, "", "killed"}}});
    Transcribed done;
    done.lines = asked.back().lines;
    done.lines.push_back(line);
    sink.on_event({request.id, done});
  }
  std::vector<Transcribe> asked;

 private:
  const ErrorCode fault_;
  const std::size_t times_;
};

TEST_F(Retrying, WhatIsHeardGoesOnBehindTheLinesThatWereTold) {
  for (const ErrorCode fault : {ErrorCode::kEngineCrashed, ErrorCode::kMediaCrashed}) {
    auto hearing = std::make_unique<BrokenHearing>(fault, 1);
    const std::vector<Transcribe>& asked = hearing->asked;
    RetryingEngine engine(std::move(hearing));
    Transcribe sound;
    sound.path = "/sounds/hour.wav";
    const EventRecorder events = run(engine, sound);
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[1].path, sound.path);
    EXPECT_EQ(asked[1].heard_s, 30.0);
    EXPECT_EQ(asked[1].language, "de");
    EXPECT_EQ(asked[1].lines, (std::vector<TimedLine>{{0.0, 1.0, "Line 1"}}));
    const std::vector<LinesHeard> told = events.all<LinesHeard>();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1].lines, (std::vector<TimedLine>{{30.0, 31.0, "Line 2"}})) << "each is told once";
    EXPECT_EQ(events.last<Transcribed>().value_or(Transcribed{}).lines.size(), 2U);
  }
  RetryingEngine engine(std::make_unique<BrokenHearing>(ErrorCode::kMediaCrashed, 2));
  EXPECT_EQ(failure(run(engine, Transcribe{})).code, ErrorCode::kMediaCrashed) << "never a third time";
}

WatchClip clip(bool begins) {
  Turn turn = question("");
  turn.messages.back().items = {MediaItem{{"/dev/video0", MediaKind::kVideo, {}}}};
  return {std::move(turn), begins, {{0.0, 0.0, {1, 1, {0, 0, 0}}}}};
}

// Its frames are in no file: another engine would answer about something else.
TEST_F(Retrying, NotAboutASourceThatIsWatched) {
  const auto engine = retrying(1);
  run(*engine, model("demo"));
  EXPECT_EQ(run(*engine, clip(true)).all<Watched>().size(), 1U);
  EXPECT_EQ(failure(run(*engine, question("crash"))).code, ErrorCode::kEngineCrashed);
  EXPECT_EQ(answer(run(*engine, question("crash"))), "You asked: crash") << "what was seen is over, and that was told";
}

TEST_F(Retrying, AWatchedSourceIsToldThatItsEngineHasEnded) {
  const auto engine = retrying(1);
  run(*engine, model("demo"));
  run(*engine, clip(true));
  Turn other = question("crash");
  other.conversation = 2;
  EXPECT_EQ(answer(run(*engine, other)), "You asked: crash");
  EXPECT_EQ(run(*engine, Plan{question("red?")}).all<Planned>().size(), 1U);
  EXPECT_EQ(failure(run(*engine, clip(false))).code, ErrorCode::kEngineCrashed);
  EXPECT_EQ(run(*engine, clip(true)).all<Watched>().size(), 1U);
  EXPECT_EQ(answer(run(*engine, question("red?"))), "You asked: red?");
}

TEST_F(Retrying, NotWhatWasStopped) {
  const auto engine = retrying(1000);
  run(*engine, model("demo"));
  const std::size_t before = timesLeft();
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event&) { source.request_stop(); };
  engine->handle({++last_id_, question("hang")}, events, source.token());
  EXPECT_EQ(failure(events).code, ErrorCode::kEngineSilent);
  EXPECT_EQ(timesLeft(), before - 1);
}

Turn other(ConversationId conversation, const std::string& text) {
  Turn turn = question(text);
  turn.conversation = conversation;
  return turn;
}

class Together : public Retrying {
 protected:
  static std::size_t ends(const QueuedRequest& queued) {
    return static_cast<std::size_t>(std::ranges::count_if(queued.events.events, [](const Event& event) { return ends_request(event); }));
  }
};

TEST_F(Together, EachHasItsOwnAnswer) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  AskedQueue queue;
  queue.add(10, other(1, "gather 4"));
  queue.add(11, other(2, "red?"));
  queue.add(12, ForgetConversation{3});
  queue.add(13, other(4, "blue?"));
  queue.add(14, model("demo"));
  queue.run(engine);
  EXPECT_EQ(answer(queue.all[0].events), "You asked: gather 4");
  EXPECT_EQ(answer(queue.all[1].events), "You asked: red?");
  EXPECT_TRUE(queue.all[2].events.events.empty());
  EXPECT_EQ(answer(queue.all[3].events), "You asked: blue?");
  EXPECT_TRUE(queue.all[4].events.last<ModelLoaded>()) << "by itself";
  for (const QueuedRequest& each : queue.all) {
    for (const Event& event : each.events.events) EXPECT_EQ(event.id, each.request.id);
  }
}

TEST_F(Together, AllFailAtTheEndOfTheirProcessAndTheNextIsAnswered) {
  ProcessEngine engine(worker("", 1));
  run(engine, model("demo"));
  AskedQueue queue;
  queue.add(10, other(1, "gather 3"));
  queue.add(11, other(2, "crash after text"));
  queue.add(12, other(3, "red?"));
  queue.run(engine);
  for (const QueuedRequest& each : queue.all) {
    EXPECT_EQ(ends(each), 1U);
    EXPECT_EQ(failure(each.events).code, ErrorCode::kEngineCrashed);
  }
  EXPECT_EQ(queue.all[1].events.streamed(), "so far");
  EXPECT_EQ(answer(run(engine, question("red?"))), "You asked: red?");
}

TEST_F(Together, EachHasItsSecondTryUnlessItHasSpoken) {
  const auto engine = retrying(1);
  run(*engine, model("demo"));
  AskedQueue queue;
  queue.add(10, other(1, "gather 4"));
  queue.add(11, other(2, "blue?"));
  queue.add(12, other(3, "crash"));
  queue.add(13, other(4, "red?"));
  queue.run(*engine);
  EXPECT_EQ(answer(queue.all[0].events), "You asked: gather 4");
  EXPECT_EQ(answer(queue.all[1].events), "You asked: blue?") << "had ended before";
  EXPECT_EQ(answer(queue.all[2].events), "You asked: crash");
  EXPECT_EQ(answer(queue.all[3].events), "You asked: red?");
  for (const QueuedRequest& each : queue.all) EXPECT_EQ(ends(each), 1U) << each.request.id;
  EXPECT_EQ(queue.all[2].events.all<MediaSampled>().size(), 1U);
}

TEST_F(Together, AnInterruptIsOfOneOfThem) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  AskedQueue queue;
  queue.add(10, other(1, "gather 3"));
  QueuedRequest& waits = queue.add(11, other(2, "wait"));
  QueuedRequest& behind = queue.add(12, other(3, "red?"));
  waits.events.hook = [&](const Event& event) {
    if (std::holds_alternative<TextDelta>(event.body)) waits.interrupt.request_stop();
  };
  queue.run(engine);
  EXPECT_EQ(waits.events.last<Finished>().value().reason, StopReason::kInterrupted);
  EXPECT_EQ(answer(behind.events), "You asked: red?");
  EXPECT_EQ(answer(queue.all[0].events), "You asked: gather 3");
}

// One that has not begun may wait longer for its turn than a running one may take to stop.
TEST_F(Together, OneThatIsCancelledBeforeItBeginsHoldsNobodyUp) {
  ProcessEngine engine(worker());
  run(engine, model("demo"));
  AskedQueue queue;
  QueuedRequest& first = queue.add(10, other(1, "wait"));
  QueuedRequest& second = queue.add(11, other(2, "red?"));
  std::thread later;
  first.events.hook = [&](const Event& event) {
    if (!std::holds_alternative<TextDelta>(event.body)) return;
    second.interrupt.request_cancel();
    later = std::thread([&] {
      std::this_thread::sleep_for(milliseconds(400));  // more than the worker's patience
      first.interrupt.request_stop();
    });
  };
  queue.run(engine);
  later.join();
  EXPECT_EQ(answer(first.events), "so far");
  EXPECT_EQ(ends(second), 1U);
  EXPECT_FALSE(second.events.last<Failed>());
}

TEST(EngineProcess, LeavesNoOrphanWhenItsProgramIsKilled) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans come here
  for (const char* const during : {"wait", "hang", "nothing"}) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t program = ::fork();
    if (program == 0) {
      ProcessEngine engine({SCRIPTED_WORKER});
      EventRecorder events;
      events.hook = [&](const Event&) {
        const pid_t worker = engine.pid();
        [[maybe_unused]] const auto written = ::write(told[1], &worker, sizeof worker);
      };
      engine.handle({1, question(during)}, events, {});
      while (true) ::pause();
    }
    pid_t worker = 0;
    ASSERT_EQ(::read(told[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
    ::kill(program, SIGKILL);
    ::waitpid(program, nullptr, 0);
    int status = 0;
    EXPECT_EQ(::waitpid(worker, &status, 0), worker) << "hangs where it stays";
    EXPECT_TRUE(WIFEXITED(status)) << during;
    ::close(told[0]);
    ::close(told[1]);
  }
}

// Whoever takes events slowly holds the engine back: nothing is gathered on the way, and an interrupt does not stand behind it.
TEST_F(ProcessEngineTest, AnEngineThatFloodsIsHeldBackAndHearsStop) {
  ProcessEngine engine(worker());
  class SlowSink final : public EventSink {
   public:
    void on_event(Event event) override {
      last = std::move(event);
      if (!std::holds_alternative<TextDelta>(last.body)) return;
      if (++deltas == 1) std::this_thread::sleep_for(milliseconds(300));  // the engine could send gigabytes meanwhile
      if (deltas == 1) source.request_stop();
    }
    Event last;
    int deltas = 0;
    InterruptSource source;
  } sink;
  engine.handle({1, question("flood")}, sink, sink.source.token());
  ASSERT_TRUE(std::holds_alternative<Finished>(sink.last.body));
  EXPECT_EQ(std::get<Finished>(sink.last.body).reason, StopReason::kInterrupted);
  EXPECT_LT(sink.deltas, 200) << "2 MB: what the socket holds, and a little";
}

}  // namespace
}  // namespace winnow::app
