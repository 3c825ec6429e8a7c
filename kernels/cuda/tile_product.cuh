// The device code of GEMVs of up to eight 16-bit inputs with interleaved blocks (interleaved_blocks.cuh) on tensor cores; launched by
// block_gemv.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A thread block computes 16 matrix rows. Its warps take interleaved groups in turn, so adjacent warps read adjacent bytes. Loads are
// faster than a warp's conversion of codes to floats, so every instruction there counts: a code is placed over the bits of a constant,
// which is subtracted together with the zero point or an offset. Codes are small integers, exact in 16 bits, and inputs are not rounded:
// the product of a code and an input is exact, sums are fp32. A group's sums are multiplied by its scale once. An offset is multiplied by
// the sum of the group's inputs, which a product with ones computes. The warps' sums are added in a fixed order: the same inputs give the
// same bits. Columns within a group have the same order for codes and inputs, and a thread's eight are adjacent.
#pragma once

#include <type_traits>

#include "kernels/cuda/block_gemv.cuh"
#include "kernels/cuda/interleaved_blocks.cuh"
#include "kernels/cuda/overlap.cuh"
#include "kernels/cuda/tensor_core.cuh"

namespace winnow::kernels::cuda {

constexpr int kTileRows = 16;
constexpr int kTileWarps = 8;  // of a thread block
constexpr int kTileInputs = static_cast<int>(kMaxCudaProductInputs);
static_assert(kTileInputs == 8, "a tile has eight columns");

// Thread blocks per multiprocessor: their loads in flight hide the memory latency. As many as registers allow, with a value or two spilled.
template <class Type>
constexpr int kLeastTiles = Type::kElements == 256 || (Type::kHighBits > 0 && Type::kOffset != Offset::kMiddle) ? 3 : 4;

// Thread blocks of a launch.
inline unsigned tile_blocks(const CudaBlockGemvArgs& args) { return static_cast<unsigned>((args.rows + kTileRows - 1) / kTileRows); }

// The constant under a code's bits: the 16-bit float is exactly that much more than the code.
template <class Element>
constexpr unsigned kNumberBase = std::is_same_v<Element, Fp16> ? 0x64006400U : 0x43004300U;  // 1024, 128
// True if codes are multiplied with what they stand over: if an offset is multiplied with the sum of the inputs anyway, it takes that
// off, too. In fp16 it would be a hundred times what a code is.
template <class Type, class Element>
constexpr bool kStandsOver = (Type::kOffset != Offset::kMiddle) && Type::kCodeBits == 4 && !std::is_same_v<Element, Fp16>;

// Codes 2 x pair and 2 x pair + 1 of a piece as 16-bit floats, more than the codes by above_codes(): exact.
template <class Type, class Element>
__device__ inline unsigned code_numbers(const Piece<Type>& piece, int pair) {
  constexpr unsigned kMiddles = Type::kMiddle * 0x00010001U;
  if constexpr (Type::kCodeBits == 4) {
    const unsigned numbers = codes_over<Type>(kNumberBase<Element>, piece, pair);
    if constexpr (kStandsOver<Type, Element>) return numbers;
    return sum_of_pairs(Element(), numbers, (kNumberBase<Element> ^ 0x80008000U) | kMiddles);
  } else {
    const unsigned codes = piece.codes[pair / 2] >> (pair % 2 * 8);
    if constexpr (std::is_same_v<Element, Fp16>)
      return sum_of_pairs(Fp16(), masked_or(codes, 0x00FF00FFU, 0x64006400U), 0xE400E400U | kMiddles);
    // A fraction of bf16 has seven bits: the eighth is in what goes off, 128 or 256.
    return sum_of_pairs(Bf16(), masked_or(codes, 0x007F007FU, 0x43004300U), masked_xor(codes, 0x00800080U, 0xC380C380U));
  }
}
template <class Type, class Element>
__device__ constexpr float above_codes() {
  return kStandsOver<Type, Element> ? 128.0F : -static_cast<float>(Type::kMiddle);
}

// Times an input and added up: what is added to the product with code_numbers().
template <class Type, class Element>
__device__ inline float offset_beside(const Scale& scale) {
  constexpr float kAbove = above_codes<Type, Element>();
  if constexpr (Type::kOffset == Offset::kZero) return scale.factor * (-kAbove - scale.offset);
  return fmaf(scale.factor, -kAbove, scale.offset);
}

// Threads: 32 x kTileWarps; grid: tile_blocks(). Element: of the inputs and the output.
template <class Type, class Element>
__global__ void __launch_bounds__(32 * kTileWarps, kLeastTiles<Type>) multiply_tiles(ProductLaunch args) {
  constexpr unsigned kAll = 0xFFFFFFFFU;
  [[maybe_unused]] constexpr unsigned kOne = std::is_same_v<Element, Fp16> ? 0x3C003C00U : 0x3F803F80U;
  constexpr bool kHasOffset = Type::kOffset != Offset::kMiddle;
  __shared__ float warp_sums[kTileWarps][kTileRows * kTileInputs];
  let_next_begin();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int eighth = lane / 4;  // this thread's rows are this one and eight on, its input is this one
  const int quarter = lane % 4;
  const int first_row = static_cast<int>(blockIdx.x) * kTileRows;
  const InterleavedRow rows[2] = {product_row<Type>(args, first_row + eighth), product_row<Type>(args, first_row + eighth + 8)};
  const auto* const input = static_cast<const Element*>(args.input) + static_cast<std::int64_t>(eighth) * args.columns + quarter * kPiece;

  float sums[4] = {};
  Pack<unsigned, 4> inputs[Type::kTogether] = {};  // stay zeros where there is no such input
  const int groups = args.columns / kGroup;
  // Adds groups [first, first + count), which lie together; all: as many as lie together where a row does not end.
  const auto add_groups = [&](int first, auto all, int count) {
    constexpr bool kAllThere = decltype(all)::value;
    const Pieces<Type> pieces[2] = {load_pieces<Type>(rows[0], first, count, quarter), load_pieces<Type>(rows[1], first, count, quarter)};
    // The factors of one group each: the others' are asked for below.
    float factors[2][Type::kScales] = {};
    [[maybe_unused]] float offsets[2] = {};
    if (kAllThere ? quarter < Type::kTogether : quarter < count) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int s = 0; s < Type::kScales; ++s) {
          const Scale scale = Type::scale(rows[r], (first + quarter) * kGroup + s * (kGroup / Type::kScales));
          factors[r][s] = scale.factor;
          if constexpr (kHasOffset) offsets[r] = offset_beside<Type, Element>(scale);
        }
        if constexpr (Type::kScales == 2) factors[r][0] -= factors[r][1];  // the second is all inputs' factor
      }
    }
    if (first == warp * Type::kTogether) wait_for_earlier();  // the matrix is constant
#pragma unroll
    for (int g = 0; g < Type::kTogether; ++g) {
      if (eighth < args.inputs && (kAllThere || g < count))
        inputs[g] = load<4>(reinterpret_cast<const unsigned*>(input + (first + g) * kGroup));
    }
#pragma unroll
    for (int g = 0; g < Type::kTogether; ++g) {
      if (!kAllThere && g >= count) break;  // for all threads
      float products[Type::kScales][4] = {};
      [[maybe_unused]] float of_ones[4] = {};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        unsigned codes[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) codes[i] = code_numbers<Type, Element>(pieces[i % 2][g], 2 * half + i / 2);
        const unsigned low = inputs[g].values[2 * half];
        const unsigned high = inputs[g].values[2 * half + 1];
        if constexpr (Type::kScales == 1) {
          multiply_add(Element(), products[0], codes, {low, high});
        } else {  // two threads of the four have the inputs of the first scale
          multiply_add(Element(), products[0], codes, {quarter < 2 ? low : 0U, quarter < 2 ? high : 0U});
          multiply_add(Element(), products[1], codes, {low, high});
        }
        if constexpr (kHasOffset) multiply_add(Element(), of_ones, {kOne, kOne, kOne, kOne}, {low, high});
      }
      const int from = eighth * 4 + g;
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
#pragma unroll
        for (int s = 0; s < Type::kScales; ++s) {
          const float factor = __shfl_sync(kAll, factors[i / 2][s], from);
          sums[i] = fmaf(factor, products[s][i], sums[i]);
          sums[i + 1] = fmaf(factor, products[s][i + 1], sums[i + 1]);
        }
        if constexpr (kHasOffset) {
          const float offset = __shfl_sync(kAll, offsets[i / 2], from);
          sums[i] = fmaf(offset, of_ones[i], sums[i]);
          sums[i + 1] = fmaf(offset, of_ones[i + 1], sums[i + 1]);
        }
      }
    }
  };
  int first = warp * Type::kTogether;
#pragma unroll 1
  for (; first + Type::kTogether <= groups; first += kTileWarps * Type::kTogether) add_groups(first, std::true_type(), Type::kTogether);
  if (first < groups) add_groups(first, std::false_type(), groups - first);

  wait_for_earlier();  // also warps without work
#pragma unroll
  for (int i = 0; i < 4; ++i) warp_sums[warp][(eighth + i / 2 * 8) * kTileInputs + quarter * 2 + i % 2] = sums[i];
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x) % kTileRows;
  const int of = static_cast<int>(threadIdx.x) / kTileRows;
  if (of >= args.inputs || first_row + row >= args.rows) return;
  float sum = 0.0F;
#pragma unroll
  for (const auto& of_warp : warp_sums) sum += of_warp[row * kTileInputs + of];
  narrow(sum, static_cast<Element*>(args.output)[of * args.output_stride + first_row + row]);
}

}  // namespace winnow::kernels::cuda
