// Cache and attention on a GPU against the same on the CPU.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/attention.h"
#include "engine/layers/decode_attention.h"
#include "engine/layers/device_decode_attention.h"
#include "tests/engine/cuda_plugin/cuda_test.h"
#include "tests/support/kv_shape.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

using test_support::kGpu;
using test_support::relative_distance;

class CudaLayers : public test_support::NeedsDevice<::testing::Test> {};

constexpr std::int64_t kKvHeads = 3;
constexpr std::int64_t kHeadDim = 64;

// Two caches that are told the same, one on each device.
class Twins {
 public:
  explicit Twins(at::ScalarType dtype) : cpu(shape(dtype, at::kCPU)), gpu(shape(dtype, kGpu)), dtype_(dtype) {}

  void append(std::int64_t tokens) {
    std::vector<std::int32_t> original(static_cast<std::size_t>(tokens));
    std::iota(original.begin(), original.end(), next_);
    next_ += static_cast<std::int32_t>(tokens);
    // Token by token, as a fused projection leaves them: the heads' rows are strided.
    const at::Tensor both = at::randn({tokens, 2, kKvHeads, kHeadDim}).to(dtype_);
    const at::Tensor moved = both.to(kGpu);
    cpu.append(LayerId(1), both.select(1, 0).transpose(0, 1), both.select(1, 1).transpose(0, 1), original);
    gpu.append(LayerId(1), moved.select(1, 0).transpose(0, 1), moved.select(1, 1).transpose(0, 1), original);
  }

  static void expect_equal(const KvCache& cpu, const KvCache& gpu) {
    for (KvHead head{0}; head < kKvHeads; ++head) {
      const auto a = cpu.original(LayerId(1), head);
      const auto b = gpu.original(LayerId(1), head);
      ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
      EXPECT_TRUE(at::equal(gpu.gather_keys(LayerId(1), head).to(at::kCPU), cpu.gather_keys(LayerId(1), head))) << "keys of head " << head;
      EXPECT_TRUE(at::equal(gpu.gather_values(LayerId(1), head).to(at::kCPU), cpu.gather_values(LayerId(1), head)))
          << "values of head " << head;
    }
    EXPECT_EQ(gpu.bytes_allocated(), cpu.bytes_allocated());
    EXPECT_EQ(gpu.bytes_in_use(), cpu.bytes_in_use());
  }

  void expect_same_attention(std::int64_t group, double tolerance) const {
    const at::Tensor query = at::randn({kKvHeads * group, kHeadDim}).to(dtype_);
    const at::Tensor expected = decode_attention(query, cpu, LayerId(1), 0.125);
    const DeviceSlots slots = device_slots(gpu, LayerId(1));
    const at::Tensor actual = device_decode_attention(query.to(kGpu), gpu.shape(), slots, 0.125);
    ASSERT_EQ(actual.device(), kGpu);
    EXPECT_LE(relative_distance(actual.to(at::kCPU), expected), tolerance);

    DeviceProbabilities shown;
    device_decode_attention(query.to(kGpu), gpu.shape(), slots, 0.125, &shown);
    const std::vector<std::vector<float>> rows = on_host({&shown, 1}).front();
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(kKvHeads));
    for (KvHead head{0}; head < kKvHeads; ++head) {
      const at::Tensor keys = cpu.gather_keys(LayerId(1), head).to(at::kFloat);
      const at::Tensor logits = at::mm(query.narrow(0, head * group, group).to(at::kFloat), keys.t()) * 0.125;
      const std::vector<float>& row = rows[static_cast<std::size_t>(head)];
      EXPECT_LE(relative_distance(at::tensor(row), at::softmax(logits, 1).mean(0)), 1e-4);
    }
  }

  KvCache cpu;
  KvCache gpu;

 private:
  static KvShape shape(at::ScalarType dtype, at::Device device) {
    KvShape shape = test_support::kv_shape(2, kKvHeads, kHeadDim);
    shape.dtype = dtype;
    shape.device = device;
    return shape;
  }
  at::ScalarType dtype_;
  std::int32_t next_ = 0;
};

LayerPlan ragged_plan(std::int32_t tokens) {
  LayerPlan plan;
  for (std::int32_t step : {1, 3, 7}) {
    plan.kept.emplace_back();
    for (std::int32_t row = step == 3 ? 70 : 0; row < tokens; row += step) plan.kept.back().push_back(row);
  }
  return plan;
}

TEST_F(CudaLayers, TheCacheHoldsWhatTheCpusCacheHolds) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    Twins twins(dtype);
    for (const std::int64_t tokens : {1, 62, 1, 1, 200, 64}) twins.append(tokens);
    Twins::expect_equal(twins.cpu, twins.gpu);
    twins.cpu.compact(LayerId(1), 264, ragged_plan(264));
    twins.gpu.compact(LayerId(1), 264, ragged_plan(264));
    Twins::expect_equal(twins.cpu, twins.gpu);
    for (const std::int64_t slot : {0, 5, 20, 3, 32}) {  // the last one moves into what moved before
      twins.cpu.evict(LayerId(1), KvHead(2), slot);
      twins.gpu.evict(LayerId(1), KvHead(2), slot);
    }
    Twins::expect_equal(twins.cpu, twins.gpu);
    for (const std::int64_t slot : {1, 30, 30}) {  // not carried out when a token is appended
      twins.cpu.evict(LayerId(1), KvHead(2), slot);
      twins.gpu.evict(LayerId(1), KvHead(2), slot);
    }
    for (int i = 0; i < 70; ++i) twins.append(1);
    Twins::expect_equal(twins.cpu, twins.gpu);
  }
}

TEST_F(CudaLayers, AForkIsNotTouchedByItsOrigin) {
  Twins twins(at::kBFloat16);
  twins.append(70);
  const KvCache cpu_fork = twins.cpu.fork();
  const KvCache gpu_fork = twins.gpu.fork();
  twins.append(100);
  twins.gpu.evict(LayerId(1), KvHead(0), 2);
  twins.cpu.evict(LayerId(1), KvHead(0), 2);
  Twins::expect_equal(cpu_fork, gpu_fork);
  Twins::expect_equal(twins.cpu, twins.gpu);
}

TEST_F(CudaLayers, DecodeAttentionEqualsTheCpus) {
  for (const auto& [dtype, tolerance] : {std::pair{at::kFloat, 1e-5}, std::pair{at::kBFloat16, 1e-2}, std::pair{at::kHalf, 2e-3}}) {
    for (const std::int64_t group : {1, 4, 7}) {
      Twins twins(dtype);
      twins.append(1);
      twins.expect_same_attention(group, tolerance);
      twins.append(3000);
      twins.expect_same_attention(group, tolerance);
      twins.cpu.compact(LayerId(1), 3000, ragged_plan(3000));
      twins.gpu.compact(LayerId(1), 3000, ragged_plan(3000));
      twins.expect_same_attention(group, tolerance);
    }
  }
}

TEST_F(CudaLayers, PrefillAttentionEqualsTheCpus) {
  for (const auto& [dtype, tolerance] : {std::pair{at::kFloat, 1e-5}, std::pair{at::kBFloat16, 2e-2}}) {
    for (const std::int64_t head_dim : {64, 20}) {  // 20: no flash attention
      const std::int64_t n = 150;
      const at::Tensor query = at::randn({n, 6, head_dim}).to(dtype);
      const at::Tensor key = at::randn({2, n, head_dim}).to(dtype);
      const at::Tensor value = at::randn({2, n, head_dim}).to(dtype);
      PastKeyValues past;
      PastKeyValues past_gpu;
      for (const std::int64_t slots : {33, 0}) {
        past.keys.push_back(at::randn({slots, head_dim}).to(dtype));
        past.values.push_back(at::randn({slots, head_dim}).to(dtype));
        past_gpu.keys.push_back(past.keys.back().to(kGpu));
        past_gpu.values.push_back(past.values.back().to(kGpu));
      }
      for (const std::int64_t first : {0, 50}) {
        const at::Tensor rows = query.narrow(0, first, n - first);
        const AttentionResult expected = prefill_attention(rows, key, value, first, past, 0.2);
        const AttentionResult actual = prefill_attention(rows.to(kGpu), key.to(kGpu), value.to(kGpu), first, past_gpu, 0.2);
        SCOPED_TRACE(::testing::Message() << "head_dim " << head_dim << " first " << first);
        EXPECT_LE(relative_distance(actual.output.to(at::kCPU), expected.output), tolerance);
        EXPECT_EQ(actual.log_sum_exp.scalar_type(), at::kFloat);
        EXPECT_LE(relative_distance(actual.log_sum_exp.to(at::kCPU), expected.log_sum_exp), tolerance);
      }
    }
  }
}

// Products in fp32 are fp32: TF32 would be wrong in the fourth digit.
TEST_F(CudaLayers, ProductsAreNotRoundedToTf32) {
  const at::Tensor a = at::randn({256, 256});
  const at::Tensor b = at::randn({256, 256});
  EXPECT_LE(relative_distance(at::mm(a.to(kGpu), b.to(kGpu)).to(at::kCPU), at::mm(a, b)), 1e-5);
}

}  // namespace
}  // namespace winnow
