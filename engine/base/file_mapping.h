// A regular file's bytes as memory, read-only.
//
// Used by engine/weights/gguf_file.h: weights are packed anew from where the page cache holds them, without a copy in between. What is read
// once is read with RegularFile::read_at instead, which answers a file that another program shortens with an error. A mapping cannot: a
// page that lies behind the file's new end raises SIGBUS when it is touched. bytes() therefore asks for the file's size first, and whoever
// keeps the span must know that only files that nobody shortens stay readable. A file that is replaced by another of its name (as programs
// that download or save do) stays as it was. Offsets and sizes in bytes. Errors: Exception; kOutOfMemory (no address space), kDamagedFile
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

 private:
  std::span<const std::byte> all_;
};

}  // namespace winnow
