#include "app/media/files/document_source.h"

#include <utility>

#include "app/media/files/content_hash.h"
#include "engine/base/error.h"

namespace winnow::app {

DocumentSource::DocumentSource(const MediaFile& file, const std::string& encoding)
    : DocumentSource(file, readTextFile(file, encoding, "documents")) {}

DocumentSource::DocumentSource(const MediaFile& file, DocumentText text)
    : m_path(file.path()), m_hash(contentHash(file)), m_text(std::move(text)) {
  m_info.kind = MediaKind::kDocument;
  m_info.container = "text";
  m_info.codec = m_text.encoding;
  m_info.fileBytes = file.sizeBytes();
  m_info.frameCount = 0;
  m_info.words = countWords(m_text.utf8);
  m_info.notices = m_text.notices;
}

std::vector<SampledFrame> DocumentSource::read(int, int count, const InterruptToken&) {
  if (count == 0) return {};
  throw Exception(ErrorCode::kInvalidArgument, m_path, "a document has no frames");
}

}  // namespace winnow::app
