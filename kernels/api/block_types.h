// The block types of quantised weights: GGUF's, and two for quantised folders. Their block sizes, and how they are dequantised.
//
// Used by engine/weights (tensor_file.h, model_weights.h) and by whatever repacks weights. Most types share a scale among the elements of a
// block: 32 elements, or 256 in sub-blocks of 16 or 32 with a small scale each (names with _K, IQ4_XS). Sizes are in elements and bytes.
// Blocks are read byte by byte, little-endian, and need no alignment; the elements of a row are contiguous.
// kU4Z and kU8Z are our own: 32 unsigned codes of 4 or 8 bits, a zero point and a scale: value = (code - zero) * scale. Q4_1's fp16 minimum
// would have to be rounded.
// Source: the format's definition (github.com/ggml-org/ggml, docs/gguf.md); values are bit for bit those of the Python package gguf
// (gguf.quants.dequantise), where a NaN stands for any NaN. Never throws, never allocates. Threads: plain functions.
#pragma once

#include <cstdint>

namespace winnow::kernels {

enum class BlockType : int {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kU4Z,
  kU8Z,
};

// 0 for an unknown type.
int block_elements(BlockType type);
int block_bytes(BlockType type);

// out: [elements]. elements: a multiple of block_elements(type); blocks: elements / block_elements(type) * block_bytes(type) bytes.
void dequantise(BlockType type, const void* blocks, std::int64_t elements, float* out);

// True if all values of `count` blocks are finite. Only the scales are read if the type has any.
bool finite_blocks(BlockType type, const void* blocks, std::int64_t count);

}  // namespace winnow::kernels
