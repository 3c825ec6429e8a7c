// What models are said to need, against what real ones took, and where that fits.
#include "app/library/models/memory_need.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

constexpr qint64 kGibibyte = qint64{1} << 30;

// Against what real files took in one turn of 512 tokens (peak resident): the sum is not below it, nor half as much again.
TEST(MemoryNeed, IsWhatRealFilesTook) {
  constexpr qint64 kMb = 1'000'000;
  struct Measured {
    const char* name;
    qint64 file, kvPerToken, took;
  };
  constexpr Measured kMeasured[] = {{"SmolLM2 135M Q4_1", 98, 23'040, 352},
                                    {"Gemma 3 270M Q4_K_M", 253, 18'432, 549},
                                    {"Qwen2.5-Coder 0.5B Q4_K_M", 491, 12'288, 868},
                                    {"Qwen2.5-Coder 1.5B Q4_K_M", 1117, 28'672, 1401}};
  for (const Measured& each : kMeasured) {
    const qint64 need = memoryNeed(each.file * kMb, each.kvPerToken, 528).total() / kMb;
    EXPECT_GE(need, each.took) << each.name;
    EXPECT_LE(need, each.took * 3 / 2) << each.name;
  }
}

TEST(MemoryNeed, CountsStatesOfAConversationAndOfItsFork) {
  ModelSummary model{.cache = {.kv_bytes_per_token = 64}, .weight_bytes = 1'000'000};
  const qint64 without = memoryNeed(model).total();
  model.cache.state_bytes = 19'000'000;
  EXPECT_EQ(memoryNeed(model).total(), without + 2 * 19'000'000);
}

TEST(ModelFit, OthersHaveRoomBeside) {
  const MemoryNeed need = memoryNeed(6 * kGibibyte, 57'344, kUsualTokens);
  EXPECT_EQ(modelFit(need, {8 * kGibibyte}), ModelFit::kNowhere);
  EXPECT_EQ(modelFit(need, {16 * kGibibyte}), ModelFit::kMemory);
  EXPECT_EQ(modelFit(need, {0}), ModelFit::kMemory) << "nobody knows how much there is";
}

// 4 GiB of weights and 1 of cache are 5 on the CPU beside a program of half a GiB, and 6 on a GPU with one to work in.
TEST(ModelFit, AGpuTakesWeightsCacheAndRoomToWorkIn) {
  const MemoryNeed need{4 * kGibibyte, kGibibyte, kGibibyte / 2, 0};
  EXPECT_EQ(need.total(), 5 * kGibibyte + kGibibyte / 2);
  EXPECT_EQ(need.totalOnGpu(), 6 * kGibibyte);
  const MachineMemory machine{16 * kGibibyte, 0};
  EXPECT_EQ(modelFit(need, machine), ModelFit::kMemory);
  EXPECT_EQ(modelFit(need, {machine.bytes, 8 * kGibibyte}), ModelFit::kGpu);
  // 6 GiB and a tenth for others: 6.6 are too few by 0.06, 6.7 have 0.03 left.
  EXPECT_EQ(modelFit(need, {machine.bytes, 66 * kGibibyte / 10}), ModelFit::kMemoryOnly);
  EXPECT_EQ(modelFit(need, {machine.bytes, 67 * kGibibyte / 10}), ModelFit::kGpu);
  EXPECT_EQ(modelFit(need, {4 * kGibibyte, 4 * kGibibyte}), ModelFit::kNowhere);
  EXPECT_EQ(modelFit(need, {4 * kGibibyte, 24 * kGibibyte}), ModelFit::kGpu)
      << "its weights are read through the machine's memory, not held there";
  const MemoryNeed withStates{4 * kGibibyte, kGibibyte, kGibibyte / 2, kGibibyte};
  EXPECT_EQ(modelFit(withStates, {machine.bytes, 67 * kGibibyte / 10}), ModelFit::kMemoryOnly);
}

TEST(ModelFit, FilesAloneAreMeasuredByTheLargerMemory) {
  EXPECT_EQ((MachineMemory{16 * kGibibyte, 24 * kGibibyte}).largest(), 24 * kGibibyte);
  EXPECT_EQ((MachineMemory{64 * kGibibyte, 24 * kGibibyte}).largest(), 64 * kGibibyte);
  EXPECT_EQ((MachineMemory{0, 24 * kGibibyte}).largest(), 0) << "nobody knows how much there is";
}

}  // namespace
}  // namespace winnow::app
