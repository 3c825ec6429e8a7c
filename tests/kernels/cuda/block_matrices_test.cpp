// Operators on quantised matrices against their references. On fibers a load from an address that its type is not aligned to ends the
// program, as a GPU would fault there.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/kernels/cuda/runner.h"
#include "tests/kernels/cuda_block_case.h"
#include "tests/kernels/device_memory.h"

namespace winnow::kernels::testing {
namespace {

class CudaBlocks : public testing::OnRunner {};

void expect_block_gemv(const BlockGemvShape& shape) {
  SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(shape.type) << " element " << static_cast<int>(shape.element)
                                    << " columns " << shape.columns << " rows " << shape.rows << " inputs " << shape.inputs);
  const BlockGemvCase problem(shape);
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
}

TEST_F(CudaBlocks, GemvsEqualTheReferenceForEveryTypeAndElement) {
  for (const BlockType type : testing::kEveryBlockType) {
    for (const ElementType element : testing::kEveryElementType) {
      // A warp goes round once and then with some of its threads.
      const std::int64_t least = testing::least_columns(type);
      for (const std::int64_t columns : grid_of({256 + least}, {least, 9 * least, 33 * least})) {
        for (const std::int64_t rows : grid_of({3}, {1, 2, 9, 300})) {
          for (const std::int64_t inputs : grid_of({1, 3}, {8})) {
            expect_block_gemv({type, element, columns, rows, inputs, rows == 9 || inputs == 3});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(CudaBlocks, GemvsEqualTheReferenceForEveryShape) {
  for (const BlockType type : {BlockType::kQ4_0, BlockType::kQ5_0, BlockType::kQ6_K, BlockType::kU8Z, BlockType::kIQ4_NL}) {
    for (const std::int64_t blocks : {1, 3, 9, 38}) {  // of a row: threads that have nothing to do, that go round once more than others
      for (const std::int64_t rows : {1, 2, 7, 9, 17}) {
        const std::int64_t inputs = rows == 7 ? kMaxCudaProductInputs : rows == 9 ? 2 : 1;
        expect_block_gemv({type, ElementType::kBf16, blocks * block_elements(type), rows, inputs, rows > 2});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// NaN appears in the results of its row alone.
TEST_F(CudaBlocks, GemvsKeepNanVisible) {
  std::vector<std::uint8_t> blocks = random_blocks(BlockType::kQ8_0, 3 * 64, 1);
  blocks[2 * 34] = 0x00;  // row 1's first scale
  blocks[2 * 34 + 1] = 0x7E;
  const DeviceMemory matrix(testing::interleaved(BlockType::kQ8_0, blocks, 64));
  for (const ElementType element : testing::kEveryElementType) {
    const DeviceMemory input(testing::random_numbers(element, 64, 2));
    const DeviceMemory there(std::vector<std::byte>(3 * testing::element_bytes(element)));
    const CudaBlockGemvArgs args{BlockType::kQ8_0, matrix.bytes(), 64, 3, nullptr, input.bytes(), 1, element, there.bytes(), 3};
    ASSERT_EQ(cuda_block_gemv(args, nullptr), LaunchStatus::kOk);
    const std::vector<std::byte> output = there.copy<std::byte>();
    EXPECT_TRUE(std::isfinite(kernels::element(output.data(), element, 0)));
    EXPECT_TRUE(std::isnan(kernels::element(output.data(), element, 1)));
    EXPECT_TRUE(std::isfinite(kernels::element(output.data(), element, 2)));
  }
}

struct DequantiseCase {
  CudaDequantiseRowsArgs args;  // everything but the pointers
  std::vector<std::uint8_t> matrix;
  std::vector<std::int32_t> row_of, column_of;  // empty: as they lie
  std::vector<std::int64_t> ids;                // empty: from args.first on
};

template <class Item, class Memory>
const Item* given(const std::vector<Item>& items, const Memory* memory) {
  return items.empty() ? nullptr : memory;
}

// Both outputs begin as the same bytes.
void expect_same_rows(const DequantiseCase& problem) {
  CudaDequantiseRowsArgs args = problem.args;
  const std::vector<std::uint8_t> untouched(static_cast<std::size_t>(args.count * args.columns) * testing::element_bytes(args.element),
                                            0x7A);
  const BarelyAligned matrix_here(problem.matrix);
  const BarelyAligned expected(untouched);
  args.matrix = matrix_here.begin();
  args.output = expected.begin();
  args.row_of = given(problem.row_of, problem.row_of.data());
  args.column_of = given(problem.column_of, problem.column_of.data());
  args.ids = given(problem.ids, problem.ids.data());
  ASSERT_EQ(cuda_dequantise_rows_reference(args), LaunchStatus::kOk);
  const DeviceMemory matrix(problem.matrix);
  const DeviceMemory output(untouched);
  const DeviceMemory row_of(problem.row_of);
  const DeviceMemory column_of(problem.column_of);
  const DeviceMemory ids(problem.ids);
  args.matrix = matrix.bytes();
  args.output = output.bytes();
  args.row_of = given(problem.row_of, row_of.as<std::int32_t>());
  args.column_of = given(problem.column_of, column_of.as<std::int32_t>());
  args.ids = given(problem.ids, ids.as<std::int64_t>());
  ASSERT_EQ(cuda_dequantise_rows(args, nullptr), LaunchStatus::kOk);
  EXPECT_EQ(std::memcmp(output.copy<std::uint8_t>().data(), expected.begin(), untouched.size()), 0);
}

TEST_F(CudaBlocks, DequantisedRowsAreTheReferencesToTheBit) {
  for (const BlockType type : testing::kEveryBlockType) {
    for (const std::int64_t rows : grid_of({5}, {70})) {
      DequantiseCase problem;
      problem.args.type = type;
      problem.args.columns = 3 * testing::least_columns(type);
      problem.args.rows = rows;
      problem.matrix = testing::interleaved(type, random_blocks(type, rows * problem.args.columns, 7), problem.args.columns);
      for (const ElementType element : testing::kEveryElementType) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " element " << static_cast<int>(element));
        problem.args.element = element;
        problem.args.first = 0;
        problem.args.count = rows;
        problem.row_of = problem.column_of = {};
        expect_same_rows(problem);
        problem.args.first = 1;
        problem.args.count = rows - 2;
        problem.row_of = testing::shuffled(rows, 8);
        problem.column_of = testing::shuffled(problem.args.columns, 9);
        expect_same_rows(problem);
      }
    }
  }
}

TEST_F(CudaBlocks, RowsThatAreAskedForAreThoseOfThisPart) {
  for (const BlockType type : grid_of({BlockType::kQ5_1}, {BlockType::kQ8_0, BlockType::kQ4_K, BlockType::kU4Z})) {
    DequantiseCase problem;
    problem.args.type = type;
    problem.args.columns = 2 * testing::least_columns(type);
    problem.args.rows = 6;
    problem.args.first = 10;
    problem.matrix = testing::interleaved(type, random_blocks(type, 6 * problem.args.columns, 10), problem.args.columns);
    problem.row_of = testing::shuffled(6, 11);
    problem.ids = {12, 3, 10, 16, 10, 15, 9};  // rows 10 to 15 lie here
    problem.args.count = std::ssize(problem.ids);
    expect_same_rows(problem);
  }
}

}  // namespace
}  // namespace winnow::kernels::testing
