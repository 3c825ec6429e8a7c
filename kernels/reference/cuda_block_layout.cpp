// One struct a type that is interleaved: its planes, and the bits of a code in a block. Both directions use them.
#include "kernels/api/cuda_block_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace winnow::kernels {
namespace {

using Byte = std::uint8_t;

constexpr unsigned kPieceCodes = 8;
constexpr unsigned kGroupPieces = kCudaGroupElements / kPieceCodes;

struct Bits {
  unsigned byte;
  unsigned shift;
};

// kFlip: added to a code with a sign, so that it has none.
template <unsigned kElements_, unsigned kBytes_, unsigned kCodeBits_, unsigned kHighBits_>
struct Planes {
  static constexpr unsigned kElements = kElements_, kBytes = kBytes_, kCodeBits = kCodeBits_, kHighBits = kHighBits_;
  static constexpr unsigned kSubBytes = 0, kSubAt = 0, kHeadAt = 0, kFlip = 0;
  static constexpr Bits high(unsigned /*i*/) { return {0, 0}; }
};

constexpr Bits nibble(unsigned first, unsigned i) { return {first + i % 16, i / 16 * 4}; }

struct Q8_0 : Planes<32, 34, 8, 0> {
  static constexpr unsigned kHeadBytes = 2, kFlip = 0x80;
  static constexpr Bits code(unsigned i) { return {2 + i, 0}; }
};
struct U8Z : Planes<32, 36, 8, 0> {
  static constexpr unsigned kHeadBytes = 4;
  static constexpr Bits code(unsigned i) { return {4 + i, 0}; }
};
struct Q4_0 : Planes<32, 18, 4, 0> {
  static constexpr unsigned kHeadBytes = 2;
  static constexpr Bits code(unsigned i) { return nibble(2, i); }
};
struct Q4_1 : Planes<32, 20, 4, 0> {  // U4Z as well
  static constexpr unsigned kHeadBytes = 4;
  static constexpr Bits code(unsigned i) { return nibble(4, i); }
};
struct Q5_0 : Planes<32, 22, 4, 1> {
  static constexpr unsigned kHeadBytes = 2;
  static constexpr Bits code(unsigned i) { return nibble(6, i); }
  static constexpr Bits high(unsigned i) { return {2 + i / 8, i % 8}; }
};
struct Q5_1 : Planes<32, 24, 4, 1> {
  static constexpr unsigned kHeadBytes = 4;
  static constexpr Bits code(unsigned i) { return nibble(8, i); }
  static constexpr Bits high(unsigned i) { return {4 + i / 8, i % 8}; }
};
struct Q4_K : Planes<256, 144, 4, 0> {
  static constexpr unsigned kHeadBytes = 16;
  static constexpr Bits code(unsigned i) { return {16 + i / 64 * 32 + i % 32, i % 64 / 32 * 4}; }
};
struct Q5_K : Planes<256, 176, 4, 1> {
  static constexpr unsigned kHeadBytes = 16;
  static constexpr Bits code(unsigned i) { return {48 + i / 64 * 32 + i % 32, i % 64 / 32 * 4}; }
  static constexpr Bits high(unsigned i) { return {16 + i % 32, i / 32}; }
};
struct Q6_K : Planes<256, 210, 4, 2> {
  static constexpr unsigned kSubBytes = 16, kSubAt = 192, kHeadBytes = 2, kHeadAt = 208;
  static constexpr Bits code(unsigned i) { return {i / 128 * 64 + i % 64, i % 128 / 64 * 4}; }
  static constexpr Bits high(unsigned i) { return {128 + i / 128 * 32 + i % 32, i % 128 / 32 * 2}; }
};

// visit(Type{}) for the types that are laid out; false for the others.
template <class Visit>
bool with_interleaved_type(BlockType type, const Visit& visit) {
  switch (type) {
    case BlockType::kQ8_0: visit(Q8_0{}); return true;
    case BlockType::kU8Z: visit(U8Z{}); return true;
    case BlockType::kQ4_0: visit(Q4_0{}); return true;
    case BlockType::kQ4_1:
    case BlockType::kU4Z: visit(Q4_1{}); return true;
    case BlockType::kQ5_0: visit(Q5_0{}); return true;
    case BlockType::kQ5_1: visit(Q5_1{}); return true;
    case BlockType::kQ4_K: visit(Q4_K{}); return true;
    case BlockType::kQ5_K: visit(Q5_K{}); return true;
    case BlockType::kQ6_K: visit(Q6_K{}); return true;
    default: return false;
  }
}

// Which piece of a row's planes a piece of a group is.
template <class Type>
std::int64_t piece_place(std::int64_t groups, std::int64_t group, unsigned piece) {
  constexpr std::int64_t kTogether = 16 / Type::kCodeBits;
  const std::int64_t first = group / kTogether * kTogether;
  return first * kGroupPieces + piece * std::min(kTogether, groups - first) + group % kTogether;
}

// The place of element i's code in a piece's bits.
template <class Type>
constexpr unsigned code_shift(unsigned i) {
  constexpr unsigned kInWord = 32 / Type::kCodeBits;
  return i / kInWord * 32 + i % kInWord / 2 * Type::kCodeBits + i % 2 * 16;
}

template <class Type>
void lay_out_block(const Byte* block, std::int64_t groups, std::int64_t first_group, Byte* codes, Byte* highs) {
  constexpr unsigned kMask = (1U << Type::kCodeBits) - 1, kHighMask = (1U << Type::kHighBits) - 1;
  for (unsigned first = 0; first < Type::kElements; first += kPieceCodes) {
    std::uint64_t low = 0;
    unsigned high = 0;
    for (unsigned i = 0; i < kPieceCodes; ++i) {
      const Bits code = Type::code(first + i);
      low |= std::uint64_t{((block[code.byte] >> code.shift) & kMask) ^ Type::kFlip} << code_shift<Type>(i);
      const Bits upper = Type::high(first + i);
      if constexpr (Type::kHighBits > 0) high |= ((block[upper.byte] >> upper.shift) & kHighMask) << (i * Type::kHighBits);
    }
    const std::int64_t at = piece_place<Type>(groups, first_group + first / kCudaGroupElements, first % kCudaGroupElements / kPieceCodes);
    std::memcpy(codes + at * Type::kCodeBits, &low, Type::kCodeBits);
    if constexpr (Type::kHighBits > 0) std::memcpy(highs + at * Type::kHighBits, &high, Type::kHighBits);
  }
}

template <class Type>
void restore_codes(const Byte* codes, const Byte* highs, std::int64_t groups, std::int64_t first_group, Byte* block) {
  constexpr unsigned kMask = (1U << Type::kCodeBits) - 1, kHighMask = (1U << Type::kHighBits) - 1;
  for (unsigned first = 0; first < Type::kElements; first += kPieceCodes) {
    const std::int64_t at = piece_place<Type>(groups, first_group + first / kCudaGroupElements, first % kCudaGroupElements / kPieceCodes);
    std::uint64_t low = 0;
    unsigned high = 0;
    std::memcpy(&low, codes + at * Type::kCodeBits, Type::kCodeBits);
    if constexpr (Type::kHighBits > 0) std::memcpy(&high, highs + at * Type::kHighBits, Type::kHighBits);
    for (unsigned i = 0; i < kPieceCodes; ++i) {
      const Bits code = Type::code(first + i);
      const auto number = static_cast<unsigned>(low >> code_shift<Type>(i)) & kMask;
      block[code.byte] = static_cast<Byte>(block[code.byte] | (number ^ Type::kFlip) << code.shift);
      const Bits upper = Type::high(first + i);
      if constexpr (Type::kHighBits > 0)
        block[upper.byte] = static_cast<Byte>(block[upper.byte] | ((high >> (i * Type::kHighBits)) & kHighMask) << upper.shift);
    }
  }
}

}  // namespace

std::array<std::int64_t, kCudaPlanes> cuda_plane_bytes(BlockType type, std::int64_t columns) {
  std::array<std::int64_t, kCudaPlanes> bytes = {columns / block_elements(type) * block_bytes(type), 0, 0, 0};
  with_interleaved_type(type, [&](auto laid) {
    using Type = decltype(laid);
    const std::int64_t pieces = columns / kPieceCodes;
    const std::int64_t blocks = columns / Type::kElements;
    bytes = {pieces * Type::kCodeBits, blocks * Type::kSubBytes, pieces * Type::kHighBits, blocks * Type::kHeadBytes};
  });
  return bytes;
}

void lay_out_row(BlockType type, const void* blocks, std::int64_t columns, const std::array<void*, kCudaPlanes>& planes) {
  const bool laid = with_interleaved_type(type, [&](auto of) {
    using Type = decltype(of);
    const auto* from = static_cast<const Byte*>(blocks);
    for (std::int64_t block = 0; block < columns / Type::kElements; ++block, from += Type::kBytes) {
      lay_out_block<Type>(from, columns / kCudaGroupElements, block * (Type::kElements / kCudaGroupElements), static_cast<Byte*>(planes[0]),
                          static_cast<Byte*>(planes[2]));
      std::memcpy(static_cast<Byte*>(planes[1]) + block * Type::kSubBytes, from + Type::kSubAt, Type::kSubBytes);
      std::memcpy(static_cast<Byte*>(planes[3]) + block * Type::kHeadBytes, from + Type::kHeadAt, Type::kHeadBytes);
    }
  });
  if (!laid) std::memcpy(planes[0], blocks, static_cast<std::size_t>(cuda_plane_bytes(type, columns)[0]));
}

void stored_block(BlockType type, const std::array<const void*, kCudaPlanes>& planes, std::int64_t columns, std::int64_t block, void* to) {
  auto* const stored = static_cast<Byte*>(to);
  const auto bytes = static_cast<std::size_t>(block_bytes(type));
  const bool laid = with_interleaved_type(type, [&](auto of) {
    using Type = decltype(of);
    std::memset(stored, 0, bytes);
    restore_codes<Type>(static_cast<const Byte*>(planes[0]), static_cast<const Byte*>(planes[2]), columns / kCudaGroupElements,
                        block * (Type::kElements / kCudaGroupElements), stored);
    std::memcpy(stored + Type::kSubAt, static_cast<const Byte*>(planes[1]) + block * Type::kSubBytes, Type::kSubBytes);
    std::memcpy(stored + Type::kHeadAt, static_cast<const Byte*>(planes[3]) + block * Type::kHeadBytes, Type::kHeadBytes);
  });
  if (!laid) std::memcpy(stored, static_cast<const Byte*>(planes[0]) + static_cast<std::size_t>(block) * bytes, bytes);
}

}  // namespace winnow::kernels
