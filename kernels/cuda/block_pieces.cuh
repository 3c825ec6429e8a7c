// Quantised blocks (kernels/api/block_types.h) on a GPU: one struct a type, and eight adjacent elements of a row dequantised to fp32.
//
// Used by block_gemv.cuh and dequantise_rows.cu. Values are those of kernels/reference/block_types.cpp to the bit: products are rounded
// before they are added. Here are the types that stay as they are stored (kernels/api/cuda_block_layout.h); interleaved_blocks.cuh has the
// others. Eight adjacent elements share scale, shift and sign in every type, so a thread only needs their contiguous bytes. kAlignment says
// how far those bytes are aligned in every block when the matrix is to 16 bytes: a block of IQ4_NL has 18, so nothing in it can be read in
// more than two bytes at a time.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_block_gemv.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/interleaved_blocks.cuh"

namespace winnow::kernels::cuda {

// Eight bytes one after the other, the first lowest.
struct EightBytes {
  std::uint32_t words[2];
  __device__ unsigned bits(int byte, int shift, unsigned mask) const { return (words[byte / 4] >> (byte % 4 * 8 + shift)) & mask; }
};

// kAlignment: 2, 4 or 8 bytes.
template <int kAlignment>
__device__ inline EightBytes eight_bytes(const Byte* from) {
  if constexpr (kAlignment == 2) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(from);
    return {{halves[0] | static_cast<std::uint32_t>(halves[1]) << 16, halves[2] | static_cast<std::uint32_t>(halves[3]) << 16}};
  } else if constexpr (kAlignment == 4) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(from);
    return {{words[0], words[1]}};
  } else {
    const Pack<std::uint32_t, 2> pair = load<2>(reinterpret_cast<const std::uint32_t*>(from));
    return {{pair.values[0], pair.values[1]}};
  }
}

// A type has kElements and kBytes of a block, and dequantise(block, first, to): elements [first, first + 8) of it; first: a multiple of 8.

struct F32 {
  static constexpr int kElements = kPiece, kBytes = 4 * kPiece;
  __device__ static void dequantise(const Byte* block, int /*first*/, float* to) {
    const Pack<float, kPiece> values = load<kPiece>(reinterpret_cast<const float*>(block));
#pragma unroll
    for (int i = 0; i < kPiece; ++i) to[i] = values.values[i];
  }
};

template <class Narrow>
struct SixteenBits {
  static constexpr int kElements = kPiece, kBytes = 2 * kPiece;
  __device__ static void dequantise(const Byte* block, int /*first*/, float* to) {
    const Pack<Narrow, kPiece> values = load<kPiece>(reinterpret_cast<const Narrow*>(block));
#pragma unroll
    for (int i = 0; i < kPiece; ++i) to[i] = cuda::upcast(values.values[i]);
  }
};

// 32 nibbles: elements i and i + 16 share a byte, the earlier one in its low half.
__device__ inline int nibble_byte(int first) { return first % 16; }
__device__ inline int nibble_shift(int first) { return first / 16 * 4; }

// Codes of two bits, 16 neighbours in 16 bytes, four times in 32 bytes: bytes and shift of Q2_K and Q3_K.
__device__ inline int pair_byte(int first) { return first / 128 * 32 + first % 32; }
__device__ inline int pair_shift(int first) { return first % 128 / 32 * 2; }

struct Q2_K {
  static constexpr int kElements = 256, kBytes = 84;
  __device__ static void dequantise(const Byte* block, int first, float* to) {
    const unsigned sub = block[first / 16];
    const float scale = __fmul_rn(half_at(block + 80), number(sub & 15U, 0.0F));
    const float least = __fmul_rn(half_at(block + 82), number(sub >> 4, 0.0F));
    const EightBytes pairs = eight_bytes<4>(block + 16 + pair_byte(first));
#pragma unroll
    for (int i = 0; i < kPiece; ++i) to[i] = __fsub_rn(__fmul_rn(scale, number(pairs.bits(i, pair_shift(first), 3U), 0.0F)), least);
  }
};

struct Q3_K {
  static constexpr int kElements = 256, kBytes = 110;
  __device__ static void dequantise(const Byte* block, int first, float* to) {
    const int sub = first / 16;
    const unsigned low = (block[96 + sub % 8] >> (sub / 8 * 4)) & 15U;
    const unsigned high = (block[104 + sub % 4] >> (sub / 4 * 2)) & 3U;
    const float factor = __fmul_rn(half_at(block + 108), number(low | high << 4, 32.0F));
    const EightBytes thirds = eight_bytes<2>(block + first % 32);
    const EightBytes pairs = eight_bytes<2>(block + 32 + pair_byte(first));
#pragma unroll
    for (int i = 0; i < kPiece; ++i) {
      const unsigned code = pairs.bits(i, pair_shift(first), 3U) | thirds.bits(i, first / 32, 1U) << 2;
      to[i] = __fmul_rn(factor, number(code, 4.0F));
    }
  }
};

// IQ4's values by nibble, with 128 added: four to a word.
__device__ inline unsigned step_code(unsigned nibble) {
  constexpr std::uint32_t kSteps[4] = {0x3F2D1801U, 0x766A5D4FU, 0xA6998D81U, 0xF1D9C5B5U};
  const std::uint32_t low = nibble < 4 ? kSteps[0] : kSteps[1];
  const std::uint32_t high = nibble < 12 ? kSteps[2] : kSteps[3];
  return ((nibble < 8 ? low : high) >> (nibble % 4 * 8)) & 255U;
}

struct IQ4_NL {
  static constexpr int kElements = 32, kBytes = 18;
  __device__ static void dequantise(const Byte* block, int first, float* to) {
    const float scale = half_at(block);
    const EightBytes nibbles = eight_bytes<2>(block + 2 + nibble_byte(first));
#pragma unroll
    for (int i = 0; i < kPiece; ++i) to[i] = __fmul_rn(scale, number(step_code(nibbles.bits(i, nibble_shift(first), 15U)), 128.0F));
  }
};

struct IQ4_XS {
  static constexpr int kElements = 256, kBytes = 136;
  __device__ static void dequantise(const Byte* block, int first, float* to) {
    const int sub = first / 32;
    const unsigned low = (block[4 + sub / 2] >> (sub % 2 * 4)) & 15U;
    const unsigned high = (block[2 + sub / 4] >> (sub % 4 * 2)) & 3U;
    const float factor = __fmul_rn(half_at(block), number(low | high << 4, 32.0F));
    const EightBytes nibbles = eight_bytes<8>(block + 8 + sub * 16 + nibble_byte(first));
#pragma unroll
    for (int i = 0; i < kPiece; ++i) to[i] = __fmul_rn(factor, number(step_code(nibbles.bits(i, nibble_shift(first % 32), 15U)), 128.0F));
  }
};

// Row `row` of a matrix of `rows` rows.
template <class Type>
__device__ inline auto matrix_row(const Byte* matrix, std::int64_t rows, int columns, std::int64_t row) {
  if constexpr (kIsInterleaved<Type>) {
    return interleaved_row<Type>(matrix, rows, columns, row);
  } else {
    return matrix + row * (static_cast<std::int64_t>(columns / Type::kElements) * Type::kBytes);
  }
}

// Elements [column, column + 8) of a row; column: a multiple of 8.
template <class Type, class Row>
__device__ inline void dequantise_piece(const Row& row, int column, float (&to)[kPiece]) {
  if constexpr (kIsInterleaved<Type>) {
    dequantise_interleaved<Type>(row, column, to);
  } else {
    Type::dequantise(row + static_cast<std::int64_t>(column / Type::kElements) * Type::kBytes, column % Type::kElements, to);
  }
}

// visit(Type{}) for the struct of `type`, which is known; on the host.
template <class Visit>
void with_block_type(BlockType type, const Visit& visit) {
  switch (type) {
    case BlockType::kF32: return visit(F32{});
    case BlockType::kF16: return visit(SixteenBits<Fp16>{});
    case BlockType::kBF16: return visit(SixteenBits<Bf16>{});
    case BlockType::kQ8_0: return visit(Q8_0{});
    case BlockType::kQ4_0: return visit(Q4_0{});
    case BlockType::kQ4_1: return visit(Q4_1{});
    case BlockType::kQ5_0: return visit(Q5_0{});
    case BlockType::kQ5_1: return visit(Q5_1{});
    case BlockType::kQ2_K: return visit(Q2_K{});
    case BlockType::kQ3_K: return visit(Q3_K{});
    case BlockType::kQ4_K: return visit(Q4_K{});
    case BlockType::kQ5_K: return visit(Q5_K{});
    case BlockType::kQ6_K: return visit(Q6_K{});
    case BlockType::kIQ4_NL: return visit(IQ4_NL{});
    case BlockType::kIQ4_XS: return visit(IQ4_XS{});
    case BlockType::kU4Z: return visit(U4Z{});
    case BlockType::kU8Z: return visit(U8Z{});
  }
}

}  // namespace winnow::kernels::cuda
