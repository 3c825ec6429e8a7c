#include "app/media/files/content_hash.h"

#include <QByteArray>
#include <QCryptographicHash>
#include <algorithm>
#include <array>

namespace winnow::app {
namespace {

constexpr std::int64_t kBlockBytes = 1LL << 20;

void addRange(QCryptographicHash& hash, const MediaFile& file, std::int64_t from, std::int64_t to, const InterruptToken& interrupt = {}) {
  for (std::int64_t at = from; at < to;) {
    interrupt.throw_if_requested();
    const auto block = file.readRange(at, std::min(kBlockBytes, to - at));
    if (block.empty()) return;  // the file shrank meanwhile; decoding will report it
    hash.addData(QByteArrayView(block.data(), static_cast<qsizetype>(block.size())));
    at += static_cast<std::int64_t>(block.size());
  }
}

}  // namespace

std::string contentHash(const MediaFile& file) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  const std::int64_t bytes = file.sizeBytes();
  if (bytes <= kWholeHashBytes) {
    addRange(hash, file, 0, bytes);
  } else {
    std::array<std::uint8_t, 8> size{};
    for (std::size_t i = 0; i < size.size(); ++i) size[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(bytes) >> (8 * i));
    hash.addData(QByteArrayView(size.data(), static_cast<qsizetype>(size.size())));
    addRange(hash, file, 0, kPartHashBytes);
    addRange(hash, file, bytes - kPartHashBytes, bytes);
  }
  return hash.result().toHex().toStdString();
}

std::string wholeHash(const MediaFile& file, const InterruptToken& interrupt) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  addRange(hash, file, 0, file.sizeBytes(), interrupt);
  return hash.result().toHex().toStdString();
}

}  // namespace winnow::app
