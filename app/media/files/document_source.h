// A text as a medium: all of it is read when it is opened; and the documents that a reader has read already. Made by FfmpegMediaOpener.
//
// Errors: document_text.h; kInvalidArgument for frames, of which it has none. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "app/media/files/document_text.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class DocumentSource final : public MediaSource {
 public:
  // text: what was read of the file.
  DocumentSource(const MediaFile& file, DocumentText text);

  MediaKind kind() const override { return MediaKind::kDocument; }
  double duration_s() const override { return 0.0; }
  int frame_count() const override { return 0; }
  std::string content_hash() const override { return m_hash; }
  std::string text() const override { return m_text.utf8; }
  std::vector<std::int32_t> page_lines() const override { return m_text.pageLines; }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_info; }
  const std::vector<double>& askedTimes() const override { return m_askedS; }
  std::vector<MediaNotice> notices() const override { return m_text.notices; }

 private:
  std::string m_path;
  std::string m_hash;
  DocumentText m_text;
  MediaInfo m_info;
  std::vector<double> m_askedS;
};

// Documents that were read, hashed and decoded already, so that a plan after every key does not do it again.
//
// Owned by each MediaReader. A document in one encoding, and the same pages of it, is the same as long as the file's number, size and times
// are (MediaFile::version()); one that was written to a moment ago is read each time, since its times could not tell another change. Holds
// the last few, within a bound. Errors: those of DocumentSource.
class ReadDocuments {
 public:
  static constexpr std::size_t kMost = 8;
  static constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;  // of files

  using Read = std::function<DocumentText(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt)>;

  explicit ReadDocuments(Read read) : m_read(std::move(read)) {}

  std::unique_ptr<DocumentSource> open(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt = {});

 private:
  struct Entry {
    std::string path;
    std::string version;  // of the file, and how it was read: encoding and pages
    std::shared_ptr<const DocumentSource> source;
  };
  std::shared_ptr<const DocumentSource> find(const std::string& path, const std::string& version);
  void keep(Entry entry);

  const Read m_read;
  std::mutex m_mutex;           // guards m_entries
  std::deque<Entry> m_entries;  // the last used one first
};

}  // namespace winnow::app
