// A regular file's bytes as memory, read-only.
//
// Used by engine/weights/gguf_file.h: weights are multiplied where the page cache holds them, without a copy. What is read once is read
// with RegularFile::read_at instead, which answers a file that another program shortens with an error. In a mapping, a page behind the
// file's new end, or one that its disk cannot deliver, raises SIGBUS when it is touched. The first mapping therefore installs a handler: it
// puts zeros in place of such a page and of all behind it, and notes that the mapping is lost. The computation goes on with zeros; whoever
// keeps a span asks lost(), and RegularFile::changed() for what was overwritten, before a result is believed. A SIGBUS from elsewhere goes
// to the handler that was there before. A file that is replaced by another of its name (as programs that download or save do) stays as it
// was. Offsets and sizes in bytes. Errors: Exception; kOutOfMemory (no address space), kLimitExceeded (4096 mappings at once), kDamagedFile
// (the file became shorter). Threads: const, may be used by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/file_bytes.h"

namespace winnow {

class FileMapping {
 public:
  // Of all that the file had when it was opened.
  explicit FileMapping(const RegularFile& file);
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  ~FileMapping();

  // A part of it, from `offset` on. `file`: the one it was made of.
  std::span<const std::byte> bytes(const RegularFile& file, std::uint64_t offset, std::uint64_t size) const;

  // Some of it could not be read when it was touched and is zeros since.
  bool lost() const noexcept;

 private:
  std::span<const std::byte> all_;
  std::size_t region_ = 0;  // of those that the handler knows, where all_ is not empty
};

}  // namespace winnow
