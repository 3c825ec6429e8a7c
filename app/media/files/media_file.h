// One open file, by descriptor: every byte that app/media/files looks at comes from here, so what was checked is what is decoded.
//
// openMedia() is the only place that opens one by its name. The name is used once, literally (never a URL, a pattern or an option). Only
// regular files that are not empty are accepted; folders, pipes, sockets and devices are refused without blocking. The size is taken once:
// a file that grows is read up to the size it had. What was opened can be read by another process, which has no name (app/media/process).
// Errors: kInvalidArgument (empty name), kFileNotFound, kFileUnreadable, kEmptyFile. Threads: reads are positional
// and may run on several threads at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/ground/process/open_file.h"

namespace winnow::app {

struct OpenedMedia {
  std::shared_ptr<const OpenFile> file;  // shared: several may read it, each from where it likes
  std::int64_t sizeBytes = 0;
  std::string version;     // as MediaFile::version()
  std::string password{};  // that opens it, where it is encrypted (passwords.h); empty: none is known
};
OpenedMedia openMedia(const std::string& path);

class MediaFile {
 public:
  explicit MediaFile(const std::string& path) : MediaFile(path, openMedia(path)) {}
  MediaFile(std::string path, OpenedMedia opened) : m_path(std::move(path)), m_opened(std::move(opened)) {}
  MediaFile(const MediaFile&) = delete;
  MediaFile& operator=(const MediaFile&) = delete;

  const std::string& path() const { return m_path; }
  const OpenedMedia& opened() const { return m_opened; }
  std::int64_t sizeBytes() const { return m_opened.sizeBytes; }
  // Another one after every change: device, number, size and times of the file when it was opened. Empty: it was written to so lately that
  // a change of right now might have the same times.
  const std::string& version() const { return m_opened.version; }
  const std::string& password() const { return m_opened.password; }

  // Bytes copied, 0 at the end of the file, or a negative errno. Never throws: it is called from C code.
  std::int64_t tryReadAt(std::int64_t offset, std::span<std::uint8_t> into) const noexcept;
  // Up to `bytes` bytes from `offset`; shorter only at the end of the file. Throws kFileUnreadable on a read error.
  std::vector<std::uint8_t> readRange(std::int64_t offset, std::int64_t bytes) const;

 private:
  std::string m_path;
  OpenedMedia m_opened;
};

// How a reader gets at a file: from the disk, or out of those that it was given.
using MediaFiles = std::function<std::unique_ptr<MediaFile>(const std::string& path)>;
std::unique_ptr<MediaFile> mediaOnDisk(const std::string& path);

}  // namespace winnow::app
