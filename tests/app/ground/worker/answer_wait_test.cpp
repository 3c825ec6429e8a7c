#include "app/ground/worker/answer_wait.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

namespace winnow::app {
namespace {

using std::chrono::milliseconds;
using Clock = AnswerWait::Clock;

constexpr milliseconds kLong{60'000};

struct AnswerWaitTest : ::testing::Test {
  static std::array<int, 2> pair() {
    std::array<int, 2> both{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()), 0);
    return both;
  }
  AnswerWait wait(milliseconds reaction, Clock::time_point answer = Clock::time_point::max()) {
    return {ours, source.token(), [this](Interrupt state) { told.push_back(state); }, reaction, answer};
  }

  const std::array<int, 2> sockets = pair();
  WorkerChannel ours{OpenFile(sockets[0])};
  WorkerChannel theirs{OpenFile(sockets[1])};
  InterruptSource source;
  std::vector<Interrupt> told;
};

TEST_F(AnswerWaitTest, GivesTheMessage) {
  theirs.send(5, {});
  AnswerWait waiting = wait(kLong);
  EXPECT_EQ(waiting.next()->kind, 5U);
  EXPECT_TRUE(told.empty());
}

TEST_F(AnswerWaitTest, TellsEachStateOnceAndWaitsOn) {
  AnswerWait waiting = wait(kLong);
  std::thread person([&] {
    source.request_stop();
    std::this_thread::sleep_for(milliseconds(20));
    theirs.send(1, {});
  });
  EXPECT_EQ(waiting.next()->kind, 1U);
  person.join();
  EXPECT_EQ(told, std::vector{Interrupt::kStop});
  source.request_cancel();
  theirs.send(2, {});
  EXPECT_EQ(waiting.next()->kind, 2U);
  EXPECT_EQ(told, (std::vector{Interrupt::kStop, Interrupt::kCancel}));
}

TEST_F(AnswerWaitTest, AnInterruptThatChangesNothingEndsTheWait) {
  source.request_stop();
  AnswerWait waiting = wait(milliseconds(30));
  EXPECT_FALSE(waiting.next());
  EXPECT_EQ(waiting.told(), Interrupt::kStop);
}

TEST_F(AnswerWaitTest, AnAnswerHasItsOwnTime) {
  AnswerWait waiting = wait(kLong, Clock::now() + milliseconds(30));
  EXPECT_FALSE(waiting.next());
  EXPECT_EQ(waiting.told(), Interrupt::kNone);
}

TEST_F(AnswerWaitTest, WhoeverReadsSlowlyTakesNobodysTime) {
  ToldInterrupt interrupt(
      source.token(), [this](Interrupt state) { told.push_back(state); }, kLong);
  interrupt.allow(kLong);
  EXPECT_EQ(interrupt.latest(), Clock::time_point::max()) << "nothing was told";
  source.request_stop();
  interrupt.tellIfNew();
  EXPECT_EQ(told, std::vector{Interrupt::kStop});
  const Clock::time_point before = interrupt.latest();
  interrupt.allow(kLong);
  EXPECT_EQ(interrupt.latest(), before + kLong);
  interrupt.restart();
  EXPECT_LT(interrupt.latest(), before + kLong) << "it begins now";
}

}  // namespace
}  // namespace winnow::app
