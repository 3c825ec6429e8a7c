#include "app/media/files/matroska_extent.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "app/media/files/big_endian.h"

namespace winnow::app {
namespace {

constexpr std::string_view kEbml = "\x1A\x45\xDF\xA3";  // the first bytes of a file
constexpr std::string_view kCluster = "\x1F\x43\xB6\x75";
constexpr std::int64_t kSearchedBytes = 64LL << 20;
constexpr std::int64_t kWindowBytes = 256 << 10;
constexpr int kMaxElements = 100'000;

// A number of 1 to 8 bytes whose first byte says how many; all value bits set means "unknown".
struct EbmlSize {
  std::uint64_t value = 0;
  std::size_t bytes = 0;
  bool unknown = false;
};
EbmlSize readEbmlSize(std::span<const std::uint8_t> from) {
  EbmlSize size;
  if (from.empty() || from[0] == 0) return size;
  std::size_t length = 1;
  while ((from[0] & (0x80 >> (length - 1))) == 0) ++length;
  if (from.size() < length) return size;
  const std::uint64_t mask = (std::uint64_t{1} << (7 * length)) - 1;
  size.bytes = length;
  size.value = bigEndian(from.first(length)) & mask;
  size.unknown = size.value == mask;
  return size;
}

// The start of another Matroska file after `from`, by its first bytes and the kind of EBML soon after. The file's size: there is none.
std::int64_t nextEbml(const MediaFile& file, std::int64_t from) {
  constexpr std::int64_t kHeaderBytes = 64;
  constexpr std::string_view kDocType = "\x42\x82";
  const std::int64_t end = std::min(file.sizeBytes(), from + kSearchedBytes);
  for (std::int64_t at = from; at < end; at += kWindowBytes) {
    const auto bytes = file.readRange(at, kWindowBytes + kHeaderBytes);
    const std::string_view text = charactersOf(bytes);
    for (std::size_t found = text.find(kEbml); found < kWindowBytes; found = text.find(kEbml, found + 1)) {
      if (text.substr(found, kHeaderBytes).find(kDocType) != text.npos) return at + static_cast<std::int64_t>(found);
    }
  }
  return file.sizeBytes();
}

// The start of the last cluster before `end`, by its name and what a cluster may begin with.
std::optional<std::int64_t> lastCluster(const MediaFile& file, std::int64_t from, std::int64_t end) {
  constexpr std::string_view kFirst = "\xE7\xBF\xEC\xAB\xA7";  // its time, a checksum, nothing, the sizes around it
  constexpr std::int64_t kHeadBytes = 13;
  for (std::int64_t at = end - kWindowBytes; at > from - kWindowBytes && at > end - kSearchedBytes; at -= kWindowBytes) {
    const std::int64_t begin = std::max(from, at);
    const auto bytes = file.readRange(begin, std::min(kWindowBytes + kHeadBytes, end - begin));
    const std::string_view text = charactersOf(bytes);
    for (std::size_t found = text.rfind(kCluster); found != text.npos; found = found == 0 ? text.npos : text.rfind(kCluster, found - 1)) {
      const std::span<const std::uint8_t> behind = std::span<const std::uint8_t>(bytes).subspan(found + kCluster.size());
      const EbmlSize size = readEbmlSize(behind);
      if (size.bytes > 0 && size.bytes < behind.size() && kFirst.find(static_cast<char>(behind[size.bytes])) != kFirst.npos)
        return begin + static_cast<std::int64_t>(found);
    }
  }
  return std::nullopt;
}

// True if [from, end), of a file that does not know its size, ends within an element.
bool endsWithin(const MediaFile& file, std::int64_t from, std::int64_t end) {
  // Clusters and what is in them, and what stands beside them.
  constexpr std::uint64_t kElements[] = {0x1F43B675, 0xE7,       0xA7,       0xAB,       0xA3,       0xA0,
                                         0xAF,       0xEC,       0xBF,       0x5854,     0x1C53BB6B, 0x1254C367,
                                         0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1941A469, 0x1043A770};
  constexpr std::int64_t kHeadBytes = 12;
  std::int64_t at = lastCluster(file, from, end).value_or(from);
  for (int element = 0; element < kMaxElements && at < end; ++element) {
    const auto head = file.readRange(at, std::min(kHeadBytes, end - at));
    const std::span<const std::uint8_t> bytes(head);
    const auto nameBytes = static_cast<std::size_t>(std::countl_zero(bytes[0]) + 1);
    if (nameBytes > 4) return false;
    if (nameBytes >= bytes.size()) return true;
    if (std::ranges::find(kElements, bigEndian(bytes.first(nameBytes))) == std::end(kElements)) return false;
    const EbmlSize size = readEbmlSize(bytes.subspan(nameBytes));
    if (size.bytes == 0) return std::ssize(bytes) < kHeadBytes;
    at += static_cast<std::int64_t>(nameBytes + size.bytes);
    if (size.unknown) continue;  // its contents follow
    if (missingBytes(end, at, size.value) > 0) return true;
    at += static_cast<std::int64_t>(size.value);
  }
  return false;
}

}  // namespace

ContainerExtent measureMatroska(const MediaFile& file) {
  ContainerExtent extent;
  const auto head = file.readRange(0, 64);
  const std::span<const std::uint8_t> bytes(head);
  if (bytes.size() < 12) return extent;
  const EbmlSize header = readEbmlSize(bytes.subspan(4));
  if (header.bytes == 0 || header.unknown || header.value > 1'000'000) return extent;
  const auto segmentAt = static_cast<std::int64_t>(4 + header.bytes + header.value);
  const auto segment = file.readRange(segmentAt, 12);
  const std::span<const std::uint8_t> segmentBytes(segment);
  if (segmentBytes.size() < 5 || bigEndian(segmentBytes.first(4)) != 0x18538067) return extent;
  const EbmlSize size = readEbmlSize(segmentBytes.subspan(4));
  if (size.bytes == 0) return extent;
  const std::int64_t bodyAt = segmentAt + 4 + static_cast<std::int64_t>(size.bytes);
  if (bodyAt > file.sizeBytes()) return extent;
  if (size.unknown) {
    extent.ownBytes = nextEbml(file, bodyAt);
    extent.unfinished = endsWithin(file, bodyAt, extent.ownBytes);
    return extent;
  }
  extent.missingBytes = missingBytes(file.sizeBytes(), bodyAt, size.value);
  if (extent.missingBytes == 0) extent.ownBytes = bodyAt + static_cast<std::int64_t>(size.value);
  return extent;
}

}  // namespace winnow::app
