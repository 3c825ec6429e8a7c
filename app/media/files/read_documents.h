// Documents that were read, hashed and decoded already, so that a plan after every key does not do it again.
//
// Owned by each MediaReader. A document in one encoding is the same as long as the file's number, size and times are
// (MediaFile::version()); one that was written to a moment ago is read each time, since its times could not tell another change. Holds the
// last few, within a bound. Errors: those of DocumentSource. Threads: any, several at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "app/media/files/document_source.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class ReadDocuments {
 public:
  static constexpr std::size_t kMost = 8;
  static constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;  // of files

  using Read = std::function<std::shared_ptr<const DocumentSource>(const MediaFile& file, const std::string& encoding,
                                                                   const InterruptToken& interrupt)>;

  ReadDocuments();
  explicit ReadDocuments(Read read) : m_read(std::move(read)) {}

  std::unique_ptr<DocumentSource> open(const MediaFile& file, const std::string& encoding, const InterruptToken& interrupt = {});

 private:
  struct Entry {
    std::string path;
    std::string version;  // of the file, and the encoding that it was read in
    std::shared_ptr<const DocumentSource> source;
  };
  std::shared_ptr<const DocumentSource> find(const std::string& path, const std::string& version);
  void keep(Entry entry);

  const Read m_read;
  std::mutex m_mutex;           // guards m_entries
  std::deque<Entry> m_entries;  // the last used one first
};

}  // namespace winnow::app
