// Signals that come while a request runs, too late for it, or between two.
#include "app/programs/cli/interrupt_signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace winnow::cli {
namespace {

class Signals : public ::testing::TestWithParam<int> {
 protected:
  Signals() { forget_signals(); }
  ~Signals() override {
    forget_signals();
    std::signal(GetParam(), before_);
  }
  static ExitStatus status_of(int signal) { return signal == SIGTERM ? ExitStatus::kTerminated : ExitStatus::kInterrupted; }

 private:
  void (*const before_)(int) = std::signal(GetParam(), SIG_DFL);  // a test in the background is started with SIGINT ignored
};

TEST_P(Signals, TheFirstStopsAndTheSecondCancels) {
  InterruptSource source;
  const InterruptOnSignal on_signal(source);
  EXPECT_EQ(source.token().state(), Interrupt::kNone);
  std::raise(GetParam());
  EXPECT_EQ(source.token().state(), Interrupt::kStop);
  std::raise(GetParam());
  EXPECT_EQ(source.token().state(), Interrupt::kCancel);
}

// A signal behind the last word was swallowed: what followed was done all the same, and the program said 0.
TEST_P(Signals, OneThatComesTooLateStopsTheNextRequestAndIsTheStatus) {
  EXPECT_EQ(status_after_signals(ExitStatus::kAnswered), ExitStatus::kAnswered);
  {
    InterruptSource unheeded;
    const InterruptOnSignal on_signal(unheeded);
    std::raise(GetParam());
  }
  InterruptSource next;
  {
    const InterruptOnSignal on_signal(next);
    EXPECT_EQ(next.token().state(), Interrupt::kStop);
    std::raise(GetParam());
    EXPECT_EQ(next.token().state(), Interrupt::kCancel);
  }
  EXPECT_EQ(status_after_signals(ExitStatus::kAnswered), status_of(GetParam()));
  EXPECT_EQ(status_after_signals(ExitStatus::kInterrupted), status_of(GetParam()));
  EXPECT_EQ(status_after_signals(ExitStatus::kRefusedInput), ExitStatus::kRefusedInput) << "an error says more";
}

TEST_P(Signals, AreThoseOfBeforeAfterwards) {
  {
    InterruptSource source;
    const InterruptOnSignal on_signal(source);
  }
  struct sigaction now = {};
  sigaction(GetParam(), nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST_P(Signals, IgnoredAtTheStartStayIgnored) {
  const auto before = std::signal(GetParam(), SIG_IGN);
  InterruptSource source;
  {
    const InterruptOnSignal on_signal(source);
    std::raise(GetParam());
  }
  std::signal(GetParam(), before);
  EXPECT_EQ(source.token().state(), Interrupt::kNone);
  EXPECT_EQ(status_after_signals(ExitStatus::kAnswered), ExitStatus::kAnswered);
}

INSTANTIATE_TEST_SUITE_P(Both, Signals, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& info) { return info.param == SIGTERM ? "Sigterm" : "CtrlC"; });

// Of a chat: Ctrl+C was for the answer, SIGTERM is for the program.
TEST(ChatSignals, CtrlCIsForgottenAndSigtermStays) {
  const auto before = std::signal(SIGINT, SIG_DFL);
  forget_signals();
  InterruptSource source;
  {
    const InterruptOnSignal on_signal(source);
    std::raise(SIGINT);
  }
  forget_ctrl_c();
  EXPECT_FALSE(termination_requested());
  EXPECT_EQ(status_after_signals(ExitStatus::kAnswered), ExitStatus::kAnswered);
  {
    const InterruptOnSignal on_signal(source);
    std::raise(SIGTERM);
  }
  forget_ctrl_c();
  EXPECT_TRUE(termination_requested());
  EXPECT_EQ(status_after_signals(ExitStatus::kAnswered), ExitStatus::kTerminated);
  forget_signals();
  std::signal(SIGINT, before);
}

}  // namespace
}  // namespace winnow::cli
