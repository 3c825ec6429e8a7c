#include "app/media/files/read_documents.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

ReadDocuments::ReadDocuments()
    : ReadDocuments([](const MediaFile& file, const std::string& encoding, const InterruptToken& /*interrupt*/) {
        return std::make_shared<const DocumentSource>(file, encoding);
      }) {}

std::unique_ptr<DocumentSource> ReadDocuments::open(const MediaFile& file, const std::string& encoding, const InterruptToken& interrupt) {
  std::string version = file.version();
  if (!version.empty()) version += " " + encoding;
  std::shared_ptr<const DocumentSource> source = version.empty() ? nullptr : find(file.path(), version);
  if (!source) {
    source = m_read(file, encoding, interrupt);
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
