#include "engine/base/file_mapping.h"

#include <sys/mman.h>

#include <utility>

#include "engine/base/error.h"

namespace winnow {

FileMapping::FileMapping(const RegularFile& file) {
  const auto size = static_cast<std::size_t>(file.size_bytes());
  if (size == 0) return;  // nothing to map, and mmap refuses it
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (start == MAP_FAILED) throw Exception(ErrorCode::kOutOfMemory, file.path(), "no address space for " + std::to_string(size) + " bytes");
  all_ = {static_cast<const std::byte*>(start), size};
}

FileMapping::FileMapping(FileMapping&& other) noexcept : all_(std::exchange(other.all_, {})) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(all_, other.all_);
  return *this;
}

FileMapping::~FileMapping() {
  if (!all_.empty()) ::munmap(const_cast<std::byte*>(all_.data()), all_.size());
}

std::span<const std::byte> FileMapping::bytes(const RegularFile& file, std::uint64_t offset, std::uint64_t size) const {
  require(offset <= all_.size() && size <= all_.size() - offset, "a part of a mapped file beyond its end");
  if (file.size_now_bytes() < offset + size)
    throw Exception(ErrorCode::kDamagedFile, file.path(), "the file became shorter while it was read");
  return all_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

}  // namespace winnow
