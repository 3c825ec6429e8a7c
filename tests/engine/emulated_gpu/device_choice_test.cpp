// The GPU is taken where weights and a conversation's cache fit it; the emulated one has 8 GiB.
#include "engine/models/device_choice.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
const TensorFiles kNoWeights;

TEST(DeviceChoice, CountsTheCacheOfAConversation) {
  const ToldCache fits{100'000, kMiB / 2, 0};  // 4 GiB of 8,192 tokens, and one to work in
  EXPECT_TRUE(choose_device(Device::kAuto, WeightFormat::kAuto, kNoWeights, fits).device.is_cuda());
  const ToldCache too_large{100'000, kMiB, 0};
  const DeviceChoice choice = choose_device(Device::kAuto, WeightFormat::kAuto, kNoWeights, too_large);
  EXPECT_TRUE(choice.device.is_cpu());
  EXPECT_NE(choice.note.find("needs 9216 MiB with the cache of a conversation"), std::string::npos) << choice.note;
  const ToldCache short_context{4096, kMiB, 0};
  EXPECT_TRUE(choose_device(Device::kAuto, WeightFormat::kAuto, kNoWeights, short_context).device.is_cuda());
  const ToldCache states{4096, kMiB / 2, 3 * 1024 * kMiB};  // of the conversation and of its fork
  EXPECT_TRUE(choose_device(Device::kAuto, WeightFormat::kAuto, kNoWeights, states).device.is_cpu());
}

TEST(DeviceChoice, WhoAsksForTheGpuGetsIt) {
  const ToldCache too_large{100'000, kMiB, 0};
  EXPECT_TRUE(choose_device(Device::kCuda, WeightFormat::kAuto, kNoWeights, too_large).device.is_cuda());
  EXPECT_TRUE(choose_device(Device::kCpu, WeightFormat::kAuto, kNoWeights, {}).device.is_cpu());
}

}  // namespace
}  // namespace winnow
