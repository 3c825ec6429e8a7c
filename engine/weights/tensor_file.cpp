#include "engine/weights/tensor_file.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/base/error.h"

namespace winnow {
namespace {

using kernels::BlockType;

struct TypeEntry {
  std::string_view name;
  StoredType type;
  std::uint64_t element_bytes;  // 0: elements share scales
  std::optional<BlockType> block;
};

constexpr std::array<TypeEntry, 29> kTypes = {{
    {"F32", StoredType::kF32, 4, BlockType::kF32},
    {"F16", StoredType::kF16, 2, BlockType::kF16},
    {"BF16", StoredType::kBF16, 2, BlockType::kBF16},
    {"F64", StoredType::kF64, 8, {}},
    {"I64", StoredType::kI64, 8, {}},
    {"I32", StoredType::kI32, 4, {}},
    {"I16", StoredType::kI16, 2, {}},
    {"I8", StoredType::kI8, 1, {}},
    {"U64", StoredType::kU64, 8, {}},
    {"U32", StoredType::kU32, 4, {}},
    {"U16", StoredType::kU16, 2, {}},
    {"U8", StoredType::kU8, 1, {}},
    {"BOOL", StoredType::kBool, 1, {}},
    {"F8_E4M3", StoredType::kF8E4M3, 1, {}},
    {"F8_E5M2", StoredType::kF8E5M2, 1, {}},
    {"Q8_0", StoredType::kQ8_0, 0, BlockType::kQ8_0},
    {"Q4_0", StoredType::kQ4_0, 0, BlockType::kQ4_0},
    {"Q4_1", StoredType::kQ4_1, 0, BlockType::kQ4_1},
    {"Q5_0", StoredType::kQ5_0, 0, BlockType::kQ5_0},
    {"Q5_1", StoredType::kQ5_1, 0, BlockType::kQ5_1},
    {"Q2_K", StoredType::kQ2_K, 0, BlockType::kQ2_K},
    {"Q3_K", StoredType::kQ3_K, 0, BlockType::kQ3_K},
    {"Q4_K", StoredType::kQ4_K, 0, BlockType::kQ4_K},
    {"Q5_K", StoredType::kQ5_K, 0, BlockType::kQ5_K},
    {"Q6_K", StoredType::kQ6_K, 0, BlockType::kQ6_K},
    {"IQ4_NL", StoredType::kIQ4_NL, 0, BlockType::kIQ4_NL},
    {"IQ4_XS", StoredType::kIQ4_XS, 0, BlockType::kIQ4_XS},
    {"INT4", StoredType::kU4Z, 0, BlockType::kU4Z},
    {"INT8", StoredType::kU8Z, 0, BlockType::kU8Z},
}};

const TypeEntry& entry_of(StoredType type) { return *std::ranges::find(kTypes, type, &TypeEntry::type); }

}  // namespace

std::string_view stored_type_name(StoredType type) { return entry_of(type).name; }

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

std::optional<StoredType> stored_type_named(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &TypeEntry::name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

StoredBlock stored_block(StoredType type) {
  const TypeEntry& entry = entry_of(type);
  if (entry.element_bytes != 0) return {1, entry.element_bytes};
  return {static_cast<std::uint64_t>(kernels::block_elements(*entry.block)),
          static_cast<std::uint64_t>(kernels::block_bytes(*entry.block))};
}

std::optional<BlockType> block_type(StoredType type) { return entry_of(type).block; }

bool in_few_bits(StoredType type) { return block_type(type) && stored_block(type).elements > 1; }

std::vector<std::int32_t> row_order(const StoredTensor& tensor) {
  if (tensor.interleaved == 0) return {};
  const std::int64_t rows = tensor.shape.empty() ? 1 : tensor.shape.front();
  const std::int64_t group = tensor.interleaved;
  if (group % 2 != 0 || rows % group != 0 || rows > std::numeric_limits<std::int32_t>::max())
    throw Exception(ErrorCode::kDamagedFile, "", "heads of " + std::to_string(group) + " rows do not divide " + std::to_string(rows));
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t in_head = row % group;
    const std::int64_t half = group / 2;
    const std::int64_t stored = row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
    order[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(stored);
  }
  return order;
}

const StoredTensor& TensorFile::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw Exception(ErrorCode::kDamagedFile, path() + ": " + std::string(name), "the file has no such tensor");
  return found->second;
}

std::uint64_t TensorFiles::total_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& file : files) {
    for (const auto& [name, tensor] : file->tensors()) bytes += tensor.bytes();
  }
  return bytes;
}

}  // namespace winnow
