// What a decoded token changes where slots are shared (EMS): the same on a GPU as on the CPU, for the same launches and one wait however
// many layers and heads there are.
#include <vector>

#include "engine/compression/decode/shared_entry_merging.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/runtime_tokens.h"
#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/support/kv_shape.h"

namespace winnow::testing {
namespace {

using Rotation = SharedEntries::Rotation;

class SharedMergingOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  static constexpr std::int64_t kHeadDim = 16;
  static constexpr std::int64_t kWindow = 4;
  static constexpr std::int64_t kCap = 70;  // two blocks

  struct Size {
    std::int64_t layers = 3;
    std::int64_t kv_heads = 2;
  };

  static KvShape shape(const Size& size, at::ScalarType dtype, at::Device device) {
    KvShape shape = test_support::kv_shape(size.layers, size.kv_heads, kHeadDim);
    shape.dtype = dtype;
    shape.device = device;
    shape.rotary.theta = 10000.0;
    return shape;
  }

  // Cache and policy of one device.
  struct Side {
    Side(const Size& size, Rotation rotation, at::ScalarType dtype, at::Device device)
        : cache(shape(size, dtype, device)), policy(kWindow, rule(rotation), caps(size), size.kv_heads, heads(size)) {}

    static SharingRule rule(Rotation rotation) { return {.magnification = 1.5, .least_similarity = 0.3, .rotation = rotation}; }
    static std::vector<std::int64_t> caps(const Size& size) {
      std::vector<std::int64_t> caps(static_cast<std::size_t>(size.layers), kCap);
      if (size.layers > 1) caps[1] = kCap - 20;
      return caps;
    }
    static std::vector<SharedEntryMerging::Head> heads(const Size& size) {
      return std::vector<SharedEntryMerging::Head>(static_cast<std::size_t>(size.layers * size.kv_heads));
    }

    void append(LayerId layer, const at::Tensor& both, std::int32_t token) {
      const at::Tensor there = both.to(cache.shape().device, cache.shape().dtype);
      cache.append(layer, there[0], there[1], std::vector<std::int32_t>{token});
    }

    KvCache cache;
    SharedEntryMerging policy;
  };

  // The next token of all layers, of three kinds, so that some are alike.
  static std::vector<at::Tensor> next_rows(const Size& size, std::int32_t token) {
    std::vector<at::Tensor> rows;
    for (std::int64_t layer = 0; layer < size.layers; ++layer) {
      rows.push_back(at::randn({2, size.kv_heads, 1, kHeadDim}));
      rows.back().select(3, token % 3).add_(4.0);
    }
    return rows;
  }

  static std::vector<DecodeRow> attention(const KvCache& cache) {
    std::vector<DecodeRow> rows(static_cast<std::size_t>(cache.shape().layers));
    for (LayerId layer{0}; DecodeRow & row : rows) {
      for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
        const auto tokens = static_cast<std::int64_t>(runtime_tokens(cache, layer, head).size());
        const at::Tensor numbers = at::rand({tokens}).softmax(0);
        row.probabilities.emplace_back(numbers.const_data_ptr<float>(), numbers.const_data_ptr<float>() + tokens);
      }
      ++layer;
    }
    return rows;
  }

  static void expect_same(const Side& cpu, const Side& gpu) {
    const double tolerance = cpu.cache.shape().dtype == at::kFloat ? 1e-5 : 2e-2;
    for (LayerId layer{0}; layer < cpu.cache.shape().layers; ++layer) {
      for (KvHead head{0}; head < cpu.cache.shape().kv_heads; ++head) {
        SCOPED_TRACE(::testing::Message() << "layer " << layer << " head " << head);
        ASSERT_TRUE(std::ranges::equal(gpu.cache.original(layer, head), cpu.cache.original(layer, head)));
        const SharedEntries* const there = gpu.cache.shared_entries(layer, head);
        const SharedEntries* const here = cpu.cache.shared_entries(layer, head);
        ASSERT_EQ(there == nullptr, here == nullptr);
        if (here == nullptr) continue;
        ASSERT_EQ(there->original, here->original);
        ASSERT_EQ(there->slot, here->slot);
        for (std::size_t i = 0; i < here->size(); ++i) ASSERT_NEAR(there->norm[i], here->norm[i], 1e-5) << i;
        const auto difference = [](const at::Tensor& a, const at::Tensor& b) {
          return (a.to(at::kCPU, at::kFloat) - b.to(at::kFloat)).abs().max().item<double>();
        };
        ASSERT_LT(difference(gpu.cache.gather_keys(layer, head), cpu.cache.gather_keys(layer, head)), tolerance);
        ASSERT_LT(difference(gpu.cache.gather_values(layer, head), cpu.cache.gather_values(layer, head)), tolerance);
      }
    }
  }

  c10::InferenceMode inference_;
};

TEST_F(SharedMergingOnEmulatedGpu, TokensAreMergedAsOnTheCpu) {
  for (const Rotation rotation : {Rotation::kStored, Rotation::kByRank}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(rotation) << ' ' << dtype);
      const Size size;
      Side cpu(size, rotation, dtype, at::kCPU);
      Side gpu(size, rotation, dtype, kEmulatedGpu);
      MergeState state;
      for (std::int32_t token = 0; token < 200; ++token) {
        const std::vector<at::Tensor> next = next_rows(size, token);
        for (LayerId layer{0}; layer < size.layers; ++layer) {
          cpu.append(layer, next[static_cast<std::size_t>(static_cast<std::int64_t>(layer))], token);
          gpu.append(layer, next[static_cast<std::size_t>(static_cast<std::int64_t>(layer))], token);
        }
        const std::vector<DecodeRow> rows = attention(cpu.cache);
        for (LayerId layer{0}; const DecodeRow& row : rows) {
          cpu.policy.after_layers(cpu.cache, layer, {&row, 1}, state);
          ++layer;
        }
        gpu.policy.after_layers(gpu.cache, LayerId(0), rows, state);
        if (token % 20 != 19) continue;
        expect_same(cpu, gpu);
        if (HasFatalFailure()) return;
      }
      EXPECT_GT(cpu.cache.shared_entries(LayerId(0), KvHead(0))->size(), static_cast<std::size_t>(kCap)) << "no slot is shared";
    }
  }
}

// The first merge has a third of all slots to choose from, which are the same.
TEST_F(SharedMergingOnEmulatedGpu, OfTheSameSlotsTheOldestTokensReceives) {
  const Size size{1, 2};
  Side cpu(size, Rotation::kStored, at::kFloat, at::kCPU);
  Side gpu(size, Rotation::kStored, at::kFloat, kEmulatedGpu);
  MergeState state;
  for (std::int32_t token = 0; token <= kCap; ++token) {
    const at::Tensor next = at::zeros({2, size.kv_heads, 1, kHeadDim});
    next.select(3, token % 3).fill_(4.0);
    cpu.append(LayerId(0), next, token);
    gpu.append(LayerId(0), next, token);
    const std::vector<DecodeRow> rows = attention(cpu.cache);
    cpu.policy.after_layers(cpu.cache, LayerId(0), rows, state);
    gpu.policy.after_layers(gpu.cache, LayerId(0), rows, state);
  }
  expect_same(cpu, gpu);
  const SharedEntries& table = *gpu.cache.shared_entries(LayerId(0), KvHead(0));
  std::size_t shared = 0;  // the oldest token that shares its slot
  while (shared < table.size() && std::ranges::count(table.slot, table.slot[shared]) == 1) ++shared;
  EXPECT_LT(shared, 6U) << "one of the two oldest of its kind";
}

TEST_F(SharedMergingOnEmulatedGpu, AreOneWaitHoweverManyHeadsThereAre) {
  std::vector<std::int64_t> launches;
  for (const Size size : {Size{1, 1}, Size{4, 3}}) {
    Side gpu(size, Rotation::kByRank, at::kFloat, kEmulatedGpu);
    MergeState state;
    EmulatedGpuCounts cost;
    for (std::int32_t token = 0; token < 120; ++token) {
      const std::vector<at::Tensor> next = next_rows(size, token);
      for (LayerId layer{0}; layer < size.layers; ++layer)
        gpu.append(layer, next[static_cast<std::size_t>(static_cast<std::int64_t>(layer))], token);
      const std::vector<DecodeRow> rows = attention(gpu.cache);
      cost = cost_of([&] {
        gpu.policy.after_layers(gpu.cache, LayerId(0), rows, state);
        DeviceSide::blocks(gpu.cache, LayerId(0));  // carries out what is noted
      });
      ASSERT_LE(cost.waits, 1) << "token " << token;
      ASSERT_LE(cost.copies_to_host, 1) << "token " << token;
    }
    EXPECT_EQ(cost.waits, 1);
    launches.push_back(cost.launches);
  }
  EXPECT_LE(launches.front(), 4) << "keys at length 1, what is similar, its answers beside the lengths, what flows and moves";
  EXPECT_EQ(launches.back(), launches.front());
}

TEST_F(SharedMergingOnEmulatedGpu, AForkKeepsItsRows) {
  const Size size;
  Side gpu(size, Rotation::kStored, at::kFloat, kEmulatedGpu);
  MergeState state;
  at::Tensor before;
  std::optional<KvCache> fork;
  for (std::int32_t token = 0; token < 90; ++token) {
    const std::vector<at::Tensor> next = next_rows(size, token);
    for (LayerId layer{0}; layer < size.layers; ++layer)
      gpu.append(layer, next[static_cast<std::size_t>(static_cast<std::int64_t>(layer))], token);
    gpu.policy.after_layers(gpu.cache, LayerId(0), attention(gpu.cache), state);
    if (token != 80) continue;
    fork.emplace(gpu.cache.fork());
    before = fork->gather_keys(LayerId(1), KvHead(1)).to(at::kCPU);
  }
  EXPECT_TRUE(at::equal(fork->gather_keys(LayerId(1), KvHead(1)).to(at::kCPU), before));
  EXPECT_FALSE(at::equal(gpu.cache.gather_keys(LayerId(1), KvHead(1)).to(at::kCPU), before));
}

}  // namespace
}  // namespace winnow::testing
