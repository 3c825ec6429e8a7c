// The CUDA kernels on a GPU against kernels/reference. Skips where no device is; cuda_source_test.cpp runs their source everywhere.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "kernels/api/append_slots.h"
#include "kernels/api/cuda_column_sums.h"
#include "kernels/api/cuda_decode_attention.h"
#include "kernels/api/cuda_gemv.h"
#include "kernels/api/cuda_rotate_append.h"
#include "kernels/api/gated_activation.h"
#include "kernels/api/gather_slots.h"
#include "kernels/api/rms_norm.h"
#include "kernels/api/rotary.h"
#include "kernels/api/sample_token.h"
#include "tests/kernels/append_case.h"
#include "tests/kernels/choose_case.h"
#include "tests/kernels/cuda_block_case.h"
#include "tests/kernels/cuda_columns_case.h"
#include "tests/kernels/device_memory.h"
#include "tests/kernels/gated_case.h"
#include "tests/kernels/gather_case.h"
#include "tests/kernels/gemv_case.h"
#include "tests/kernels/norm_case.h"
#include "tests/kernels/on_cuda_device.h"
#include "tests/kernels/ragged_decode_case.h"
#include "tests/kernels/rotary_case.h"
#include "tests/kernels/rotate_append_case.h"

namespace winnow::kernels {
namespace {

using testing::AppendCase;
using testing::BlockGemvCase;
using testing::CudaColumnsCase;
using testing::DeviceDecode;
using testing::DeviceMemory;
using testing::GemvCase;
using testing::RaggedDecodeCase;

class CudaKernels : public testing::OnCudaDevice {};

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

TEST_F(CudaKernels, GatheredRowsAreTheReferences) {
  for (const std::int64_t row_bytes : {2, 6, 128, 160, 1024}) {
    for (const std::vector<std::int32_t>& counts : {std::vector<std::int32_t>{1}, {130, 0, 63, 64}, {5000, 2}}) {
      testing::GatherCase problem(row_bytes, counts);
      SCOPED_TRACE(problem.name());
      const std::vector<std::byte> expected =
          testing::gathered(problem, [](const GatherSlotsArgs& args) { ASSERT_EQ(gather_slots_reference(args), LaunchStatus::kOk); });
      const DeviceMemory from(problem.from());
      const DeviceMemory to(problem.to());
      const DeviceMemory sources(problem.sources());
      const DeviceMemory from_table(problem.from_table(from.bytes()));
      const DeviceMemory to_table(problem.to_table(to.bytes()));
      const GatherSlotsArgs args = problem.args(from_table.as<std::byte*>(), to_table.as<std::byte*>(), sources.as<std::int32_t>());
      ASSERT_EQ(cuda_gather_slots(args, nullptr), LaunchStatus::kOk);
      EXPECT_EQ(to.copy<std::byte>(), expected);
    }
  }
}

TEST_F(CudaKernels, BlockGemvsEqualTheReferenceOverTheGrid) {
  for (const BlockType type : testing::kEveryBlockType) {
    for (const ElementType element : testing::kEveryElementType) {
      for (const std::int64_t blocks : {1, 9, 33}) {
        for (const std::int64_t rows : {1, 2, 9, 300}) {
          for (const std::int64_t inputs : {1, 2, 8}) {
            SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " element " << static_cast<int>(element) << " blocks "
                                              << blocks << " rows " << rows << " inputs " << inputs);
            const BlockGemvCase problem({type, element, blocks * testing::least_columns(type), rows, inputs, rows == 9});
            const DeviceMemory matrix(problem.matrix);
            const DeviceMemory input(problem.input);
            const DeviceMemory row_of(problem.row_of);
            const DeviceMemory output(std::vector<std::byte>(problem.output_bytes(), BlockGemvCase::kUntouched));
            CudaBlockGemvArgs args = problem.args();
            args.matrix = matrix.bytes();
            args.input = input.bytes();
            args.row_of = problem.row_of.empty() ? nullptr : row_of.as<std::int32_t>();
            args.output = output.bytes();
            ASSERT_EQ(cuda_block_gemv(args, nullptr), LaunchStatus::kOk);
            problem.expect_near(output.copy<std::byte>());
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(CudaKernels, UpcastRowsAreTheReferencesToTheBit) {
  constexpr std::int64_t kRows = 70;
  for (const BlockType type : testing::kEveryBlockType) {
    const std::int64_t columns = 5 * testing::least_columns(type);
    const std::vector<std::uint8_t> laid = testing::interleaved(type, random_blocks(type, kRows * columns, 7), columns);
    const testing::BarelyAligned on_host(laid);
    const DeviceMemory matrix(laid);
    const std::vector<std::int32_t> row_of = testing::shuffled(kRows, 8);
    const std::vector<std::int32_t> column_of = testing::shuffled(columns, 9);
    const std::vector<std::int64_t> ids = {12, 3, 10, 79, 10, 80, 9};
    const DeviceMemory rows_there(row_of);
    const DeviceMemory columns_there(column_of);
    const DeviceMemory ids_there(ids);
    for (const ElementType element : testing::kEveryElementType) {
      for (const bool asked : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " element " << static_cast<int>(element) << asked);
        CudaDequantiseRowsArgs args;
        args.type = type;
        args.columns = columns;
        args.rows = kRows;
        args.first = asked ? 10 : 3;
        args.count = asked ? std::ssize(ids) : kRows - 5;
        args.element = element;
        const std::vector<std::uint8_t> untouched(static_cast<std::size_t>(args.count * columns) * testing::element_bytes(element), 0x7A);
        const testing::BarelyAligned expected(untouched);
        const DeviceMemory output(untouched);
        args.matrix = on_host.begin();
        args.output = expected.begin();
        args.row_of = row_of.data();
        args.column_of = asked ? column_of.data() : nullptr;
        args.ids = asked ? ids.data() : nullptr;
        ASSERT_EQ(cuda_dequantise_rows_reference(args), LaunchStatus::kOk);
        args.matrix = matrix.bytes();
        args.output = output.bytes();
        args.row_of = rows_there.as<std::int32_t>();
        args.column_of = asked ? columns_there.as<std::int32_t>() : nullptr;
        args.ids = asked ? ids_there.as<std::int64_t>() : nullptr;
        ASSERT_EQ(cuda_dequantise_rows(args, nullptr), LaunchStatus::kOk);
        const std::vector<std::uint8_t> actual = output.copy<std::uint8_t>();
        EXPECT_EQ(std::memcmp(actual.data(), expected.begin(), actual.size()), 0);
      }
    }
  }
}

TEST_F(CudaKernels, GatedActivationsEqualTheReference) {
  for (const Activation activation : testing::kEveryActivation) {
    for (const ElementType type : testing::kEveryElementType) {
      for (const std::int64_t columns : {1, 36, 4864, 9999}) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(activation) << " type " << static_cast<int>(type) << " columns " << columns);
        const testing::GatedCase problem(activation, type, 5, columns);
        const DeviceMemory both(problem.both);
        const DeviceMemory output(std::vector<std::byte>(problem.expected.size(), std::byte{0xFF}));
        ASSERT_EQ(cuda_gated_activation(problem.args(both.bytes(), output.bytes()), nullptr), LaunchStatus::kOk);
        problem.expect_near(output.copy<std::byte>());
      }
    }
  }
}

void expect_norm(const testing::NormCase::Shape& shape) {
  SCOPED_TRACE(shape.name());
  const testing::NormCase problem(shape);
  const DeviceMemory rows(problem.input);
  const DeviceMemory weight(problem.weight);
  const DeviceMemory added(problem.added);
  const DeviceMemory output(std::vector<std::byte>(problem.expected.size(), std::byte{0xFF}));
  ASSERT_EQ(cuda_rms_norm(problem.args({rows.bytes(), weight.bytes(), added.bytes(), output.bytes()}), nullptr), LaunchStatus::kOk);
  problem.expect_near(output.copy<std::byte>(), rows.copy<std::byte>());
}

TEST_F(CudaKernels, NormsEqualTheReference) {
  for (testing::NormCase::Shape shape : testing::norm_types()) {
    for (const std::int64_t features : {1, 36, 896, 1024, 1025, 4096, 8191, 8192}) {
      for (const std::int64_t rows : {1, 9, 700}) {
        for (const bool added : {false, true}) expect_norm({shape.type, shape.weight_type, rows, 1, features, added});
      }
    }
    expect_norm({shape.type, shape.weight_type, 300, 5, 128});
    expect_norm({shape.type, shape.weight_type, 2, 3, 42});
  }
}

TEST_F(CudaKernels, RotaryPositionsEqualTheReference) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t half : {1, 5, 32, 64, 128}) {
      for (const std::int64_t rows : {1, 300}) {
        const testing::RotaryCase::Shape shape{type, rows, 17, half};
        SCOPED_TRACE(shape.name());
        const testing::RotaryCase problem(shape);
        const DeviceMemory input(problem.input);
        const DeviceMemory cosine(problem.cosine);
        const DeviceMemory sine(problem.sine);
        const DeviceMemory output(std::vector<std::byte>(problem.expected.size(), std::byte{0xFF}));
        ASSERT_EQ(cuda_rotary(problem.args({input.bytes(), cosine.bytes(), sine.bytes(), output.bytes()}), nullptr), LaunchStatus::kOk);
        problem.expect_near(output.copy<std::byte>());
      }
    }
  }
}

std::vector<std::byte> row_times_matrix(const GemvCase& problem) {
  const DeviceMemory matrix(problem.matrix);
  const DeviceMemory input(problem.input);
  const DeviceMemory bias(problem.bias);
  const DeviceMemory output(problem.untouched);
  EXPECT_EQ(cuda_gemv(problem.args(matrix.bytes(), input.bytes(), bias.bytes(), output.bytes()), nullptr), LaunchStatus::kOk);
  return output.copy<std::byte>();
}

TEST_F(CudaKernels, GemvsEqualTheReferenceOverTheGrid) {
  const auto expect_product = [](const GemvCase::Shape& shape) {
    SCOPED_TRACE(shape.name());
    const GemvCase problem(shape);
    problem.expect_near(row_times_matrix(problem));
  };
  for (GemvCase::Shape shape : testing::gemv_types()) {
    for (const std::int64_t columns : {8, 264, 896, 4864, 18'944}) {
      for (const std::int64_t rows : {1, 2, 33, 150}) {
        shape.columns = columns;
        shape.rows = rows;
        shape.bias = rows != 33;
        expect_product(shape);
        if (HasFatalFailure()) return;
      }
    }
  }
  expect_product({ElementType::kBf16, ElementType::kFp32, 151'936, 16});  // a head's many rows
  expect_product({ElementType::kBf16, ElementType::kBf16, 6200, 1072});   // blocks enough for every multiprocessor
  for (const ElementType type : testing::kEveryElementType) {
    for (const Activation activation : testing::kEveryActivation) {
      for (const std::int64_t rows : {1, 33, 150}) expect_product({type, type, rows, 896, rows != 33, activation});
    }
    expect_product({type, type, 4864, 264, true, Activation::kSilu});
    expect_product({type, type, 150, 4864, false, Activation::kGelu});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaKernels, GemvsOfTheSameInputsAreTheSameBits) {
  for (const std::int64_t rows : {150, 6200}) {
    const GemvCase problem({ElementType::kBf16, ElementType::kFp32, rows, 1072, true});
    EXPECT_EQ(row_times_matrix(problem), row_times_matrix(problem)) << rows;
  }
}

TEST_F(CudaKernels, ATokenIsRotatedAndAppendedAsByTheReference) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t half : {1, 5, 32, 64, 128}) {
      for (const std::int64_t heads : {1, 14, 64}) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " half " << half << " heads " << heads);
        testing::RotateAppendCase expected(type, heads, {0, 63, 130, 1000}, half);
        testing::RotateAppendCase actual = expected;
        ASSERT_EQ(cuda_rotate_append_reference(expected.args()), LaunchStatus::kOk);
        const DeviceMemory input(actual.input);
        const DeviceMemory cosine(actual.cosine);
        const DeviceMemory sine(actual.sine);
        const DeviceMemory queries(actual.queries);
        const DeviceMemory blocks(actual.blocks);
        const DeviceMemory table(actual.table(blocks.bytes()));
        const CudaRotateAppendArgs args =
            actual.args(input.bytes(), cosine.bytes(), sine.bytes(), queries.bytes(), table.as<void* const>());
        ASSERT_EQ(cuda_rotate_append(args, nullptr), LaunchStatus::kOk);
        actual.queries = queries.copy<std::byte>();
        actual.blocks = blocks.copy<std::byte>();
        actual.expect_near(expected);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Launches overlap (kernels/cuda/overlap.cuh): each reads what the one before it writes, and writes what that one reads.
TEST_F(CudaKernels, AChainOfLaunchesIsTheSameAsOneAfterTheOther) {
  constexpr std::int64_t kSide = 896;
  constexpr int kLinks = 400;
  const GemvCase square({ElementType::kBf16, ElementType::kBf16, kSide, kSide, true});
  const GemvCase gated({ElementType::kBf16, ElementType::kBf16, kSide, kSide, false, Activation::kGelu});
  const testing::NormCase norm({ElementType::kBf16, ElementType::kBf16, 1, 1, kSide});
  const DeviceMemory square_matrix(square.matrix);
  const DeviceMemory gated_matrix(gated.matrix);
  const DeviceMemory bias(square.bias);
  const DeviceMemory weight(norm.weight);
  const auto chain = [&](bool waits) {
    const DeviceMemory row(square.input);
    const DeviceMemory normal(square.untouched);
    const DeviceMemory inner(square.untouched);
    const auto launched = [&](LaunchStatus status) {
      EXPECT_EQ(status, LaunchStatus::kOk);
      EXPECT_EQ(waits ? cudaDeviceSynchronize() : cudaSuccess, cudaSuccess);
    };
    for (int link = 0; link < kLinks; ++link) {
      launched(cuda_rms_norm(norm.args({row.bytes(), weight.bytes(), nullptr, normal.bytes()}), nullptr));
      launched(cuda_gemv(gated.args(gated_matrix.bytes(), normal.bytes(), nullptr, inner.bytes()), nullptr));
      launched(cuda_gemv(square.args(square_matrix.bytes(), inner.bytes(), bias.bytes(), row.bytes()), nullptr));
    }
    return row.copy<std::byte>();
  };
  const std::vector<std::byte> expected = chain(true);
  for (int round = 0; round < 5; ++round) EXPECT_EQ(chain(false), expected) << round;
}

TEST_F(CudaKernels, ATokenIsChosenAsByTheReference) {
  for (const std::int64_t vocabulary : {1, 1024, 2600, 151'936, 300'000}) {
    const testing::ChooseCase given(vocabulary, 3);
    const DeviceMemory logits(given.logits);
    const DeviceMemory fresh(given.fresh);
    const DeviceMemory workspace(std::vector<std::uint64_t>(static_cast<std::size_t>(choice_workspace(vocabulary)), 0xABABABABABABABABU));
    for (SampleTokenArgs args : testing::every_choice(given)) {
      testing::ChooseCase problem = given;
      const DeviceMemory seen(problem.seen);
      const DeviceMemory choice(std::vector<std::int64_t>{-7});
      const std::int64_t expected = testing::expected_choice(problem, args);
      args.logits = logits.as<float>();
      if (args.repetition_penalty != 1.0) {
        args.seen = seen.as<std::uint8_t>();
        args.fresh = fresh.as<std::int64_t>();
        args.fresh_count = std::ssize(problem.fresh);
      }
      args.workspace = workspace.as<std::uint64_t>();
      args.choice = choice.as<std::int64_t>();
      ASSERT_EQ(cuda_sample_token(args, nullptr), LaunchStatus::kOk);
      ASSERT_EQ(choice.copy<std::int64_t>().front(), expected) << testing::name_of(args);
      EXPECT_EQ(seen.copy<std::uint8_t>(), problem.seen);
    }
  }
}

CudaColumnsCase::Result columns_of(const CudaColumnsCase& problem, std::int64_t parts) {
  const DeviceMemory query(problem.query);
  const DeviceMemory key(problem.key);
  const DeviceMemory log_sum_exp(problem.log_sum_exp);
  CudaColumnsCase::Result result(problem.shape);
  const DeviceMemory sums(result.sums);
  const DeviceMemory squares(result.squares);
  const DeviceMemory entropy(result.entropy);
  CudaColumnSumsArgs args = problem.args(
      {query.bytes(), key.bytes(), log_sum_exp.as<float>(), sums.as<float>(), squares.as<float>(), entropy.as<double>(), nullptr}, parts);
  const DeviceMemory workspace(std::vector<std::byte>(static_cast<std::size_t>(cuda_column_sums_workspace(args)), std::byte{0x7F}));
  args.workspace = workspace.bytes();
  EXPECT_EQ(cuda_column_sums(args, nullptr), LaunchStatus::kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  result.sums = sums.copy<float>();
  result.squares = squares.copy<float>();
  result.entropy = entropy.copy<double>();
  return result;
}

void expect_columns(const CudaColumnsCase::Shape& shape) {
  const CudaColumnsCase problem(shape);
  for (const std::int64_t parts : {1, 3}) {
    SCOPED_TRACE(::testing::Message() << shape.name() << " parts " << parts);
    problem.expect_near(columns_of(problem, parts));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// The reference is slow: every head size and every group occurs, not each with each.
TEST_F(CudaKernels, ColumnSumsEqualTheReferenceOverTheGrid) {
  constexpr std::array<std::int64_t, 2> kHeads[] = {{1, 1},  {18, 3},  {32, 4},  {64, 8},  {72, 3}, {80, 1},
                                                    {96, 2}, {128, 7}, {160, 1}, {256, 3}, {512, 1}};
  for (const ElementType type : testing::kEveryElementType) {
    for (CudaColumnsCase::Shape shape : testing::column_sizes()) {
      for (const auto& [head_dim, group] : kHeads) {
        for (const std::int64_t room : {8, 5}) {
          if (room == 5 && head_dim > 80) continue;  // what is not aligned is read one by one, whatever the size
          shape.type = type;
          shape.head_dim = head_dim;
          shape.group = group;
          shape.room = room;
          expect_columns(shape);
          if (HasFatalFailure()) return;
        }
      }
    }
    expect_columns({type, 128, 1, 7, 300, 400, 101});
    if (HasFatalFailure()) return;
    expect_columns({type, 64, 2, 1, 700, 700, 1});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaKernels, ColumnSumsOfTheSameInputsAreTheSameBits) {
  const CudaColumnsCase problem({ElementType::kBf16, 128, 2, 7, 1000, 900, 1});
  const CudaColumnsCase::Result first = columns_of(problem, 5);
  const CudaColumnsCase::Result second = columns_of(problem, 5);
  EXPECT_EQ(first.sums, second.sums);
  EXPECT_EQ(first.squares, second.squares);
  EXPECT_EQ(first.entropy, second.entropy);
}

}  // namespace
}  // namespace winnow::kernels
