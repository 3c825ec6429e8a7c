#include "app/programs/server/media_uploads.h"

#include <algorithm>

#include "app/programs/server/api_refusal.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::chrono::seconds kAbandoned{60};

}  // namespace

MediaUploads::State MediaUploads::stateOf(const std::string& sha256) {
  if (!m_store.find(sha256).empty()) return {0, true};
  const auto part = m_parts.find(sha256);
  return {part == m_parts.end() ? 0 : part->second->file.pos(), false};
}

MediaUploads::State MediaUploads::add(const std::string& sha256, std::int64_t at, std::int64_t of, std::string_view bytes) {
  if (!m_store.find(sha256).empty()) return {of, true};
  if (of <= 0 || at < 0 || at > of || static_cast<std::int64_t>(bytes.size()) > of - at)
    throw ApiRefusal(400, "the piece is not inside of the file", "at");
  Part& part = partOf(sha256, of);
  if (part.size != of) throw ApiRefusal(400, "the file was announced with another size", "of");
  if (at != part.file.pos()) return {part.file.pos(), false};
  const auto size = static_cast<qint64>(bytes.size());
  if (part.file.write(bytes.data(), size) != size || !part.file.flush()) {
    drop(sha256);
    throw Exception(ErrorCode::kFileUnwritable, "", "there is no room for the file");
  }
  part.hash.addData(QByteArrayView(bytes.data(), size));
  part.used = std::chrono::steady_clock::now();
  if (part.file.pos() < of) return {part.file.pos(), false};
  if (part.hash.result().toHex().toStdString() != sha256) {
    drop(sha256);
    throw ApiRefusal(400, "the bytes are not those of this hash", {}, "hash_mismatch");
  }
  m_parts.erase(sha256);
  m_store.take(sha256);
  return {of, true};
}

MediaUploads::Part& MediaUploads::partOf(const std::string& sha256, std::int64_t size) {
  const auto now = std::chrono::steady_clock::now();
  if (const auto known = m_parts.find(sha256); known != m_parts.end()) return *known->second;
  if (m_parts.size() >= kMostOpen) {
    const auto oldest = std::ranges::min_element(m_parts, {}, [](const auto& entry) { return entry.second->used; });
    if (now - oldest->second->used < kAbandoned) throw ApiRefusal(429, "too many files are being sent", {}, "queue_full");
    drop(oldest->first);
  }
  auto part = std::make_unique<Part>();
  part->size = size;
  part->used = now;
  part->file.setFileName(QFile::decodeName(QByteArray::fromStdString(m_store.partFor(sha256, size))));
  if (!part->file.open(QIODevice::WriteOnly | QIODevice::Truncate | QIODevice::Unbuffered))
    throw Exception(ErrorCode::kFileUnwritable, "", part->file.errorString().toStdString());
  return *m_parts.emplace(sha256, std::move(part)).first->second;
}

void MediaUploads::drop(const std::string& sha256) {
  m_parts.at(sha256)->file.remove();
  m_parts.erase(sha256);
}

}  // namespace winnow::app
