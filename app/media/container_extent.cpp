#include "app/media/container_extent.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string_view>

#include "app/media/big_endian.h"

namespace winnow::app {
namespace {

constexpr int kMaxBoxes = 100'000;
constexpr std::uint64_t kEbml = 0x1A45DFA3;  // the first bytes of a Matroska file

std::uint64_t littleEndian32(std::span<const std::uint8_t> bytes) {
  return bytes[0] | std::uint64_t{bytes[1]} << 8 | std::uint64_t{bytes[2]} << 16 | std::uint64_t{bytes[3]} << 24;
}

// Bytes that [offset, offset + size) lacks; sizes come from the file and may be anything up to 2^64 - 1.
std::int64_t missing(std::int64_t fileBytes, std::int64_t offset, std::uint64_t size) {
  const auto available = static_cast<std::uint64_t>(fileBytes - offset);
  if (size <= available) return 0;
  const std::uint64_t lacking = size - available;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(lacking < kMax ? lacking : kMax);
}

ContainerExtent measureMov(const MediaFile& file) {
  ContainerExtent extent;
  extent.hasIndex = false;
  std::int64_t at = 0;
  for (int box = 0; box < kMaxBoxes && at + 8 <= file.sizeBytes(); ++box) {
    const auto header = file.readRange(at, 16);
    if (header.size() < 8) break;
    const std::span<const std::uint8_t> bytes(header);
    std::uint64_t size = bigEndian(bytes.first(4));
    const std::string_view type(reinterpret_cast<const char*>(header.data()) + 4, 4);
    if (size == 1 && header.size() == 16) size = bigEndian(bytes.subspan(8, 8));
    if (size == 0) size = static_cast<std::uint64_t>(file.sizeBytes() - at);  // to the end of the file
    if (size < 8) break;
    if (type == "ftyp" && at > 0 && (extent.hasIndex || extent.fragmented)) {
      extent.nextBytes = file.sizeBytes() - at;
      break;
    }
    extent.missingBytes = missing(file.sizeBytes(), at, size);
    if (type == "moov" && extent.missingBytes == 0) extent.hasIndex = true;
    if (type == "moof") extent.fragmented = true;
    if (extent.missingBytes > 0) break;
    at += static_cast<std::int64_t>(size);
  }
  return extent;
}

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
  if (size.bytes == 0 || size.unknown) return extent;
  const std::int64_t bodyAt = segmentAt + 4 + static_cast<std::int64_t>(size.bytes);
  if (bodyAt > file.sizeBytes()) return extent;
  extent.missingBytes = missing(file.sizeBytes(), bodyAt, size.value);
  if (extent.missingBytes > 0) return extent;
  const std::int64_t behind = bodyAt + static_cast<std::int64_t>(size.value);
  const auto next = file.readRange(behind, 4);
  if (next.size() == 4 && bigEndian(next) == kEbml) extent.nextBytes = file.sizeBytes() - behind;
  return extent;
}

ContainerExtent measureAvi(const MediaFile& file) {
  ContainerExtent extent;
  std::int64_t at = 0;
  // Files over 1 GiB are a chain of RIFF chunks; sizes are padded to even.
  for (int chunk = 0; chunk < kMaxBoxes && at + 8 <= file.sizeBytes(); ++chunk) {
    const auto header = file.readRange(at, 8);
    if (header.size() < 8 || std::string_view(reinterpret_cast<const char*>(header.data()), 4) != "RIFF") break;
    const std::uint64_t size = littleEndian32(std::span<const std::uint8_t>(header).subspan(4));
    extent.missingBytes = missing(file.sizeBytes(), at + 8, size);
    if (extent.missingBytes > 0) break;
    at += 8 + static_cast<std::int64_t>(size + size % 2);
  }
  return extent;
}

// Ogg: pages, each with the number of its stream. One that is not among those that begin the file belongs to another file.
ContainerExtent measureOgg(const MediaFile& file) {
  constexpr std::int64_t kEndsBytes = 128 << 10;  // two pages at their largest
  constexpr std::size_t kPageHeadBytes = 27;
  ContainerExtent extent;
  std::set<std::uint64_t> begun;
  const auto pages = [&](std::int64_t at, const auto& see) {
    const auto bytes = file.readRange(at, kEndsBytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::size_t page = text.find("OggS"); page != text.npos && page + kPageHeadBytes <= text.size();
         page = text.find("OggS", page + 4))
      see(bytes[page + 5], littleEndian32(std::span<const std::uint8_t>(bytes).subspan(page + 14, 4)));
  };
  constexpr std::uint8_t kBeginsStream = 2;
  bool beginning = true;  // all streams begin before any goes on
  pages(0, [&](std::uint8_t flags, std::uint64_t stream) {
    beginning = beginning && (flags & kBeginsStream) != 0;
    if (beginning) begun.insert(stream);
  });
  std::uint64_t last = 0;
  bool found = false;
  pages(std::max<std::int64_t>(0, file.sizeBytes() - kEndsBytes), [&](std::uint8_t, std::uint64_t stream) {
    last = stream;
    found = true;
  });
  if (found && !begun.contains(last)) extent.nextBytes = file.sizeBytes();
  return extent;
}

}  // namespace

ContainerExtent measureExtent(const MediaFile& file, ContentType type) {
  switch (type) {
    case ContentType::kMov:
      return measureMov(file);
    case ContentType::kMatroska:
      return measureMatroska(file);
    case ContentType::kAvi:
      return measureAvi(file);
    case ContentType::kOgg:
      return measureOgg(file);
    default:
      return {};
  }
}

}  // namespace winnow::app
