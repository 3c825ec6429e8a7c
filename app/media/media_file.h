// One open file, by descriptor: every byte that app/media looks at comes from here, so what was checked is what is decoded.
//
// The name is used once, literally (never a URL, a pattern or an option). Only regular files that are not empty are accepted; folders,
// pipes, sockets and devices are refused without blocking. The size is taken once: a file that grows is read up to the size it had.
// Errors: kInvalidArgument (empty name), kFileNotFound, kFileUnreadable, kEmptyFile. Threads: reads are positional
// and may run on several threads at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow::app {

class MediaFile {
 public:
  explicit MediaFile(const std::string& path);
  ~MediaFile();
  MediaFile(const MediaFile&) = delete;
  MediaFile& operator=(const MediaFile&) = delete;

  const std::string& path() const { return m_path; }
  std::int64_t sizeBytes() const { return m_sizeBytes; }
  // Another one after every change: device, number, size and times of the file when it was opened. Empty: it was written to so lately that
  // a change of right now might have the same times.
  const std::string& version() const { return m_version; }

  // Bytes copied, 0 at the end of the file, or a negative errno. Never throws: it is called from C code.
  std::int64_t tryReadAt(std::int64_t offset, std::span<std::uint8_t> into) const noexcept;
  // Up to `bytes` bytes from `offset`; shorter only at the end of the file. Throws kFileUnreadable on a read error.
  std::vector<std::uint8_t> readRange(std::int64_t offset, std::int64_t bytes) const;

 private:
  std::string m_path;
  int m_descriptor = -1;
  std::int64_t m_sizeBytes = 0;
  std::string m_version;
};

}  // namespace winnow::app
