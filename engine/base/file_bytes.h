// Reads whole files and byte ranges of untrusted files.
//
// Used by engine/base/json_document, engine/text and engine/weights. Only regular files are read: a FIFO, device, socket or directory is
// refused before a byte is read, and opening never blocks. Sizes are checked against the caller's limit before memory is allocated. Offsets
// and sizes in bytes. Nothing is mapped here (file_mapping.h does): a file that another program truncates gives an error, not a SIGBUS.
// Errors: Exception with kFileNotFound, kFileUnreadable, kLimitExceeded or kDamagedFile (shorter than it was); subject = path.
// Threads: a RegularFile may be read by several threads at a time.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace winnow {

class RegularFile {
 public:
  // path: bytes as the file system stores them.
  explicit RegularFile(std::string path);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&& other) noexcept;
  ~RegularFile();

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }  // when it was opened
  std::uint64_t size_now_bytes() const;
  // True if another program has written to it or truncated it since it was opened, by size and modification time. True if that is unknown.
  // A file replaced by another of its name has not changed.
  bool changed() const noexcept;
  int descriptor() const noexcept { return descriptor_; }

  // Fills the whole of `target` from `offset`, or throws.
  void read_at(std::uint64_t offset, std::span<std::byte> target) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
  timespec modified_{};  // when it was opened
};

// The whole file; an error above max_bytes.
std::string read_file_bytes(const std::string& path, std::uint64_t max_bytes);

}  // namespace winnow
