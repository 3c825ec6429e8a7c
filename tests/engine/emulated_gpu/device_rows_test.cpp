// Slots of a layer's heads, however many each has, are read and written on a GPU as on the CPU, by one launch for all of them.
#include <numeric>
#include <utility>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/engine/emulated_gpu/equal_layers.h"
#include "tests/support/kv_shape.h"

namespace winnow::testing {
namespace {

constexpr std::int64_t kHeads = 4;

class DeviceRows : public OnEmulatedGpu {
 protected:
  struct Both {
    KvCache cpu;
    KvCache gpu;
  };

  // Head i has lost every (i + 2)nd slot.
  static Both ragged(std::int64_t head_dim, at::ScalarType dtype) {
    KvShape shape = test_support::kv_shape(2, kHeads, head_dim);
    shape.dtype = dtype;
    KvShape there = shape;
    there.device = kEmulatedGpu;
    Both both{KvCache(shape), KvCache(there)};
    constexpr std::int32_t kTokens = 333;
    const at::Tensor rows = at::randn({2, kHeads, kTokens, head_dim}).to(dtype);
    const at::Tensor moved = rows.to(kEmulatedGpu);
    std::vector<std::int32_t> original(kTokens);
    std::iota(original.begin(), original.end(), 0);
    both.cpu.append(LayerId(1), rows[0], rows[1], original);
    both.gpu.append(LayerId(1), moved[0], moved[1], original);
    LayerPlan plan;
    plan.kept.resize(kHeads);
    for (std::size_t head = 0; head < plan.kept.size(); ++head) {
      for (std::int32_t slot = 0; slot < kTokens; ++slot) {
        if (static_cast<std::size_t>(slot) % (head + 2) != 0) plan.kept[head].push_back(slot);
      }
    }
    both.cpu.compact_all(LayerId(1), plan);
    both.gpu.compact_all(LayerId(1), plan);
    return both;
  }

  c10::InferenceMode inference_;
};

TEST_F(DeviceRows, TheLastSlotsAreReadAndWrittenByALaunchEach) {
  const std::vector<std::int64_t> counts = {100, 0, 64, 201};
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t head_dim : {3, 64}) {
      Both both = ragged(head_dim, dtype);
      const KvCache cpu_before = both.cpu.fork();
      const KvCache gpu_before = both.gpu.fork();
      const std::vector<SlotRows> here = WholeLayer::last(both.cpu, LayerId(1), counts);
      std::vector<SlotRows> there;
      EmulatedGpuCounts cost = cost_of([&] { there = WholeLayer::last(both.gpu, LayerId(1), counts); });
      EXPECT_EQ(cost.launches, 1);
      EXPECT_EQ(cost.copies_to_device, 1);
      EXPECT_EQ(cost.waits, 0);
      std::vector<SlotRows> changed;
      std::vector<SlotRows> changed_there;
      for (std::size_t head = 0; head < counts.size(); ++head) {
        EXPECT_TRUE(at::equal(there[head].keys.to(at::kCPU), here[head].keys)) << head;
        EXPECT_TRUE(at::equal(there[head].values.to(at::kCPU), here[head].values)) << head;
        changed.push_back({here[head].keys.to(at::kFloat) * 1.7, here[head].values.to(at::kFloat) + 0.3});
        changed_there.push_back({changed.back().keys.to(kEmulatedGpu), changed.back().values.to(kEmulatedGpu)});
      }
      WholeLayer::write_last(both.cpu, LayerId(1), changed);
      WholeLayer::write_last(both.gpu, LayerId(1), changed_there);
      expect_equal_layers(both.cpu, both.gpu, LayerId(1));
      expect_equal_layers(cpu_before, gpu_before, LayerId(1));
      cost = cost_of([&] { WholeLayer::write_last(both.gpu, LayerId(1), changed_there); });  // blocks are its own now
      EXPECT_LE(cost.launches, 5) << "heads put together, rounded, K and V, and moved";
      EXPECT_EQ(cost.copies_to_device, 1);
      EXPECT_EQ(cost.waits, 0);
      expect_equal_layers(both.cpu, both.gpu, LayerId(1));
    }
  }
}

// What a driver would wait for is not sent to it.
TEST_F(DeviceRows, TheOrderOfManySlotsIsMadeThere) {
  KvShape shape = test_support::kv_shape(2, kHeads, 4);
  KvCache cpu(shape);
  shape.device = kEmulatedGpu;
  KvCache gpu(shape);
  constexpr std::int32_t kTokens = 5000;
  const at::Tensor rows = at::randn({2, kHeads, kTokens, 4});
  const at::Tensor moved = rows.to(kEmulatedGpu);
  std::vector<std::int32_t> original(kTokens);
  std::iota(original.begin(), original.end(), 0);
  cpu.append(LayerId(1), rows[0], rows[1], original);
  gpu.append(LayerId(1), moved[0], moved[1], original);
  for (const auto& [counts, launches] :
       {std::pair(std::vector<std::int64_t>(kHeads, 4900), 3), std::pair(std::vector<std::int64_t>{5000, 4999, 4998, 4997}, 6)}) {
    std::vector<SlotRows> there;
    EmulatedGpuCounts cost = cost_of([&] { there = WholeLayer::last(gpu, LayerId(1), counts); });
    EXPECT_EQ(cost.launches, launches);
    EXPECT_EQ(cost.copies_to_device, 1);
    EXPECT_LE(cost.bytes_to_device, 1 << 16);
    EXPECT_EQ(cost.waits, 0);
    std::vector<SlotRows> here = WholeLayer::last(cpu, LayerId(1), counts);
    for (std::size_t head = 0; head < here.size(); ++head) {
      EXPECT_TRUE(at::equal(there[head].keys.to(at::kCPU), here[head].keys)) << head;
      here[head].keys = here[head].keys * 1.7;
      there[head].keys = there[head].keys * 1.7;
    }
    cost = cost_of([&] { WholeLayer::write_last(gpu, LayerId(1), there); });
    EXPECT_LE(cost.bytes_to_device, 1 << 16);
    WholeLayer::write_last(cpu, LayerId(1), here);
    expect_equal_layers(cpu, gpu, LayerId(1));
  }
}

TEST_F(DeviceRows, NothingIsReadOrWrittenWhereNoHeadIsAsked) {
  Both both = ragged(16, at::kFloat);
  const std::vector<std::int64_t> none(kHeads, 0);
  const EmulatedGpuCounts cost =
      cost_of([&] { WholeLayer::write_last(both.gpu, LayerId(1), WholeLayer::last(both.gpu, LayerId(1), none)); });
  EXPECT_EQ(cost.copies_to_device + cost.waits, 0);
  expect_equal_layers(both.cpu, both.gpu, LayerId(1));
}

// Also from what is its own: nothing is overwritten before it was read.
TEST_F(DeviceRows, AHeadIsAssignedByOneLaunch) {
  Both both = ragged(64, at::kBFloat16);
  for (const KvHead head : {KvHead(0), KvHead(3)}) {
    const std::span<const std::int32_t> of_head = both.cpu.original(LayerId(1), head);
    const std::vector<std::int32_t> original(of_head.rbegin(), of_head.rend());
    const auto assign = [&](KvCache& cache) {
      cache.assign(LayerId(1), head, cache.gather_keys(LayerId(1), head).flip(0), cache.gather_values(LayerId(1), head).flip(0), original);
    };
    assign(both.cpu);
    assign(both.gpu);
    expect_equal_layers(both.cpu, both.gpu, LayerId(1));
    const at::Tensor rows = at::randn({200, 64}).to(at::kBFloat16).to(kEmulatedGpu);
    std::vector<std::int32_t> two_hundred(200);
    std::iota(two_hundred.begin(), two_hundred.end(), 0);
    KvCache other = both.gpu.fork();
    const EmulatedGpuCounts cost = cost_of([&] { other.assign(LayerId(1), head, rows, rows, two_hundred); });
    EXPECT_EQ(cost.launches, 1);
    EXPECT_EQ(cost.copies_to_device, 1) << "the table of blocks";
    EXPECT_TRUE(at::equal(other.gather_keys(LayerId(1), head).to(at::kCPU), rows.to(at::kCPU)));
    expect_equal_layers(both.cpu, both.gpu, LayerId(1));
  }
}

}  // namespace
}  // namespace winnow::testing
