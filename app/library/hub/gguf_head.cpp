#include "app/library/hub/gguf_head.h"

#include <QtEndian>
#include <array>
#include <cstdint>

namespace winnow::app {
namespace {

constexpr std::uint32_t kString = 8;
constexpr std::uint32_t kArray = 9;
// By the type's number.
constexpr std::array<qsizetype, 13> kScalarBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint64_t kMostArchitectureBytes = 64;

class Reader {
 public:
  explicit Reader(const QByteArray& bytes) : m_bytes(bytes) {}

  template <class Number>
  Number number() {
    if (!skip(sizeof(Number))) return 0;
    return qFromLittleEndian<Number>(m_bytes.constData() + m_at - sizeof(Number));
  }
  QByteArray text() {
    const auto length = number<std::uint64_t>();
    return skip(length) ? m_bytes.mid(m_at - static_cast<qsizetype>(length), static_cast<qsizetype>(length)) : QByteArray();
  }
  bool skip(std::uint64_t bytes) {
    m_failed = m_failed || bytes > static_cast<std::uint64_t>(m_bytes.size() - m_at);
    if (!m_failed) m_at += static_cast<qsizetype>(bytes);
    return !m_failed;
  }
  bool failed() const { return m_failed; }

 private:
  const QByteArray& m_bytes;
  qsizetype m_at = 0;
  bool m_failed = false;
};

void skipValue(Reader& reader, std::uint32_t type) {
  if (type == kString) {
    reader.text();
  } else if (type == kArray) {
    const auto inner = reader.number<std::uint32_t>();
    const auto count = reader.number<std::uint64_t>();
    for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) skipValue(reader, inner == kArray ? ~0U : inner);
  } else if (type >= kScalarBytes.size() || !reader.skip(static_cast<std::uint64_t>(kScalarBytes[type]))) {
    reader.skip(~0ULL);  // nobody knows its length
  }
}

}  // namespace

std::optional<std::string> architectureIn(const QByteArray& beginning) {
  Reader reader(beginning);
  const bool gguf = reader.number<std::uint32_t>() == 0x46554747;  // "GGUF"
  const auto version = reader.number<std::uint32_t>();
  reader.number<std::uint64_t>();  // tensors
  const auto keys = reader.number<std::uint64_t>();
  if (!gguf || version < 2 || version > 3) return std::nullopt;
  for (std::uint64_t i = 0; i < keys && !reader.failed(); ++i) {
    const QByteArray key = reader.text();
    const auto type = reader.number<std::uint32_t>();
    if (key != "general.architecture" || type != kString) {
      skipValue(reader, type);
      continue;
    }
    const QByteArray told = reader.text();
    const bool plain = !reader.failed() && !told.isEmpty() && static_cast<std::uint64_t>(told.size()) <= kMostArchitectureBytes;
    return plain ? std::optional(told.toStdString()) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace winnow::app
