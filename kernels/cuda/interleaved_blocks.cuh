// The block types that are interleaved on a GPU (kernels/api/cuda_block_layout.h): one struct a type, and the loads from their planes.
//
// Used by block_pieces.cuh, which has the other types, and tile_product.cuh. A type has its sizes, the way its codes become values, and
// scale(row, column): what does so for element `column` and the others of its sub-block.
#pragma once

#include <cstdint>

#include "kernels/api/cuda_block_gemv.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/tensor_core.cuh"

namespace winnow::kernels::cuda {

using Byte = std::uint8_t;

constexpr int kPiece = static_cast<int>(kCudaPieceElements);
constexpr int kGroup = 32;                     // elements
constexpr int kGroupPieces = kGroup / kPiece;  // that four neighbouring threads read

// Codes of up to 23 bits become floats in the fraction of 2^23, which is cheaper than a conversion; subtracting the zero point removes it
// exactly.
constexpr float kCodeBase = 8388608.0F;
__device__ inline float number(unsigned code, float zero) { return __uint_as_float(0x4B000000U | code) - (kCodeBase + zero); }

__device__ inline float half_at(const Byte* at) { return upcast(*reinterpret_cast<const Fp16*>(at)); }

// The matrix's four planes and one of its rows: how many groups lie before it, and its own.
struct InterleavedRow {
  const Byte* codes;
  const Byte* subs;
  const Byte* highs;
  const Byte* heads;
  std::int64_t before;
  int groups;
};

// How a code becomes a value.
enum class Offset {
  kMiddle,  // factor x (code - kMiddle)
  kZero,    // factor x (code - offset)
  kLeast,   // factor x code + offset
};
struct Scale {
  float factor, offset;
};
// Column / elements and the rest of it, for columns that are never negative: dividing signed integers by powers of two takes four
// instructions.
__device__ inline int whole(int column, unsigned elements) { return static_cast<int>(static_cast<unsigned>(column) / elements); }
__device__ inline int rest(int column, unsigned elements) { return static_cast<int>(static_cast<unsigned>(column) % elements); }

template <int kElements_, int kCodeBits_, int kHighBits_, int kSubBytes_, int kHeadBytes_, Offset kOffset_>
struct InterleavedType {
  static constexpr int kElements = kElements_;
  static constexpr int kCodeBits = kCodeBits_, kHighBits = kHighBits_;
  static constexpr int kSubBytes = kSubBytes_, kHeadBytes = kHeadBytes_;  // of a block
  static constexpr int kBytes = kElements / 8 * (kCodeBits + kHighBits) + kSubBytes + kHeadBytes;
  static constexpr Offset kOffset = kOffset_;
  static constexpr int kMiddle = 1 << (kCodeBits + kHighBits - 1);
  static constexpr int kWords = kCodeBits / 4;      // of a piece's codes
  static constexpr int kTogether = 16 / kCodeBits;  // groups whose pieces a thread reads at a time
  static constexpr int kScales = 1;                 // of a group
};

struct Q4_0 : InterleavedType<32, 4, 0, 0, 2, Offset::kMiddle> {
  __device__ static Scale scale(const InterleavedRow& row, int column) {
    return {half_at(row.heads + (row.before + whole(column, 32)) * 2), 0.0F};
  }
};
struct Q5_0 : InterleavedType<32, 4, 1, 0, 2, Offset::kMiddle> {
  __device__ static Scale scale(const InterleavedRow& row, int column) { return Q4_0::scale(row, column); }
};
struct Q8_0 : InterleavedType<32, 8, 0, 0, 2, Offset::kMiddle> {
  __device__ static Scale scale(const InterleavedRow& row, int column) { return Q4_0::scale(row, column); }
};

struct Q4_1 : InterleavedType<32, 4, 0, 0, 4, Offset::kLeast> {
  __device__ static Scale scale(const InterleavedRow& row, int column) {
    const Pack<Fp16, 2> head = load<2>(reinterpret_cast<const Fp16*>(row.heads + (row.before + whole(column, 32)) * 4));
    return {cuda::upcast(head.values[0]), cuda::upcast(head.values[1])};
  }
};
struct Q5_1 : InterleavedType<32, 4, 1, 0, 4, Offset::kLeast> {
  __device__ static Scale scale(const InterleavedRow& row, int column) { return Q4_1::scale(row, column); }
};

struct U4Z : InterleavedType<32, 4, 0, 0, 4, Offset::kZero> {
  __device__ static Scale scale(const InterleavedRow& row, int column) {
    const Pack<Fp16, 2> head = load<2>(reinterpret_cast<const Fp16*>(row.heads + (row.before + whole(column, 32)) * 4));
    return {cuda::upcast(head.values[0]), number(head.values[1].bits & 255U, 0.0F)};
  }
};
struct U8Z : InterleavedType<32, 8, 0, 0, 4, Offset::kZero> {
  __device__ static Scale scale(const InterleavedRow& row, int column) { return U4Z::scale(row, column); }
};

// Scale of the scales, of the minima, and 8 of each in 12 bytes, six bits each: four scales, four minima, and the low halves of the other
// eight, whose two high bits lie in the first eight bytes.
struct Q4_K : InterleavedType<256, 4, 0, 0, 16, Offset::kLeast> {
  __device__ static Scale scale(const InterleavedRow& row, int column) {
    const Pack<std::uint32_t, 4> head =
        load<4>(reinterpret_cast<const std::uint32_t*>(row.heads + (row.before / 8 + whole(column, 256)) * 16));
    const int sub = rest(whole(column, 32), 8);
    const int shift = rest(sub, 4) * 8;
    const unsigned first = head.values[1] >> shift;
    const unsigned second = head.values[2] >> shift;
    const unsigned third = head.values[3] >> shift;
    const unsigned factor = sub < 4 ? first & 63U : (third & 15U) | ((first >> 2) & 48U);
    const unsigned least = sub < 4 ? second & 63U : ((third >> 4) & 15U) | ((second >> 2) & 48U);
    const float factors = cuda::upcast(Fp16{static_cast<std::uint16_t>(head.values[0] & 0xFFFFU)});
    const float minima = cuda::upcast(Fp16{static_cast<std::uint16_t>(head.values[0] >> 16)});
    return {__fmul_rn(factors, number(factor, 0.0F)), -__fmul_rn(minima, number(least, 0.0F))};
  }
};
struct Q5_K : InterleavedType<256, 4, 1, 0, 16, Offset::kLeast> {
  __device__ static Scale scale(const InterleavedRow& row, int column) { return Q4_K::scale(row, column); }
};

struct Q6_K : InterleavedType<256, 4, 2, 16, 2, Offset::kMiddle> {
  static constexpr int kScales = 2;
  __device__ static Scale scale(const InterleavedRow& row, int column) {
    return {__fmul_rn(half_at(row.heads + (row.before / 8 + whole(column, 256)) * 2),
                      number(row.subs[row.before * 2 + whole(column, 16)] ^ 128U, 128.0F)),
            0.0F};
  }
};

template <class Type>
inline constexpr bool kIsInterleaved = requires {
  Type::kTogether;
};

template <class Type>
__device__ inline InterleavedRow interleaved_row(const Byte* matrix, std::int64_t rows, int columns, std::int64_t row) {
  const int groups = columns / kGroup;
  const std::int64_t all = rows * groups;
  const Byte* const subs = matrix + all * (kGroupPieces * Type::kCodeBits);
  const Byte* const highs = subs + all / (Type::kElements / kGroup) * Type::kSubBytes;
  const Byte* const heads = highs + all * (kGroupPieces * Type::kHighBits);
  return {matrix, subs, highs, heads, row * groups, groups};
}

// The bits of a piece: codes, and their high bits in the low ones of `highs`.
template <class Type>
struct Piece {
  std::uint32_t codes[Type::kWords];
  std::uint32_t highs;
};

__device__ constexpr unsigned moved(unsigned bits, int left) { return left >= 0 ? bits << left : bits >> -left; }

// Codes 2 x pair and 2 x pair + 1 of a piece, in the low and the high 16 bits, over the bits of `base`. Codes of four to six bits.
template <class Type>
__device__ inline unsigned codes_over(unsigned base, const Piece<Type>& piece, int pair) {
  static_assert(Type::kCodeBits == 4);
  if constexpr (Type::kHighBits == 1) base = masked_or(moved(piece.highs | piece.highs << 15, 4 - 2 * pair), 0x00100010U, base);
  if constexpr (Type::kHighBits == 2) base = masked_or(moved(piece.highs | piece.highs << 14, 4 - 4 * pair), 0x00300030U, base);
  return masked_or(piece.codes[0] >> (pair * 4), 0x000F000FU, base);
}
template <class Type>
__device__ inline unsigned code_pair(const Piece<Type>& piece, int pair) {
  if constexpr (Type::kCodeBits == 8) {
    return (piece.codes[pair / 2] >> (pair % 2 * 8)) & 0x00FF00FFU;
  } else {
    return codes_over<Type>(0, piece, pair);
  }
}

template <class Type>
__device__ inline std::uint32_t high_bits(const Byte* highs, std::int64_t piece) {
  if constexpr (Type::kHighBits == 1) return highs[piece];
  if constexpr (Type::kHighBits == 2) return reinterpret_cast<const std::uint16_t*>(highs)[piece];
  return 0;
}

template <class Type>
__device__ inline Piece<Type> piece_at(const InterleavedRow& row, int in_row) {
  const std::int64_t place = row.before * kGroupPieces + in_row;
  Piece<Type> piece;
  const auto* const codes = reinterpret_cast<const std::uint32_t*>(row.codes) + place * Type::kWords;
  const Pack<std::uint32_t, Type::kWords> words = load<Type::kWords>(codes);
#pragma unroll
  for (int i = 0; i < Type::kWords; ++i) piece.codes[i] = words.values[i];
  piece.highs = high_bits<Type>(row.highs, place);
  return piece;
}

// One piece of each of some groups that lie together, as they are read: high bits of pieces one after the other.
template <class Type>
struct Pieces {
  static constexpr int kHighWords = Type::kHighBits == 2 ? 2 : 1;
  std::uint32_t codes[Type::kTogether * Type::kWords];
  std::uint32_t highs[kHighWords];

  __device__ Piece<Type> operator[](int group) const {
    Piece<Type> piece = {};
#pragma unroll
    for (int i = 0; i < Type::kWords; ++i) piece.codes[i] = codes[group * Type::kWords + i];
    if constexpr (Type::kHighBits == 1) piece.highs = (highs[0] >> (group * 8)) & 255U;
    if constexpr (Type::kHighBits == 2) piece.highs = (highs[group / 2] >> (group % 2 * 16)) & 0xFFFFU;
    return piece;
  }
};

// Piece `quarter` of groups [first, first + count); of those behind: zero.
template <class Type>
__device__ inline Pieces<Type> load_pieces(const InterleavedRow& row, int first, int count, int quarter) {
  Pieces<Type> pieces = {};
  const int in_row = first * kGroupPieces + quarter * count;
  if (count == Type::kTogether) {
    const std::int64_t place = row.before * kGroupPieces + in_row;
    const Pack<std::uint32_t, 4> words = load<4>(reinterpret_cast<const std::uint32_t*>(row.codes) + place * Type::kWords);
#pragma unroll
    for (int i = 0; i < 4; ++i) pieces.codes[i] = words.values[i];
    if constexpr (Type::kHighBits == 1) pieces.highs[0] = *reinterpret_cast<const std::uint32_t*>(row.highs + place);
    if constexpr (Type::kHighBits == 2) {
      const Pack<std::uint32_t, 2> words_of_highs = load<2>(reinterpret_cast<const std::uint32_t*>(row.highs + place * 2));
      pieces.highs[0] = words_of_highs.values[0];
      pieces.highs[1] = words_of_highs.values[1];
    }
    return pieces;
  }
#pragma unroll
  for (int i = 0; i < Type::kTogether - 1; ++i) {
    if (i >= count) break;
    const Piece<Type> piece = piece_at<Type>(row, in_row + i);
#pragma unroll
    for (int k = 0; k < Type::kWords; ++k) pieces.codes[i * Type::kWords + k] = piece.codes[k];
    if constexpr (Type::kHighBits == 1) pieces.highs[0] |= piece.highs << (i * 8);
    if constexpr (Type::kHighBits == 2) pieces.highs[i / 2] |= piece.highs << (i % 2 * 16);
  }
  return pieces;
}

template <class Type>
__device__ inline float value(const Scale& scale, unsigned code) {
  if constexpr (Type::kOffset == Offset::kLeast) return __fadd_rn(__fmul_rn(scale.factor, number(code, 0.0F)), scale.offset);
  if constexpr (Type::kOffset == Offset::kZero) return __fmul_rn(scale.factor, number(code, scale.offset));
  return __fmul_rn(scale.factor, number(code, static_cast<float>(Type::kMiddle)));
}

template <class Type>
__device__ inline void dequantise_codes(const Piece<Type>& piece, const Scale& scale, float (&to)[kPiece]) {
#pragma unroll
  for (int pair = 0; pair < kPiece / 2; ++pair) {
    const unsigned codes = code_pair<Type>(piece, pair);
    to[2 * pair] = value<Type>(scale, codes & 0xFFFFU);
    to[2 * pair + 1] = value<Type>(scale, codes >> 16);
  }
}

// Elements [column, column + 8) of a row; column: a multiple of 8.
template <class Type>
__device__ inline void dequantise_interleaved(const InterleavedRow& row, int column, float (&to)[kPiece]) {
  const int group = column / kGroup;
  const int first = group / Type::kTogether * Type::kTogether;
  const int together = min(Type::kTogether, row.groups - first);
  const int place = first * kGroupPieces + column % kGroup / kPiece * together + group % Type::kTogether;
  dequantise_codes<Type>(piece_at<Type>(row, place), Type::scale(row, column), to);
}

}  // namespace winnow::kernels::cuda
