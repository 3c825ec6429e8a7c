// The source of the CUDA operators on matrices in blocks, on CPU threads (cuda_on_cpu.h), against kernels/reference. Compiled so that a
// load from an address that its type is not aligned to ends the program: a GPU faults there and a CPU does not.
#include "tests/kernels/cuda_on_cpu.h"

#include <gtest/gtest.h>

#include <tuple>

#include "kernels/cuda/block_gemv.cuh"
#include "kernels/cuda/dequantise_rows.cuh"
#include "kernels/cuda/tile_product.cuh"
#include "kernels/reference/check_cuda_blocks.h"
#include "tests/kernels/cuda_block_case.h"

namespace winnow::kernels {
namespace {

using testing::BarelyAligned;
using testing::BlockGemvCase;
using testing::BlockGemvShape;

// As cuda_block_gemv() launches.
void multiply(const CudaBlockGemvArgs& args) {
  ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
  const cuda::ProductLaunch launch = cuda::plan_launch(args);
  cuda::with_block_type(args.type, [&](auto type) {
    using Type = decltype(type);
    if constexpr (cuda::kIsInterleaved<Type>) {
      if (args.element != ElementType::kFp32) {
        return cuda::launch_on_cpu({cuda::tile_blocks(args), 1, 1}, 32 * cuda::kTileWarps, [&] {
          if (args.element == ElementType::kBf16) {
            cuda::multiply_tiles<Type, cuda::Bf16>(launch);
          } else {
            cuda::multiply_tiles<Type, cuda::Fp16>(launch);
          }
        });
      }
    }
    cuda::launch_on_cpu({cuda::product_blocks(args), 1, 1}, 32 * cuda::kProductWarps, [&] {
      if (args.inputs == 1) {
        cuda::multiply_rows<Type, 1>(launch);
      } else {
        cuda::multiply_rows<Type, cuda::kManyInputs>(launch);
      }
    });
  });
}

void expect_product(const BlockGemvShape& shape) {
  SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(shape.type) << " element " << static_cast<int>(shape.element)
                                    << " columns " << shape.columns << " rows " << shape.rows << " inputs " << shape.inputs);
  const BlockGemvCase problem(shape);
  const BarelyAligned matrix(problem.matrix);
  const BarelyAligned input(problem.input);
  std::vector<std::byte> output(problem.output_bytes(), BlockGemvCase::kUntouched);
  CudaBlockGemvArgs args = problem.args();
  args.matrix = matrix.begin();
  args.input = input.begin();
  args.row_of = problem.row_of.empty() ? nullptr : problem.row_of.data();
  args.output = output.data();
  multiply(args);
  problem.expect_near(output);
}

TEST(CudaBlocksSource, ProductsEqualTheReferenceForEveryTypeAndElement) {
  for (const BlockType type : testing::kEveryBlockType) {
    for (const ElementType element : testing::kEveryElementType) {
      for (const std::int64_t inputs : {1, 3}) {
        // A warp goes round once and then with some of its threads.
        expect_product({type, element, 256 + testing::least_columns(type), 3, inputs, inputs == 3});
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(CudaBlocksSource, ProductsEqualTheReferenceForEveryShape) {
  for (const BlockType type : {BlockType::kQ4_0, BlockType::kQ5_0, BlockType::kQ6_K, BlockType::kU8Z, BlockType::kIQ4_NL}) {
    const std::int64_t block = block_elements(type);
    for (const std::int64_t blocks : {1, 3, 9, 38}) {  // of a row: threads that have nothing to do, that go round once more than others
      for (const std::int64_t rows : {1, 2, 7, 9, 17}) {
        const std::int64_t inputs = rows == 7 ? kMaxCudaProductInputs : rows == 9 ? 2 : 1;
        expect_product({type, ElementType::kBf16, blocks * block, rows, inputs, rows > 2});
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// What is no number is no number in the results of its row alone.
TEST(CudaBlocksSource, ProductsKeepNanVisible) {
  std::vector<std::uint8_t> blocks = random_blocks(BlockType::kQ8_0, 3 * 64, 1);
  blocks[2 * 34] = 0x00;  // row 1's first scale
  blocks[2 * 34 + 1] = 0x7E;
  const BarelyAligned matrix(testing::interleaved(BlockType::kQ8_0, blocks, 64));
  for (const ElementType element : testing::kEveryElementType) {
    const BarelyAligned input(testing::random_numbers(element, 64, 2));
    std::vector<std::byte> output(3 * sizeof(float));
    multiply({BlockType::kQ8_0, matrix.begin(), 64, 3, nullptr, input.begin(), 1, element, output.data(), 3});
    EXPECT_TRUE(std::isfinite(testing::element_at(output, element, 0)));
    EXPECT_TRUE(std::isnan(testing::element_at(output, element, 1)));
    EXPECT_TRUE(std::isfinite(testing::element_at(output, element, 2)));
  }
}

// As cuda_dequantise_rows() launches; both outputs begin as the same bytes.
void expect_same_rows(CudaDequantiseRowsArgs args) {
  const std::vector<std::uint8_t> untouched(static_cast<std::size_t>(args.count * args.columns) * testing::element_bytes(args.element),
                                            0x7A);
  const BarelyAligned expected(untouched);
  const BarelyAligned actual(untouched);
  args.output = expected.begin();
  ASSERT_EQ(cuda_dequantise_rows_reference(args), LaunchStatus::kOk);
  args.output = actual.begin();
  const cuda::DequantiseLaunch launch = cuda::plan_launch(args);
  cuda::with_block_type(args.type, [&](auto type) {
    using Type = decltype(type);
    cuda::launch_on_cpu({cuda::dequantise_blocks<Type>(args), 1, 1}, cuda::kDequantiseThreads,
                        [&] { cuda::dequantise_pieces<Type>(launch); });
  });
  EXPECT_EQ(std::memcmp(actual.begin(), expected.begin(), untouched.size()), 0);
}

TEST(CudaBlocksSource, DequantisedRowsAreTheReferencesToTheBit) {
  for (const BlockType type : testing::kEveryBlockType) {
    const std::int64_t columns = 3 * testing::least_columns(type);
    const BarelyAligned matrix(testing::interleaved(type, random_blocks(type, 5 * columns, 7), columns));
    const std::vector<std::int32_t> row_of = testing::shuffled(5, 8);
    const std::vector<std::int32_t> column_of = testing::shuffled(columns, 9);
    for (const ElementType element : testing::kEveryElementType) {
      SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " element " << static_cast<int>(element));
      CudaDequantiseRowsArgs args;
      args.type = type;
      args.matrix = matrix.begin();
      args.columns = columns;
      args.rows = 5;
      args.count = 5;
      args.element = element;
      expect_same_rows(args);
      args.first = 1;
      args.count = 3;
      args.row_of = row_of.data();
      args.column_of = column_of.data();
      expect_same_rows(args);
    }
  }
}

TEST(CudaBlocksSource, RowsThatAreAskedForAreThoseOfThisPart) {
  const BarelyAligned matrix(testing::interleaved(BlockType::kQ5_1, random_blocks(BlockType::kQ5_1, 6 * 64, 10), 64));
  const std::vector<std::int64_t> ids = {12, 3, 10, 16, 10, 15, 9};  // rows 10 to 15 lie here
  const std::vector<std::int32_t> row_of = testing::shuffled(6, 11);
  CudaDequantiseRowsArgs args;
  args.type = BlockType::kQ5_1;
  args.matrix = matrix.begin();
  args.columns = 64;
  args.rows = 6;
  args.row_of = row_of.data();
  args.first = 10;
  args.ids = ids.data();
  args.count = std::ssize(ids);
  expect_same_rows(args);
}

// Nothing is lost on the way, and no plane reaches into another.
TEST(CudaBlocksSource, BlocksComeBackAsTheyWereStored) {
  for (const BlockType type : testing::kEveryBlockType) {
    SCOPED_TRACE(static_cast<int>(type));
    const std::int64_t elements = block_elements(type);
    const auto bytes = static_cast<std::size_t>(block_bytes(type));
    for (const std::int64_t blocks : {1, 2, 3, 7, 8}) {
      const std::vector<std::uint8_t> stored = random_blocks(type, 3 * blocks * elements, 12);
      std::vector<std::uint8_t> matrix = testing::interleaved(type, stored, blocks * elements);
      std::vector<std::uint8_t> found(stored.size());
      for (std::size_t i = 0; i < stored.size() / bytes; ++i) {
        const auto block = static_cast<std::int64_t>(i);
        stored_block(type, cuda_row_planes<const void*>(matrix.data(), type, 3, blocks * elements, block / blocks), blocks * elements,
                     block % blocks, found.data() + i * bytes);
      }
      EXPECT_EQ(found, stored) << blocks << " blocks of a row";
    }
  }
}

TEST(CudaBlocksSource, DeviceTypesHaveTheSizesOfTheFormat) {
  for (const BlockType type : testing::kEveryBlockType) {
    cuda::with_block_type(type, [&](auto device) {
      using Type = decltype(device);
      EXPECT_EQ(Type::kElements % cuda::kPiece, 0);
      EXPECT_EQ(Type::kElements % block_elements(type), 0);
      EXPECT_EQ(Type::kElements / block_elements(type) * block_bytes(type), Type::kBytes) << static_cast<int>(type);
    });
  }
}

// That the tests above would notice what a GPU would not do.
TEST(CudaBlocksSource, ALoadFromWhereItsTypeIsNotAlignedEndsTheProgram) {
  alignas(16) static constexpr std::uint8_t kBytes[32] = {};
  EXPECT_EQ(cuda::eight_bytes<8>(kBytes + 8).words[0], 0U);
  EXPECT_DEATH(std::ignore = cuda::eight_bytes<8>(kBytes + 4).words[0], "misaligned");
  EXPECT_DEATH(std::ignore = cuda::eight_bytes<4>(kBytes + 2).words[0], "misaligned");
  EXPECT_DEATH(std::ignore = cuda::eight_bytes<2>(kBytes + 1).words[0], "misaligned");
}

TEST(CudaBlocksSource, BadArgumentsAreRefused) {
  alignas(16) static std::uint8_t memory[256] = {};
  const CudaBlockGemvArgs product{BlockType::kQ8_0, memory, 32, 2, nullptr, memory, 1, ElementType::kFp32, memory, 2};
  ASSERT_EQ(check_arguments(product), LaunchStatus::kOk);
  const auto expect = [&](LaunchStatus status, auto change) {
    CudaBlockGemvArgs args = product;
    change(args);
    EXPECT_EQ(check_arguments(args), status);
    EXPECT_EQ(cuda_block_gemv_reference(args), status);
  };
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.matrix = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.matrix = memory + 8; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.input = memory + 4; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.rows = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.inputs = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output_stride = 1; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.columns = 48; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.columns = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<BlockType>(99); });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.element = static_cast<ElementType>(9); });
  expect(LaunchStatus::kBadArgument, [](auto& a) {
    a.type = BlockType::kF16;
    a.columns = 12;  // whole blocks and no whole pieces
  });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.inputs = kMaxCudaProductInputs + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.rows = a.output_stride = kMaxCudaMatrixSide + 1; });

  CudaDequantiseRowsArgs dequantise;
  dequantise.type = BlockType::kQ8_0;
  dequantise.matrix = memory;
  dequantise.columns = 32;
  dequantise.rows = 2;
  dequantise.count = 1;
  dequantise.output = memory;
  ASSERT_EQ(check_arguments(dequantise), LaunchStatus::kOk);
  const auto expect_dequantise = [&](LaunchStatus status, auto change) {
    CudaDequantiseRowsArgs args = dequantise;
    change(args);
    EXPECT_EQ(check_arguments(args), status);
    EXPECT_EQ(cuda_dequantise_rows_reference(args), status);
  };
  const std::int64_t ids[] = {0, 1, 2};
  expect_dequantise(LaunchStatus::kOk, [&](auto& a) {
    a.ids = ids;
    a.count = 3;  // more than there are rows
  });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.first = 2; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.first = -1; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.count = 3; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.count = 0; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.output = memory + 2; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.columns = 33; });
  expect_dequantise(LaunchStatus::kUnsupported, [](auto& a) {
    a.rows = a.count = kMaxCudaMatrixSide;
    a.columns = 320;
  });
}

}  // namespace
}  // namespace winnow::kernels
