#include "app/media/container_extent.h"

#include <limits>
#include <span>
#include <string_view>

#include "app/media/big_endian.h"

namespace winnow::app {
namespace {

constexpr int kMaxBoxes = 100'000;

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
  if (bodyAt <= file.sizeBytes()) extent.missingBytes = missing(file.sizeBytes(), bodyAt, size.value);
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

}  // namespace

ContainerExtent measureExtent(const MediaFile& file, ContentType type) {
  switch (type) {
    case ContentType::kMov:
      return measureMov(file);
    case ContentType::kMatroska:
      return measureMatroska(file);
    case ContentType::kAvi:
      return measureAvi(file);
    default:
      return {};
  }
}

}  // namespace winnow::app
