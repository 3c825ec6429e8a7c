// For which caches a captured step serves the next token: one that has grown by a slot, one that has lost one for it, no other one.
#include "engine/models/decoder/device_step.h"

#include <cstdint>
#include <vector>

#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/support/kv_shape.h"

namespace winnow::testing {
namespace {

class CapturedSteps : public OnEmulatedGpu {
 protected:
  static constexpr std::int64_t kLayers = 2;

  static KvCache cache_of(std::int32_t slots) {
    KvShape shape = test_support::kv_shape(kLayers, 2, 8);
    shape.dtype = at::kFloat;
    shape.device = kEmulatedGpu;
    KvCache cache(shape);
    std::vector<std::int32_t> original(static_cast<std::size_t>(slots));
    for (std::int32_t i = 0; i < slots; ++i) original[static_cast<std::size_t>(i)] = i;
    const at::Tensor rows = at::zeros({2, slots, 8}, at::TensorOptions(kEmulatedGpu));
    for (LayerId layer{0}; layer < kLayers; ++layer) cache.append(layer, rows, rows, original);
    return cache;
  }

  static at::Tensor attend_nothing(const DeviceStep::Token&, KvCache*, const DeviceStep::Attend&) {
    return at::zeros({4}, at::TensorOptions(kEmulatedGpu));
  }

  // Whether the step was a captured one.
  bool step(KvCache& cache) {
    const NextToken token{1, next_, static_cast<std::int32_t>(next_)};
    ++next_;
    return cost_of([&] { step_.run(token, cache, DeviceStep::Rows::kOutputs); }).replays == 1;
  }

  static void lose_a_slot(KvCache& cache) {
    for (LayerId layer{0}; layer < kLayers; ++layer) {
      for (KvHead head{0}; head < 2; ++head) cache.evict(layer, head, 0);
    }
  }

  c10::InferenceMode inference_;
  DeviceStep step_{&CapturedSteps::attend_nothing, 1.0, kLayers, kEmulatedGpu, DeviceStep::Capture::kRepeatedSteps};
  std::int64_t next_ = 1000;
};

TEST_F(CapturedSteps, ServeACacheThatGrows) {
  KvCache cache = cache_of(10);
  EXPECT_FALSE(step(cache)) << "one alone is not worth it";
  const EmulatedGpuCounts cost = cost_of([&] {
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(step(cache));
  });
  EXPECT_EQ(cost.recordings, 1);
  EXPECT_EQ(cost.replays, 40);
  EXPECT_EQ(cache.slots(LayerId(1), KvHead(1)), 51);
}

TEST_F(CapturedSteps, ServeACacheThatLosesASlotForEach) {
  KvCache cache = cache_of(64);  // the token begins another block, which is dropped again
  step(cache);
  lose_a_slot(cache);
  const EmulatedGpuCounts cost = cost_of([&] {
    for (int i = 0; i < 300; ++i) {  // more tokens than a capture that grows has room for
      EXPECT_TRUE(step(cache));
      lose_a_slot(cache);
    }
  });
  EXPECT_EQ(cost.recordings, 1);
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), 64);
}

TEST_F(CapturedSteps, ServeLayersThatLoseASlotBesideOthersThatGrow) {
  KvCache cache = cache_of(20);
  step(cache);
  const EmulatedGpuCounts cost = cost_of([&] {
    for (int i = 0; i < 30; ++i) {
      EXPECT_TRUE(step(cache));
      for (KvHead head{0}; head < 2; ++head) cache.evict(LayerId(0), head, 3);
    }
  });
  EXPECT_EQ(cost.recordings, 1);
}

TEST_F(CapturedSteps, AreNotMadeForTwoCachesInTurn) {
  KvCache one = cache_of(10);
  KvCache other = cache_of(10);
  const EmulatedGpuCounts cost = cost_of([&] {
    for (int i = 0; i < 5; ++i) {
      EXPECT_FALSE(step(one));
      EXPECT_FALSE(step(other));
    }
  });
  EXPECT_EQ(cost.recordings, 0);
}

TEST_F(CapturedSteps, AreMadeAnewWhereHeadsPart) {
  KvCache cache = cache_of(30);
  step(cache);
  EXPECT_TRUE(step(cache));
  cache.evict(LayerId(1), KvHead(0), 2);
  const EmulatedGpuCounts cost = cost_of([&] {
    EXPECT_TRUE(step(cache)) << "as many slots as before the step, or one more";
    EXPECT_TRUE(step(cache));
  });
  EXPECT_EQ(cost.recordings, 1) << "for heads of other lengths";
  lose_a_slot(cache);
  lose_a_slot(cache);
  EXPECT_FALSE(step(cache)) << "something else happened";
}

}  // namespace
}  // namespace winnow::testing
