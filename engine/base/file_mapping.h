// A regular file mapped into memory, read-only.
//
// Used by engine/weights/gguf_file.h: weights are multiplied in the page cache, without a copy. Data that is read once uses
// RegularFile::read_at instead, which reports a truncated file as an error. In a mapping, touching a page behind the file's new end, or one
// that its disk cannot deliver, raises SIGBUS. The first mapping therefore installs a handler: it replaces that page and all behind it by
// zeros and marks the mapping as lost. The computation goes on with zeros; users of a span check lost(), and RegularFile::changed() for
// overwritten files, before they trust a result. Other SIGBUS go to the previous handler. A file replaced by another of its name (as
// downloads and editors do) stays mapped as it was.
// Offsets and sizes in bytes. Errors: Exception; kOutOfMemory (no address space), kLimitExceeded (4096 mappings at once), kDamagedFile (the
// file became shorter). Threads: const, may be used by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/file_bytes.h"

namespace winnow {

class FileMapping {
 public:
  // Maps the whole file as it was when opened.
  explicit FileMapping(const RegularFile& file);
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  ~FileMapping();

  // A part of it, from `offset` on. `file`: the mapped one.
  std::span<const std::byte> bytes(const RegularFile& file, std::uint64_t offset, std::uint64_t size) const;

  // True if a part could not be read and was replaced by zeros.
  bool lost() const noexcept;

 private:
  std::span<const std::byte> all_;
  std::size_t region_ = 0;  // index among the handler's regions, if all_ is not empty
};

}  // namespace winnow
