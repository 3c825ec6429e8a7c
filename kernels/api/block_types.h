// The types that GGUF files store numbers in, and two for what quantised folders hold: how large their blocks are, and their values.
//
// Used by engine/weights (tensor_file.h, model_weights.h) and by whoever packs weights anew. Most types share a scale among the elements of
// a block: 32 of them, or 256 in sub-blocks of 16 or 32 that have a small scale each (names with _K, IQ4_XS). Sizes in elements and bytes.
// Blocks are read byte by byte, little-endian, and need no alignment; elements of a row follow each other.
// kU4Z and kU8Z are this program's own: 32 codes of 4 or 8 bits without a sign, the code that stands for zero, and a scale: a value is
// (code - zero) * scale. A least value in 16 bits, as Q4_1 has, would be a rounded one.
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

// 0 for a value that is none of the names.
int block_elements(BlockType type);
int block_bytes(BlockType type);

// out: [elements]. elements: a multiple of block_elements(type); blocks: elements / block_elements(type) * block_bytes(type) bytes.
void dequantise(BlockType type, const void* blocks, std::int64_t elements, float* out);

// Whether all values of `count` blocks are finite numbers; reads the scales alone where there are some.
bool finite_blocks(BlockType type, const void* blocks, std::int64_t count);

}  // namespace winnow::kernels
