#include "engine/weights/tensor_file.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"

namespace winnow {
namespace {

struct TypeEntry {
  std::string_view name;
  StoredType type;
  StoredBlock block;
};

constexpr std::array<TypeEntry, 15> kTypes = {{
    {"F32", StoredType::kF32, {1, 4}},
    {"F16", StoredType::kF16, {1, 2}},
    {"BF16", StoredType::kBF16, {1, 2}},
    {"F64", StoredType::kF64, {1, 8}},
    {"I64", StoredType::kI64, {1, 8}},
    {"I32", StoredType::kI32, {1, 4}},
    {"I16", StoredType::kI16, {1, 2}},
    {"I8", StoredType::kI8, {1, 1}},
    {"U64", StoredType::kU64, {1, 8}},
    {"U32", StoredType::kU32, {1, 4}},
    {"U16", StoredType::kU16, {1, 2}},
    {"U8", StoredType::kU8, {1, 1}},
    {"BOOL", StoredType::kBool, {1, 1}},
    {"F8_E4M3", StoredType::kF8E4M3, {1, 1}},
    {"F8_E5M2", StoredType::kF8E5M2, {1, 1}},
}};

const TypeEntry& entry_of(StoredType type) { return *std::ranges::find(kTypes, type, &TypeEntry::type); }

}  // namespace

std::string_view stored_type_name(StoredType type) { return entry_of(type).name; }

std::optional<StoredType> stored_type_named(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &TypeEntry::name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

StoredBlock stored_block(StoredType type) { return entry_of(type).block; }

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
