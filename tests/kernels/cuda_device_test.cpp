// The CUDA kernels on a GPU against kernels/reference. Skips where no device is; cuda_source_test.cpp runs their source everywhere.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/api/append_slots.h"
#include "kernels/api/cuda_decode_attention.h"
#include "tests/kernels/append_case.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/ragged_decode_case.h"

namespace winnow::kernels {
namespace {

using testing::AppendCase;
using testing::DeviceDecode;
using testing::DeviceMemory;
using testing::RaggedDecodeCase;

class CudaKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices < 1) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  }
};

RaggedDecodeCase::Result attend(const RaggedDecodeCase& problem, std::int64_t parts, bool probabilities) {
  DeviceDecode device(problem, parts, probabilities);
  EXPECT_EQ(cuda_decode_attention(device.args(), nullptr), LaunchStatus::kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return device.result();
}

TEST_F(CudaKernels, DecodeAttentionEqualsTheReferenceOverTheGrid) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kFp16}) {
    for (const std::int64_t head_dim : {1, 8, 18, 32, 64, 80, 128, 256, 511, 512}) {
      for (const std::int64_t group : {1, 2, 3, 7, 8, 9, 71}) {
        for (const std::vector<std::int32_t>& slots : {std::vector<std::int32_t>{1}, {63, 64, 65}, {1000, 1, 300}, {0x2000}}) {
          if (slots[0] > 1000 && (head_dim > 128 || group > 8)) continue;  // the reference would take minutes
          for (const std::int64_t parts : {1, 3}) {
            SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim << " group " << group
                                              << " first head " << slots[0] << " parts " << parts);
            const RaggedDecodeCase problem(type, head_dim, group, slots, static_cast<unsigned>(head_dim * 100 + group));
            problem.expect_near(attend(problem, parts, parts == 3));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(CudaKernels, TheSameInputsGiveTheSameBits) {
  const RaggedDecodeCase problem(ElementType::kBf16, 128, 7, {5000, 700}, 5);
  const RaggedDecodeCase::Result first = attend(problem, 8, false);
  const RaggedDecodeCase::Result second = attend(problem, 8, false);
  EXPECT_EQ(first.output, second.output);
  EXPECT_EQ(first.log_sum_exp, second.log_sum_exp);
}

TEST_F(CudaKernels, AppendedRowsLieWhereTheReferencePutsThem) {
  for (const std::int64_t bytes : {2, 4}) {
    for (const std::int64_t tokens : {1, 3, 130, 1000}) {
      for (const std::int64_t head_dim : {3, 64, 128}) {
        SCOPED_TRACE(::testing::Message() << bytes << " bytes, " << tokens << " tokens, head_dim " << head_dim);
        AppendCase expected(bytes, tokens, head_dim, {0, 63, 130});
        AppendCase actual(bytes, tokens, head_dim, {0, 63, 130});
        ASSERT_EQ(append_slots_reference(expected.args()), LaunchStatus::kOk);

        AppendSlotsArgs args = actual.args();
        const DeviceMemory source(actual.source());
        DeviceMemory blocks(actual.memory());
        const auto on_device = [&](void* const* host) {
          std::vector<std::byte*> pointers;
          for (std::int64_t i = 0; i < args.kv_heads * args.table_stride; ++i) {
            pointers.push_back(blocks.bytes() + (static_cast<std::byte*>(host[i]) - actual.memory().data()));
          }
          return DeviceMemory(pointers);
        };
        const DeviceMemory key_table = on_device(args.key_blocks);
        const DeviceMemory value_table = on_device(args.value_blocks);
        args.value = source.bytes() + (static_cast<const std::byte*>(args.value) - static_cast<const std::byte*>(args.key));
        args.key = source.bytes();
        args.key_blocks = key_table.as<void* const>();
        args.value_blocks = value_table.as<void* const>();
        ASSERT_EQ(cuda_append_slots(args, nullptr), LaunchStatus::kOk);
        EXPECT_EQ(blocks.copy<std::byte>(), expected.memory());
      }
    }
  }
}

}  // namespace
}  // namespace winnow::kernels
