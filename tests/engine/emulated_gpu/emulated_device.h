// What tests on the emulated GPU share: it opened as the engine opens it, its counts, an engine on it beside one on the CPU.
//
// ctest names plug-in and driver in the environment (winnow_on_emulated_gpu()); started without it, the tests fail with that sentence.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/api/engine.h"
#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "tests/engine/emulated_gpu/emulated_gpu.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"

namespace winnow::testing {

inline const at::Device kEmulatedGpu(at::kCUDA, 0);

class OnEmulatedGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      ASSERT_EQ(open_cuda().name, "emulated GPU") << "start these tests with ctest";
    } catch (const Exception& problem) {
      FAIL() << problem.what() << "; start these tests with ctest";
    }
    const auto counts = reinterpret_cast<EmulatedGpuCounts* (*)()>(dlsym(RTLD_DEFAULT, kEmulatedGpuCountsSymbol));
    ASSERT_NE(counts, nullptr);
    counts_ = counts();
    at::manual_seed(17);
  }

  // What `work` costs.
  template <class Work>
  EmulatedGpuCounts cost_of(const Work& work) const {
    const EmulatedGpuCounts before = *counts_;
    work();
    return *counts_ - before;
  }

 private:
  const EmulatedGpuCounts* counts_ = nullptr;
};

// An engine with a golden folder's model on one device.
class EngineOn {
 public:
  EngineOn(Device device, const std::string& folder, WeightFormat format = WeightFormat::kFp32)
      : EngineOn(device, folder, format, {}, {}) {}
  // model: another one for the folder's questions; empty: the folder's own. projector: its mmproj file.
  EngineOn(Device device, const std::string& folder, WeightFormat format, const std::string& model, const std::string& projector)
      : golden_(folder) {
    LoadModel load;
    load.folder = model.empty() ? golden_.model_folder() : model;
    load.projector = projector;
    load.format = format;
    load.device = device;
    const EventRecorder events = run(load);
    EXPECT_TRUE(events.last<ModelLoaded>()) << reason(events);
    if (events.last<ModelLoaded>()) info = events.last<ModelLoaded>()->info;
    EXPECT_EQ(info.device, device == Device::kCpu ? "cpu" : "cuda");
  }

  EventRecorder run(const RequestBody& body) {
    EventRecorder events;
    engine_->handle({2, body}, events, InterruptToken());
    return events;
  }

  // The golden case's question.
  Message question(const std::string& name) { return golden_.message(name, opener_); }
  std::vector<Message> thread(const std::string& name) { return golden_.thread(name, opener_); }
  const GoldenFolder& golden() const { return golden_; }

  static std::string reason(const EventRecorder& events) {
    return events.last<Failed>() ? events.last<Failed>()->error.subject + ": " + events.last<Failed>()->error.reason : "no outcome";
  }

  ModelInfo info;

 private:
  GoldenFolder golden_;
  MemoryMediaOpener opener_;
  std::unique_ptr<Engine> engine_ = make_engine(&opener_);
};

}  // namespace winnow::testing
