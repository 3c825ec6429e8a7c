// A GPU that fails, as CUDA does: every later call of that process fails, too. The engine is started anew, and the next question is
// answered.
#include <unistd.h>

#include <fstream>

#include "tests/app/engine/program/running_engine.h"

namespace winnow::testing {
namespace {

class FailedGpu : public RunningEngine {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("EMULATED_GPU_FAULT"), nullptr) << "start these tests with ctest";
    load(demo_model(Device::kCuda));
  }
  void TearDown() override { std::remove(std::getenv("EMULATED_GPU_FAULT")); }

  // The next launch fails. words: as a library beside libtorch's kernels would say it.
  static void break_gpu(const std::string& words = {}) { std::ofstream(std::getenv("EMULATED_GPU_FAULT")) << words; }
};

TEST_F(FailedGpu, IsAskedOnceMoreInAnotherProcess) {
  const Turn turn = question("What happens in this video?", 8);
  const std::string answer = said(ask(turn));
  const pid_t before = pid();
  for (const char* const words : {"", "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasGemmEx"}) {
    break_gpu(words);
    EXPECT_EQ(said(ask(turn)), answer) << "nothing had been said";
    EXPECT_NE(pid(), before);
  }
}

TEST_F(FailedGpu, KeepsWhatWasSaidAndAnswersTheNextQuestion) {
  const Turn turn = question("Describe the video.", 8);
  const std::string answer = said(ask(turn));
  const pid_t before = pid();
  bool broken = false;
  const EventRecorder events = ask(turn, [&](const Event& event) {
    if (std::holds_alternative<TextDelta>(event.body) && !std::exchange(broken, true)) break_gpu();
  });
  EXPECT_EQ(failure(events), ErrorCode::kDeviceFailed) << said(events);
  EXPECT_FALSE(events.streamed().empty());
  EXPECT_LT(pid(), 0) << "it could only say the same again";
  EXPECT_EQ(said(ask(turn)), answer);
  EXPECT_NE(pid(), before);
}

TEST_F(FailedGpu, AtLoadingLeavesTheModelOfBefore) {
  const Turn turn = question("What happens in this video?", 8);
  const std::string answer = said(ask(turn));
  break_gpu();
  EXPECT_EQ(failure(run(demo_model(Device::kCuda))), ErrorCode::kDeviceFailed);
  EXPECT_EQ(said(ask(turn)), answer);
}

}  // namespace
}  // namespace winnow::testing
