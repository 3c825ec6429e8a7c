// The parts of a document that is a ZIP archive (office files, books), unpacked into memory one at a time.
//
// Used by office_text.h, table_text.h and book_text.h. Sizes are checked before anything is unpacked, and again while it is; nothing is
// written anywhere. Errors: Exception kDamagedFile; kLimitExceeded for an archive, a part or all of them together beyond the bounds (a
// "bomb"), and kDamagedFile for names that lead out of it. Threads: one at a time.
#pragma once

#include <QByteArray>
#include <cstdint>
#include <memory>
#include <string>

#include "app/media/files/media_file.h"

struct zip;

namespace winnow::app {

class Archive {
 public:
  static constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;
  static constexpr std::int64_t kMostPartBytes = std::int64_t{64} << 20;
  static constexpr std::int64_t kMostUnpackedBytes = std::int64_t{256} << 20;
  static constexpr std::int64_t kMostParts = 20'000;

  explicit Archive(const MediaFile& file);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  const std::string& path() const { return m_path; }
  bool has(const std::string& name) const;
  // Empty where there is no such part.
  QByteArray part(const std::string& name);

 private:
  const std::string m_path;
  std::vector<std::uint8_t> m_bytes;
  struct Closer {
    void operator()(zip* archive) const;
  };
  std::unique_ptr<zip, Closer> m_archive;
  std::int64_t m_unpacked = 0;
};

}  // namespace winnow::app
