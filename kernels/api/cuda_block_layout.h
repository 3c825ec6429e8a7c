// Interleaved blocks: how a quantised matrix (block_types.h) is stored in GPU memory. The same bits in as many bytes, ordered so that a
// thread loads 16 bytes of codes at a time.
//
// Written by engine/layers when a matrix is uploaded. Read by kernels/cuda and the references of cuda_block_gemv.h and
// cuda_dequantise_rows.h. A matrix has up to four planes, one after the other; each holds its share of every row, row-major:
// - codes, unsigned: 4 bits (also the low 4 of 5 and 6) or 8 bits. Eight adjacent codes are a piece, four pieces a group. Four groups of
//   4-bit codes, or two of 8-bit codes, are interleaved (fewer at a row's end): all first pieces, then all second ones, and so on. A thread
//   thus finds its pieces of all groups together. Within a piece, codes 2i and 2i + 1 are 16 bits apart, the earlier one low;
// - sub-block scales as in the file, if they are not stored beside the block's scale (Q6_K);
// - high bits of the codes, a piece's together, pieces in the order of the codes;
// - scales as in the file: the rest of the block.
// Types without such a form (kF32, kF16, kBF16, kQ2_K, kQ3_K, kIQ4_NL, kIQ4_XS) keep the file's layout in one plane. If the matrix is
// aligned to kCudaAlignment, the rows of every plane are aligned for the loads from it. Never throws, never allocates. Threads: plain
// functions.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/api/block_types.h"

namespace winnow::kernels {

inline constexpr int kCudaPlanes = 4;
inline constexpr int kCudaGroupElements = 32;

// Bytes of a row in each plane; their sum is the row's bytes. columns: whole blocks.
std::array<std::int64_t, kCudaPlanes> cuda_plane_bytes(BlockType type, std::int64_t columns);

// Interleaves one row of blocks. planes: where the row begins in each plane.
void lay_out_row(BlockType type, const void* blocks, std::int64_t columns, const std::array<void*, kCudaPlanes>& planes);

// Restores one block of an interleaved row to the file's layout. to: [block_bytes(type)].
void stored_block(BlockType type, const std::array<const void*, kCudaPlanes>& planes, std::int64_t columns, std::int64_t block, void* to);

// The start of row `row` in each plane of a matrix with `rows` rows.
template <class Pointer>
std::array<Pointer, kCudaPlanes> cuda_row_planes(Pointer matrix, BlockType type, std::int64_t rows, std::int64_t columns,
                                                 std::int64_t row) {
  std::array<Pointer, kCudaPlanes> planes{};
  std::uintptr_t plane = reinterpret_cast<std::uintptr_t>(matrix);
  const std::array<std::int64_t, kCudaPlanes> bytes = cuda_plane_bytes(type, columns);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    planes[i] = reinterpret_cast<Pointer>(plane + static_cast<std::uintptr_t>(row * bytes[i]));
    plane += static_cast<std::uintptr_t>(rows * bytes[i]);
  }
  return planes;
}

}  // namespace winnow::kernels
