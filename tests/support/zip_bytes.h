// Zip archives written byte by byte, honest ones and others, for tests of what reads them.
#pragma once

#include <QByteArray>
#include <cstdint>
#include <vector>

namespace winnow::test {

struct ZipEntry {
  QByteArray name;
  QByteArray data;
  bool deflated = false;
  qint64 claimedBytes = -1;  // the size that the archive says; below 0: the true one
};

inline std::uint32_t crc32Of(const QByteArray& bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

inline QByteArray zipArchive(const std::vector<ZipEntry>& entries) {
  const auto number = [](qint64 value, int bytes) {
    QByteArray text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xFF);
    return text;
  };
  QByteArray archive, directory;
  for (const ZipEntry& entry : entries) {
    // qCompress: four bytes of length, two of zlib's head, the stream, four of checksum.
    const QByteArray packed = qCompress(entry.data);
    const QByteArray stored = entry.deflated ? packed.mid(6, packed.size() - 10) : entry.data;
    const qint64 claimed = entry.claimedBytes < 0 ? entry.data.size() : entry.claimedBytes;
    const QByteArray common = number(20, 2) + number(0, 2) + number(entry.deflated ? 8 : 0, 2) + number(0, 4) +
                              number(crc32Of(entry.data), 4) + number(stored.size(), 4) + number(claimed, 4) +
                              number(entry.name.size(), 2) + number(0, 2);
    directory += number(0x02014b50, 4) + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(archive.size(), 4) + entry.name;
    archive += number(0x04034b50, 4) + common + entry.name + stored;
  }
  const qint64 at = archive.size();
  const auto count = static_cast<qint64>(entries.size());
  return archive + directory + number(0x06054b50, 4) + number(0, 2) + number(0, 2) + number(count, 2) + number(count, 2) +
         number(directory.size(), 4) + number(at, 4) + number(0, 2);
}

}  // namespace winnow::test
