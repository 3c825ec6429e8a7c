// Attention over shared slots on a GPU against kernels/reference. Skips where no device is; cuda_shared_source_test.cpp runs the kernels'
// source everywhere.
#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/device_memory.h"
#include "tests/kernels/on_cuda_device.h"
#include "tests/kernels/shared_attention_case.h"

namespace winnow::kernels {
namespace {

using testing::DeviceMemory;
using testing::SharedAttentionCase;

class CudaSharedAttention : public testing::OnCudaDevice {};

SharedAttentionCase::Result attend(const SharedAttentionCase& problem, std::int64_t parts, bool probabilities) {
  SharedAttentionCase::Result result = problem.result(probabilities);
  const DeviceMemory query(problem.query);
  const DeviceMemory blocks(problem.blocks);
  const SharedAttentionCase::Tables tables(problem, blocks.bytes());
  const DeviceMemory keys(tables.keys);
  const DeviceMemory values(tables.values);
  const DeviceMemory entry_slot(problem.entry_slot);
  const DeviceMemory entry_factor(problem.entry_factor);
  const DeviceMemory entry_position(problem.entry_position);
  const DeviceMemory frequencies(problem.frequencies);
  const DeviceMemory output(result.output);
  const DeviceMemory log_sum_exp(result.log_sum_exp);
  const DeviceMemory attention(result.probabilities);
  CudaSharedAttentionArgs args =
      problem.args({query.bytes(), keys.as<const void* const>(), values.as<const void* const>(), entry_slot.as<std::int32_t>(),
                    entry_factor.as<float>(), entry_position.as<float>(), frequencies.as<float>(), output.bytes(), log_sum_exp.as<float>(),
                    probabilities ? attention.as<float>() : nullptr, nullptr},
                   parts);
  const DeviceMemory workspace(std::vector<float>(static_cast<std::size_t>(cuda_shared_attention_workspace(args)), 1e30F));
  args.workspace = workspace.as<float>();
  EXPECT_EQ(cuda_shared_attention(args, nullptr), LaunchStatus::kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return {output.copy<std::byte>(), log_sum_exp.copy<float>(), attention.copy<float>()};
}

TEST_F(CudaSharedAttention, EqualsTheReferenceOverTheGrid) {
  std::vector<std::vector<SharedAttentionCase::Head>> sizes = testing::shared_heads();
  sizes.push_back({{2500, 400, 70}});
  for (const std::vector<SharedAttentionCase::Head>& heads : sizes) {
    for (const ElementType type : testing::kEveryElementType) {
      for (const std::int64_t head_dim : {1, 2, 18, 36, 64, 80, 128, 256, 510, 512}) {
        for (const std::int64_t group : {1, 3, 7, 9, 71}) {
          if ((heads[0].listed > 100 || group > 9) && head_dim * group > 1200) continue;  // the reference would take minutes
          for (const bool rotated : {false, true}) {
            if (rotated && head_dim % 2 != 0) continue;
            const SharedAttentionCase problem({type, head_dim, group, heads, rotated});
            for (const std::int64_t parts : {1, 3}) {
              for (const bool probabilities : {false, true}) {
                SCOPED_TRACE(::testing::Message() << problem.shape.name() << " parts " << parts << " probabilities " << probabilities);
                problem.expect_near(attend(problem, parts, probabilities));
                if (HasFatalFailure()) return;
              }
            }
          }
        }
      }
    }
  }
}

TEST_F(CudaSharedAttention, OfTheSameInputsIsTheSameBits) {
  for (const bool rotated : {false, true}) {
    const SharedAttentionCase problem({ElementType::kBf16, 128, 7, {{3000, 700, 90}, {900, 300, 5}}, rotated});
    const SharedAttentionCase::Result first = attend(problem, 8, true);
    const SharedAttentionCase::Result second = attend(problem, 8, true);
    EXPECT_EQ(first.output, second.output);
    EXPECT_EQ(first.log_sum_exp, second.log_sum_exp);
    EXPECT_EQ(first.probabilities, second.probabilities);
  }
}

}  // namespace
}  // namespace winnow::kernels
