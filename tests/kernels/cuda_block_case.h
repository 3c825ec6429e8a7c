// Matrices in blocks and vectors for the CUDA operators on them: inputs, the reference's answers and how near an answer must be.
// Copied to where the operators run (cuda/runner.h); with host pointers for the references.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/api/cuda_block_gemv.h"
#include "kernels/api/cuda_block_layout.h"
#include "kernels/api/cuda_dequantise_rows.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"
#include "tests/kernels/random_blocks.h"

namespace winnow::kernels::testing {

inline constexpr BlockType kEveryBlockType[] = {
    BlockType::kF32,  BlockType::kF16,    BlockType::kBF16,   BlockType::kQ8_0, BlockType::kQ4_0, BlockType::kQ4_1,
    BlockType::kQ5_0, BlockType::kQ5_1,   BlockType::kQ2_K,   BlockType::kQ3_K, BlockType::kQ4_K, BlockType::kQ5_K,
    BlockType::kQ6_K, BlockType::kIQ4_NL, BlockType::kIQ4_XS, BlockType::kU4Z,  BlockType::kU8Z};

// The least that a row can have: a block, or a piece.
inline std::int64_t least_columns(BlockType type) { return std::max<std::int64_t>(block_elements(type), kCudaPieceElements); }

inline std::vector<std::int32_t> shuffled(std::int64_t count, unsigned seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

// Bytes at an address that is a multiple of 16 and of no more: what reads them may count on that alone.
class BarelyAligned {
 public:
  explicit BarelyAligned(const std::vector<std::uint8_t>& bytes) : memory_(bytes.size() + 48) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = memory_.data() + (48 - address % 32) % 32;
    std::copy(bytes.begin(), bytes.end(), begin_);
  }
  BarelyAligned(const BarelyAligned&) = delete;
  BarelyAligned& operator=(const BarelyAligned&) = delete;
  void* begin() const { return begin_; }

 private:
  std::vector<std::uint8_t> memory_;
  std::uint8_t* begin_;
};

// A matrix as a GPU has it.
inline std::vector<std::uint8_t> interleaved(BlockType type, const std::vector<std::uint8_t>& blocks, std::int64_t columns) {
  const std::int64_t row_bytes = columns / block_elements(type) * block_bytes(type);
  const std::int64_t rows = std::ssize(blocks) / row_bytes;
  std::vector<std::uint8_t> matrix(blocks.size(), 0x7A);
  for (std::int64_t row = 0; row < rows; ++row)
    lay_out_row(type, blocks.data() + row * row_bytes, columns, cuda_row_planes<void*>(matrix.data(), type, rows, columns, row));
  return matrix;
}

// Numbers of `type` as they lie in memory: small ones, whose products with large blocks are in the range of fp16.
inline std::vector<std::uint8_t> random_numbers(ElementType type, std::int64_t count, unsigned seed) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * element_bytes(type));
  const std::vector<float> values = random_input(count, seed);
  for (std::int64_t i = 0; i < count; ++i)
    put(reinterpret_cast<std::byte*>(bytes.data()), type, i, values[static_cast<std::size_t>(i)] / 64.0F);
  return bytes;
}

struct BlockGemvShape {
  BlockType type = BlockType::kF32;
  ElementType element = ElementType::kFp32;
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::int64_t inputs = 1;
  bool ordered = false;  // rows in another order
};

struct BlockGemvCase {
  static constexpr std::byte kUntouched{0x7A};

  explicit BlockGemvCase(const BlockGemvShape& wanted)
      : shape(wanted),
        stored(random_blocks(shape.type, shape.rows * shape.columns, 3)),
        matrix(interleaved(shape.type, stored, shape.columns)),
        input(random_numbers(shape.element, shape.inputs * shape.columns, 4)),
        row_of(shape.ordered ? shuffled(shape.rows, 5) : std::vector<std::int32_t>()) {}

  // An output row is longer than the product: what lies behind it stays as it is.
  std::int64_t output_stride() const { return shape.rows + 3; }
  std::size_t output_bytes() const { return static_cast<std::size_t>(shape.inputs * output_stride()) * element_bytes(shape.element); }

  // Everything but the pointers.
  CudaBlockGemvArgs args() const {
    CudaBlockGemvArgs args{.type = shape.type,
                           .columns = shape.columns,
                           .rows = shape.rows,
                           .inputs = shape.inputs,
                           .element = shape.element,
                           .output_stride = output_stride()};
    return args;
  }

  // Sums of fp32 in another order: a thread adds up one of 32 pieces after the other, the warp five sums; then one rounding to 16 bits.
  void expect_near(const std::vector<std::byte>& actual) const {
    const BarelyAligned blocks(matrix);
    const BarelyAligned numbers(input);
    std::vector<std::byte> expected(output_bytes(), kUntouched);
    CudaBlockGemvArgs reference = args();
    reference.matrix = blocks.begin();
    reference.input = numbers.begin();
    reference.row_of = row_of.empty() ? nullptr : row_of.data();
    reference.output = expected.data();
    ASSERT_EQ(cuda_block_gemv_reference(reference), LaunchStatus::kOk);
    const double rounding = shape.element == ElementType::kFp32 ? 0.0 : std::ldexp(1.0, shape.element == ElementType::kBf16 ? -8 : -11);
    const double adding = std::ldexp(static_cast<double>(shape.columns) / 32.0 + 16.0, -24);
    std::vector<float> values(static_cast<std::size_t>(shape.columns));
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const std::int64_t stored_row = row_of.empty() ? row : row_of[static_cast<std::size_t>(row)];
      dequantise(shape.type, stored.data() + stored_row * (std::ssize(stored) / shape.rows), shape.columns, values.data());
      for (std::int64_t i = 0; i < shape.inputs; ++i) {
        double size = 0.0;
        for (std::size_t k = 0; k < values.size(); ++k)
          size += std::abs(values[k] * element(numbers.begin(), shape.element, i * shape.columns + static_cast<std::int64_t>(k)));
        const std::int64_t at = i * output_stride() + row;
        const double wanted = element(expected.data(), shape.element, at);
        ASSERT_NEAR(element(actual.data(), shape.element, at), wanted, adding * size + 2.0 * rounding * std::abs(wanted) + 1e-7)
            << "input " << i << " row " << row;
      }
    }
    for (std::int64_t i = 0; i < shape.inputs; ++i) {
      const auto begin = static_cast<std::size_t>(i * output_stride() + shape.rows) * element_bytes(shape.element);
      const auto end = static_cast<std::size_t>((i + 1) * output_stride()) * element_bytes(shape.element);
      ASSERT_TRUE(std::all_of(actual.begin() + static_cast<std::ptrdiff_t>(begin), actual.begin() + static_cast<std::ptrdiff_t>(end),
                              [](std::byte byte) { return byte == kUntouched; }))
          << "behind the rows of input " << i;
    }
  }

  BlockGemvShape shape;
  std::vector<std::uint8_t> stored;
  std::vector<std::uint8_t> matrix;  // laid out
  std::vector<std::uint8_t> input;
  std::vector<std::int32_t> row_of;
};

}  // namespace winnow::kernels::testing
