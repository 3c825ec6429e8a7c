#include "app/media/papers/archive.h"

#include <zip.h>

#include <string_view>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

struct PartCloser {
  void operator()(zip_file_t* part) const { zip_fclose(part); }
};

[[noreturn]] void refuseBomb(const std::string& path) {
  throw Exception(ErrorCode::kLimitExceeded, path, "it unpacks to more than a document may hold");
}

bool leadsOut(std::string_view name) { return name.starts_with('/') || name.starts_with("../") || name.find("/../") != name.npos; }

}  // namespace

void Archive::Closer::operator()(zip* archive) const { zip_discard(archive); }

Archive::Archive(const MediaFile& file) : m_path(file.path()) {
  if (file.sizeBytes() > kMostBytes)
    throw Exception(ErrorCode::kLimitExceeded, m_path,
                    "the document is larger than the limit of " + std::to_string(kMostBytes >> 20) + " MiB");
  m_bytes = file.readRange(0, file.sizeBytes());
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(m_bytes.data(), m_bytes.size(), 0, &error);
  if (source != nullptr) m_archive.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (source != nullptr && !m_archive) zip_source_free(source);
  zip_error_fini(&error);
  if (!m_archive) throw Exception(ErrorCode::kDamagedFile, m_path, "the document is damaged: its archive cannot be opened");
  const zip_int64_t parts = zip_get_num_entries(m_archive.get(), 0);
  if (parts > kMostParts) refuseBomb(m_path);
  for (zip_int64_t i = 0; i < parts; ++i) {
    const char* const name = zip_get_name(m_archive.get(), static_cast<zip_uint64_t>(i), 0);
    if (name != nullptr && leadsOut(name))
      throw Exception(ErrorCode::kDamagedFile, m_path, "a part of the document names a place outside it");
  }
}

Archive::~Archive() = default;

bool Archive::has(const std::string& name) const { return zip_name_locate(m_archive.get(), name.c_str(), 0) >= 0; }

QByteArray Archive::part(const std::string& name) {
  const zip_int64_t index = zip_name_locate(m_archive.get(), name.c_str(), 0);
  if (index < 0) return {};
  zip_stat_t stat;
  const auto at = static_cast<zip_uint64_t>(index);
  const bool known = zip_stat_index(m_archive.get(), at, 0, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE) != 0;
  if (known && (stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
    throw Exception(ErrorCode::kUnsupportedFormat, m_path, "the document is encrypted: save it without a password");
  if (!known) throw Exception(ErrorCode::kDamagedFile, m_path, "the document is damaged: " + name + " cannot be read");
  const auto size = static_cast<std::int64_t>(std::min<zip_uint64_t>(stat.size, static_cast<zip_uint64_t>(kMostPartBytes) + 1));
  if (size > kMostPartBytes || m_unpacked + size > kMostUnpackedBytes) refuseBomb(m_path);
  m_unpacked += size;
  const std::unique_ptr<zip_file_t, PartCloser> part(zip_fopen_index(m_archive.get(), at, 0));
  QByteArray bytes(size, '\0');
  std::int64_t had = 0;
  while (part && had < size) {
    const zip_int64_t got = zip_fread(part.get(), bytes.data() + had, static_cast<zip_uint64_t>(size - had));
    if (got <= 0) break;
    had += got;
  }
  char more = 0;
  if (had == size && part && zip_fread(part.get(), &more, 1) > 0) refuseBomb(m_path);
  if (had < size) throw Exception(ErrorCode::kDamagedFile, m_path, "the document is damaged: " + name + " cannot be unpacked");
  return bytes;
}

}  // namespace winnow::app
