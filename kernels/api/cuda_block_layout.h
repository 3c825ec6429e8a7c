// How a matrix in blocks (block_types.h) lies in the memory of a GPU: the same bits in the same number of bytes, in an order in which
// threads read sixteen bytes of codes at a time.
//
// Used by engine/layers, which lays matrices out when they are put on a device; whoever reads them: kernels/cuda, and the references of
// cuda_block_gemv.h and cuda_dequantise_rows.h. A matrix is up to four planes one behind the other, each with a share of every row, rows
// one after the other:
//  - codes of 4 bits (the low ones of 5 and 6) or 8 bits without a sign. Eight neighbours are a piece, four pieces a group; of four groups
//    with 4 bits, of two with 8 (of a row's last fewer), first come the first pieces of all, then the second ones, and so on, so that a
//    thread finds its pieces of all groups together. In a piece neighbours 2i and 2i + 1 stand 16 bits apart, the earlier one low;
//  - scales of sub-blocks as they are stored, where they do not lie beside the scale of the block (Q6_K);
//  - high bits of the codes: of a piece together, pieces in the order of the codes;
//  - scales as they are stored: what else a block has.
// Types without such a form (kF32, kF16, kBF16, kQ2_K, kQ3_K, kIQ4_NL, kIQ4_XS) stay as they are stored: one plane. Every plane's rows are
// aligned for what is read there when the matrix is to kCudaAlignment. Never throws, never allocates. Threads: plain functions.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/api/block_types.h"

namespace winnow::kernels {

inline constexpr int kCudaPlanes = 4;
inline constexpr int kCudaGroupElements = 32;

// Bytes of a row in each plane; their sum is the row's bytes. columns: whole blocks.
std::array<std::int64_t, kCudaPlanes> cuda_plane_bytes(BlockType type, std::int64_t columns);

// One stored row into its places. planes: where the row begins in each plane.
void lay_out_row(BlockType type, const void* blocks, std::int64_t columns, const std::array<void*, kCudaPlanes>& planes);

// One block of a matrix that is laid out, as it is stored. to: [block_bytes(type)].
void stored_block(BlockType type, const std::array<const void*, kCudaPlanes>& planes, std::int64_t columns, std::int64_t block, void* to);

// Where row `row` of a matrix with `rows` rows begins in each plane.
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
