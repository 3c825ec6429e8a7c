// Media that came as bytes, kept as private files that are named by what they hold: the same bytes are one file.
//
// Used by app/programs/server for pictures and videos inside a request. At most `mostBytes` in all: what was used the longest time ago goes
// first, and what was put or found in the last minute stays. Errors: Exception; kLimitExceeded for bytes that alone are too many,
// kFileUnwritable where the folder cannot be written. Threads: any; one at a time is served.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

namespace winnow::app {

class MediaStore {
 public:
  // folder: bytes; is made, for its owner alone, when the first file is put.
  MediaStore(std::string folder, std::int64_t mostBytes) : m_folder(std::move(folder)), m_mostBytes(mostBytes) {}

  // The path of a file with these bytes.
  std::string put(std::span<const std::uint8_t> bytes);
  // The path where a file of so many bytes can be written for take(): they are known to be those of this hash, lower-case hex SHA-256.
  std::string partFor(const std::string& sha256, std::int64_t bytes);
  std::string take(const std::string& sha256);
  // The path of a stored file, by the lower-case hex SHA-256 of its bytes. Empty: it is not there.
  std::string find(const std::string& sha256);

 private:
  std::string found(const std::string& sha256) const;
  void prepareFor(std::int64_t bytes);
  void makeRoom(std::int64_t bytes);

  const std::string m_folder;
  const std::int64_t m_mostBytes;
  std::mutex m_mutex;  // guards the folder
};

}  // namespace winnow::app
