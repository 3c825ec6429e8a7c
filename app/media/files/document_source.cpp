#include "app/media/files/document_source.h"

#include <algorithm>

#include "app/media/files/content_hash.h"
#include "engine/base/error.h"

namespace winnow::app {

DocumentSource::DocumentSource(const MediaFile& file, DocumentText text)
    : m_path(file.path()), m_hash(contentHash(file)), m_text(std::move(text)) {
  m_info.kind = MediaKind::kDocument;
  m_info.container = m_text.container;
  m_info.codec = m_text.encoding;
  m_info.fileBytes = file.sizeBytes();
  m_info.frameCount = 0;
  m_info.words = countWords(m_text.utf8);
  m_info.pages = m_text.pages;
  m_info.notices = m_text.notices;
}

std::vector<SampledFrame> DocumentSource::read(int, int count, const InterruptToken&) {
  if (count == 0) return {};
  throw Exception(ErrorCode::kInvalidArgument, m_path, "a document has no frames");
}

std::unique_ptr<DocumentSource> ReadDocuments::open(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) {
  std::string version = file.version();
  if (!version.empty())
    version += " " + request.subtitles + " " + request.encoding + " " + std::to_string(request.pages.first) + "-" +
               std::to_string(request.pages.last);
  std::shared_ptr<const DocumentSource> source = version.empty() ? nullptr : find(file.path(), version);
  if (!source) {
    source = std::make_shared<const DocumentSource>(file, m_read(file, request, interrupt));
    if (!version.empty()) keep({file.path(), version, source});
  }
  return std::make_unique<DocumentSource>(*source);
}

std::shared_ptr<const DocumentSource> ReadDocuments::find(const std::string& path, const std::string& version) {
  const std::lock_guard lock(m_mutex);
  const auto found =
      std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& each) { return each.path == path && each.version == version; });
  if (found == m_entries.end()) return nullptr;
  std::rotate(m_entries.begin(), found, found + 1);
  return m_entries.front().source;
}

void ReadDocuments::keep(Entry entry) {
  const std::lock_guard lock(m_mutex);
  std::erase_if(m_entries, [&](const Entry& each) { return each.path == entry.path; });  // of before it changed
  m_entries.push_front(std::move(entry));
  const auto bytes = [this] {
    std::int64_t all = 0;
    for (const Entry& each : m_entries) all += each.source->info().fileBytes;
    return all;
  };
  while (m_entries.size() > kMost || (m_entries.size() > 1 && bytes() > kMostBytes)) m_entries.pop_back();
}

}  // namespace winnow::app
