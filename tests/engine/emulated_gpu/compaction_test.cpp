// A layer that is compacted on a GPU keeps what it keeps on the CPU, by one launch, and its plan's bytes are those that it takes.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/engine/emulated_gpu/equal_layers.h"
#include "tests/support/kv_shape.h"
#include "tests/support/measured_options.h"

namespace winnow::testing {
namespace {

class CompactionOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  static constexpr std::int64_t kHeads = 4;

  static KvShape shape(std::int64_t head_dim, at::ScalarType dtype, at::Device device) {
    KvShape shape = test_support::kv_shape(2, kHeads, head_dim);
    shape.dtype = dtype;
    shape.device = device;
    return shape;
  }

  static void append(KvCache& cpu, KvCache& gpu, std::int64_t tokens) {
    const at::Tensor both = at::randn({2, kHeads, tokens, cpu.shape().head_dim}).to(cpu.shape().dtype);
    const at::Tensor moved = both.to(kEmulatedGpu);
    std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
    std::iota(original.begin(), original.end(), static_cast<std::int32_t>(cpu.slots(LayerId(1), KvHead(0))));
    cpu.append(LayerId(1), both[0], both[1], original);
    gpu.append(LayerId(1), moved[0], moved[1], original);
  }

  c10::InferenceMode inference_;
};

// One head keeps all, one nothing, one its first slots and one slots of everywhere.
LayerPlan some_plan(std::int32_t tokens, std::mt19937& random) {
  LayerPlan plan;
  plan.kept.resize(4);
  std::iota(plan.kept[0].begin(), plan.kept[0].end(), 0);
  for (std::int32_t row = 0; row < tokens; ++row) {
    plan.kept[0].push_back(row);
    if (row < tokens / 2) plan.kept[2].push_back(row);
    if (random() % 3 == 0) plan.kept[3].push_back(row);
  }
  std::ranges::shuffle(plan.kept, random);
  return plan;
}

TEST_F(CompactionOnEmulatedGpu, KeepsWhatTheCpuKeepsAndLeavesForksAlone) {
  std::mt19937 random(4);
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t head_dim : {3, 64}) {
      KvCache cpu(shape(head_dim, dtype, at::kCPU));
      KvCache gpu(shape(head_dim, dtype, kEmulatedGpu));
      append(cpu, gpu, 70);
      for (const std::int64_t tokens : {1, 64, 300}) {
        append(cpu, gpu, tokens);
        const KvCache cpu_before = cpu.fork();
        const KvCache gpu_before = gpu.fork();
        const LayerPlan plan = some_plan(static_cast<std::int32_t>(tokens), random);
        cpu.compact(LayerId(1), tokens, plan);
        gpu.compact(LayerId(1), tokens, plan);
        expect_equal_layers(cpu, gpu, LayerId(1));
        expect_equal_layers(cpu_before, gpu_before, LayerId(1));
        append(cpu, gpu, 3);
        expect_equal_layers(cpu, gpu, LayerId(1));
      }
    }
  }
}

TEST_F(CompactionOnEmulatedGpu, IsOneLaunchForALayer) {
  KvCache cpu(shape(64, at::kFloat, at::kCPU));
  KvCache gpu(shape(64, at::kFloat, kEmulatedGpu));
  EmulatedGpuCounts cost = cost_of([&] { append(cpu, gpu, 1000); });
  EXPECT_EQ(cost.launches, 1);
  EXPECT_EQ(cost.copies_to_device, 2) << "the rows, and the table of blocks";
  EXPECT_EQ(cost.allocations, 4) << "for both, and 64 blocks of 32 KiB";
  std::mt19937 random(4);
  LayerPlan plan = some_plan(1000, random);
  cost = cost_of([&] { gpu.compact(LayerId(1), 1000, plan); });
  EXPECT_EQ(cost.launches, 1);
  EXPECT_EQ(cost.copies_to_device, 2) << "where kept slots come from, and the new table of blocks";
  EXPECT_EQ(cost.waits, 0);
  EXPECT_EQ(cost.allocations, 3) << "for both, and for the blocks of all heads";
  for (std::vector<std::int32_t>& kept : plan.kept) kept.clear();
  cost = cost_of([&] { gpu.compact_all(LayerId(1), plan); });
  EXPECT_EQ(cost.launches + cost.copies_to_device + cost.waits, 0) << "nothing stays";
  EXPECT_EQ(gpu.bytes_allocated(), 0);
}

TEST_F(CompactionOnEmulatedGpu, FreshBlocksOfAllHeadsAreThereBeforeTheOldOnesGo) {
  KvCache cpu(shape(64, at::kFloat, at::kCPU));
  KvCache gpu(shape(64, at::kFloat, kEmulatedGpu));
  append(cpu, gpu, 640);
  LayerPlan plan;
  for (std::int64_t head = 0; head < kHeads; ++head) plan.kept.push_back({0, 9, 500});
  const std::int64_t block = KvCache::kBlockSlots * gpu.shape().slot_bytes();
  cpu.compact(LayerId(1), 640, plan);
  gpu.compact(LayerId(1), 640, plan);
  EXPECT_EQ(cpu.bytes_peak(), (10 * kHeads + 1) * block);
  EXPECT_EQ(gpu.bytes_peak(), (10 * kHeads + kHeads) * block);
}

// Exactly where budgets are known before the prefill; else a block of every head at most, as on the CPU.
TEST_F(CompactionOnEmulatedGpu, ItsPeakIsForeseen) {
  EngineOn gpu(Device::kCuda, "gqa_tied");
  const std::set<std::string> known = {"snapkv", "h2o", "streaming-llm", "pyramidkv"};
  std::size_t exact = 0;
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    Turn turn;
    turn.conversation = 7;
    turn.messages = {gpu.question("image")};
    turn.recipe.method = method.name;
    turn.recipe.retention = method.name == "full" ? 1.0 : 0.3;
    turn.recipe.min_event_tokens = 0;
    turn.recipe = test_support::as_measured(turn.recipe, gpu.info.layers, gpu.info.kv_heads);
    turn.sampling.max_new_tokens = 2;
    gpu.run(ForgetConversation{turn.conversation});
    const EventRecorder said = gpu.run(Plan{turn});
    ASSERT_TRUE(said.last<Planned>()) << EngineOn::reason(said);
    const EventRecorder events = gpu.run(turn);
    ASSERT_TRUE(events.last<CacheReport>()) << EngineOn::reason(events);
    const std::int64_t off = std::abs(events.last<CacheReport>()->kv_bytes.peak - said.last<Planned>()->peak_bytes);
    EXPECT_LE(off, KvCache::kBlockSlots * gpu.info.kv_bytes_per_token);
    if (!known.contains(method.name)) continue;
    EXPECT_EQ(off, 0);
    ++exact;
  }
  EXPECT_EQ(exact, known.size());
}

}  // namespace
}  // namespace winnow::testing
