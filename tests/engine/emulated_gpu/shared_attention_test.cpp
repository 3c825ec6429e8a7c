// A decoded token's attention to a layer with shared slots on a GPU: that of the CPU, in one launch or two for all heads, and nothing is
// copied to the device where nothing but an appended token is new.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/decode_attention.h"
#include "engine/layers/device_decode_attention.h"
#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/support/kv_shape.h"

namespace winnow::testing {
namespace {

using Rotation = SharedEntries::Rotation;

class SharedSlotsOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  static constexpr std::int64_t kHeads = 3;
  static constexpr std::int64_t kGroup = 2;
  static constexpr std::int64_t kHeadDim = 16;
  static constexpr LayerId kLayer{1};

  struct Both {
    KvCache cpu;
    KvCache gpu;
  };

  static KvShape shape(at::ScalarType dtype, at::Device device, double theta = 10000.0) {
    KvShape shape = test_support::kv_shape(2, kHeads, kHeadDim);
    shape.dtype = dtype;
    shape.device = device;
    shape.rotary.theta = theta;
    return shape;
  }

  static void append(Both& caches, std::int64_t tokens, std::int32_t first) {
    const at::Tensor both = at::randn({2, kHeads, tokens, kHeadDim}).to(caches.cpu.shape().dtype);
    const at::Tensor moved = both.to(kEmulatedGpu);
    std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
    std::iota(original.begin(), original.end(), first);
    caches.cpu.append(kLayer, both[0], both[1], original);
    caches.gpu.append(kLayer, moved[0], moved[1], original);
  }

  // 90 slots of tokens from 210 on; in the first head 200 tokens share 70 of them, in the second 20 are masked, the third has no table.
  static Both shared_caches(Rotation rotation, bool zero_counts, at::ScalarType dtype = at::kFloat) {
    Both caches{KvCache(shape(dtype, at::kCPU)), KvCache(shape(dtype, kEmulatedGpu))};
    append(caches, 90, 210);
    std::mt19937 random(5);
    for (std::int64_t head = 0; head < 2; ++head) {
      SharedEntries table{.rotation = rotation, .zero_counts = zero_counts};
      for (std::int32_t token = 0; token < (head == 0 ? 200 : 20); ++token) {
        const bool masked = head == 1 || random() % 6 == 0;
        table.original.push_back(token);
        table.slot.push_back(masked ? SharedEntries::kZero : static_cast<std::int32_t>(random() % 70));
        table.norm.push_back(0.5F + static_cast<float>(random() % 100) / 100.0F);
      }
      caches.cpu.set_shared_entries(kLayer, KvHead(head), table);
      caches.gpu.set_shared_entries(kLayer, KvHead(head), table);
    }
    return caches;
  }

  static at::Tensor query() { return at::randn({kHeads * kGroup, kHeadDim}); }

  static void expect_equal(const Both& caches, const at::Tensor& query) {
    const double tolerance = caches.cpu.shape().dtype == at::kFloat ? 2e-5 : 2e-2;
    const at::Tensor asked = query.to(caches.cpu.shape().dtype);
    DecodeRow cpu;
    DeviceProbabilities there;
    const at::Tensor expected = decode_attention(asked, caches.cpu, kLayer, 0.25, &cpu);
    const at::Tensor silent = device_shared_attention(asked.to(kEmulatedGpu), caches.gpu, kLayer, 0.25);
    const at::Tensor actual = device_shared_attention(asked.to(kEmulatedGpu), caches.gpu, kLayer, 0.25, &there);
    const std::vector<std::vector<float>> gpu = on_host({&there, 1}).front();
    ASSERT_EQ(actual.scalar_type(), expected.scalar_type());
    EXPECT_LT((actual.to(at::kCPU) - expected).abs().max().item<double>(), tolerance);
    EXPECT_TRUE(at::equal(silent.to(at::kCPU), actual.to(at::kCPU)));
    ASSERT_EQ(gpu.size(), cpu.probabilities.size());
    for (std::size_t head = 0; head < cpu.probabilities.size(); ++head) {
      ASSERT_EQ(gpu[head].size(), cpu.probabilities[head].size());
      for (std::size_t i = 0; i < cpu.probabilities[head].size(); ++i) {
        ASSERT_NEAR(gpu[head][i], cpu.probabilities[head][i], 2e-5) << "head " << head << " token " << i;
      }
    }
  }

  c10::InferenceMode inference_;
};

TEST_F(SharedSlotsOnEmulatedGpu, AreAttendedToAsOnTheCpu) {
  for (const Rotation rotation : {Rotation::kStored, Rotation::kByRank, Rotation::kByOriginal}) {
    for (const bool zero_counts : {false, true}) {
      for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(rotation) << zero_counts << dtype);
        Both caches = shared_caches(rotation, zero_counts, dtype);
        expect_equal(caches, query());
        for (std::int32_t token = 300; token < 303; ++token) {
          append(caches, 1, token);
          expect_equal(caches, query());
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The last slot, a direct one, moves among those that are shared; a token leaves its table; another one comes.
TEST_F(SharedSlotsOnEmulatedGpu, FollowTheirTables) {
  for (const Rotation rotation : {Rotation::kStored, Rotation::kByRank}) {
    Both caches = shared_caches(rotation, false);
    const KvCache before = caches.gpu.fork();
    const KvCache cpu_before = caches.cpu.fork();
    expect_equal(caches, query());
    for (KvCache* cache : {&caches.cpu, &caches.gpu}) {
      SharedEntries& table = *cache->shared_entries(kLayer, KvHead(0));
      for (std::int32_t& slot : table.slot) slot = slot == 3 ? SharedEntries::kZero : slot;
      cache->evict(kLayer, KvHead(0), 3);
    }
    expect_equal(caches, query());
    for (KvCache* cache : {&caches.cpu, &caches.gpu}) {
      SharedEntries& table = *cache->shared_entries(kLayer, KvHead(0));
      table.original.push_back(210 + 75);
      table.slot.push_back(75);
      table.norm.push_back(1.5F);
      SharedEntries empty{.rotation = rotation};
      cache->set_shared_entries(kLayer, KvHead(2), empty);
    }
    expect_equal(caches, query());
    expect_equal({cpu_before.fork(), before.fork()}, query());
  }
}

// Both sides of a fork change their table; then one becomes the other again.
TEST_F(SharedSlotsOnEmulatedGpu, AreThoseOfARestoredLayer) {
  Both caches = shared_caches(Rotation::kByRank, false);
  expect_equal(caches, query());
  Both forks{caches.cpu.fork(), caches.gpu.fork()};
  const auto mask_first = [](Both& both, std::size_t count) {
    for (KvCache* cache : {&both.cpu, &both.gpu}) {
      std::fill_n(cache->shared_entries(kLayer, KvHead(0))->slot.begin(), count, SharedEntries::kZero);
    }
  };
  mask_first(caches, 30);
  mask_first(forks, 90);
  expect_equal(caches, query());
  expect_equal(forks, query());
  WholeLayer::restore(caches.cpu, kLayer, forks.cpu);
  WholeLayer::restore(caches.gpu, kLayer, forks.gpu);
  expect_equal(caches, query());
}

// A token between the last one and the next makes all older ones one further away.
TEST_F(SharedSlotsOnEmulatedGpu, KnowTokensThatAreLeftOut) {
  Both caches = shared_caches(Rotation::kByRank, false);
  expect_equal(caches, query());
  append(caches, 1, 300);
  expect_equal(caches, query());
  append(caches, 1, 305);
  expect_equal(caches, query());
}

TEST_F(SharedSlotsOnEmulatedGpu, AreTwoLaunchesAndNoCopyWhereNothingButATokenIsNew) {
  for (const Rotation rotation : {Rotation::kStored, Rotation::kByRank, Rotation::kByOriginal}) {
    SCOPED_TRACE(static_cast<int>(rotation));
    Both caches = shared_caches(rotation, false);
    const at::Tensor asked = query().to(kEmulatedGpu);
    const auto cost = [&](DeviceProbabilities* there) {
      return cost_of([&] {
        device_shared_attention(asked, caches.gpu, kLayer, 0.25, there);
        if (there != nullptr) on_host({there, 1});
      });
    };
    DeviceProbabilities there;
    EmulatedGpuCounts counts = cost(nullptr);
    EXPECT_EQ(counts.launches, 2) << "the longest head has two parts";
    EXPECT_EQ(counts.copies_to_device, 1) << "the tables of all heads";
    for (std::int32_t token = 300; token < 310; ++token) {
      append(caches, 1, token);
      counts = cost(nullptr);
      EXPECT_EQ(counts.launches, 2) << "the longest head has two parts";
      EXPECT_EQ(counts.copies_to_device + counts.copies_to_host + counts.waits, 0);
      counts = cost(&there);
      EXPECT_EQ(counts.launches, 2);
      EXPECT_EQ(counts.copies_to_device, 0);
      EXPECT_EQ(counts.copies_to_host, 1);
      EXPECT_EQ(counts.waits, 1);
    }
    caches.gpu.shared_entries(kLayer, KvHead(0))->norm.front() += 1.0F;
    EXPECT_EQ(cost(nullptr).copies_to_device, 1);
    KvCache fork = caches.gpu.fork();
    counts = cost_of([&] { device_shared_attention(asked, fork, kLayer, 0.25); });
    EXPECT_EQ(counts.copies_to_device, 0) << "forks share what lies there";
  }
}

TEST_F(SharedSlotsOnEmulatedGpu, OfKeysWithoutATurnAreRefused) {
  Both caches{KvCache(shape(at::kFloat, at::kCPU, 0.0)), KvCache(shape(at::kFloat, kEmulatedGpu, 0.0))};
  append(caches, 5, 0);
  SharedEntries table{.original = {0}, .slot = {0}, .norm = {1.0F}, .rotation = Rotation::kByRank};
  caches.gpu.set_shared_entries(kLayer, KvHead(0), table);
  try {
    device_shared_attention(query().to(kEmulatedGpu), caches.gpu, kLayer, 0.25);
    FAIL() << "was attended to";
  } catch (const Exception& problem) {
    EXPECT_EQ(problem.error().code, ErrorCode::kIllegalRecipe);
  }
}

}  // namespace
}  // namespace winnow::testing
