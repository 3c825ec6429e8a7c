#include "app/media/files/container_extent.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "app/media/files/big_endian.h"
#include "app/media/files/matroska_extent.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kMaxBoxes = 100'000;
constexpr std::int64_t kMuchBytes = 64 << 10;
constexpr std::int64_t kMuchShare = 4;  // of the file: a quarter

std::uint64_t littleEndian32(std::span<const std::uint8_t> bytes) {
  return bytes[0] | std::uint64_t{bytes[1]} << 8 | std::uint64_t{bytes[2]} << 16 | std::uint64_t{bytes[3]} << 24;
}

bool isBoxType(std::string_view type) {
  return std::ranges::all_of(type, [](char c) { return (c >= ' ' && c <= '~') || c == '\xA9'; });
}

ContainerExtent measureMov(const MediaFile& file) {
  ContainerExtent extent{.hasIndex = false};
  std::int64_t at = 0;
  for (int box = 0; box < kMaxBoxes && at + 8 <= file.sizeBytes(); ++box) {
    const auto header = file.readRange(at, 16);
    if (header.size() < 8) break;
    const std::span<const std::uint8_t> bytes(header);
    std::uint64_t size = bigEndian(bytes.first(4));
    const std::string_view type = charactersOf(header).substr(4, 4);
    if (size == 1 && header.size() == 16) size = bigEndian(bytes.subspan(8, 8));
    if (size == 0) size = static_cast<std::uint64_t>(file.sizeBytes() - at);  // to the end of the file
    if (size < 8 || !isBoxType(type)) break;
    if (type == "ftyp" && at > 0 && (extent.hasIndex || extent.fragmented)) break;
    extent.missingBytes = missingBytes(file.sizeBytes(), at, size);
    if (type == "moov" && extent.missingBytes == 0) extent.hasIndex = true;
    if (type == "moof") extent.fragmented = true;
    if (extent.missingBytes > 0) return extent;
    at += static_cast<std::int64_t>(size);
  }
  extent.ownBytes = at;
  return extent;
}

ContainerExtent measureAvi(const MediaFile& file) {
  ContainerExtent extent;
  std::int64_t at = 0;
  // Files over 1 GiB are a chain of RIFF chunks; sizes are padded to even.
  for (int chunk = 0; chunk < kMaxBoxes && at + 8 <= file.sizeBytes(); ++chunk) {
    const auto header = file.readRange(at, 8);
    if (header.size() < 8 || !charactersOf(header).starts_with("RIFF")) break;
    const std::uint64_t size = littleEndian32(std::span<const std::uint8_t>(header).subspan(4));
    // Written before anything else, and once more at the end.
    if (size == 0 || size == std::numeric_limits<std::uint32_t>::max()) {
      extent.unfinished = true;
      return extent;
    }
    extent.missingBytes = missingBytes(file.sizeBytes(), at + 8, size);
    if (extent.missingBytes > 0) return extent;
    at += 8 + static_cast<std::int64_t>(size + size % 2);
  }
  extent.ownBytes = at;
  return extent;
}

// FLV: tags of sound, pictures and data, each with its size, and that size once more behind it.
ContainerExtent measureFlv(const MediaFile& file) {
  constexpr std::int64_t kTagHeadBytes = 11;
  constexpr std::int64_t kSizeBytes = 4;
  ContainerExtent extent;
  const auto head = file.readRange(0, 9);
  if (head.size() < 9) return extent;
  std::int64_t at = static_cast<std::int64_t>(bigEndian(std::span(head).subspan(5, 4))) + kSizeBytes;
  std::vector<std::uint8_t> window;
  std::int64_t windowAt = 0;
  for (int tag = 0; tag < kMaxBoxes && at + kTagHeadBytes <= file.sizeBytes(); ++tag) {
    if (at < windowAt || at + kTagHeadBytes > windowAt + std::ssize(window)) {
      window = file.readRange(at, 4 << 10);
      windowAt = at;
    }
    const auto bytes = std::span<const std::uint8_t>(window).subspan(static_cast<std::size_t>(at - windowAt));
    if (std::ssize(bytes) < kTagHeadBytes) return extent;
    const int kind = bytes[0] & 0x1F;
    if (kind != 8 && kind != 9 && kind != 18) break;
    const std::uint64_t size = kTagHeadBytes + bigEndian(bytes.subspan(1, 3));
    extent.missingBytes = missingBytes(file.sizeBytes(), at, size);
    if (extent.missingBytes > 0) return extent;
    at += static_cast<std::int64_t>(size) + kSizeBytes;
    extent.ownBytes = at;
  }
  return extent;
}

// Windows Media: objects, each a name of 16 bytes and a size.
ContainerExtent measureAsf(const MediaFile& file) {
  constexpr std::int64_t kObjectHeadBytes = 24;
  constexpr std::string_view kHeader = "\x30\x26\xB2\x75\x8E\x66\xCF\x11";
  ContainerExtent extent;
  std::int64_t at = 0;
  for (int object = 0; object < kMaxBoxes && at + kObjectHeadBytes <= file.sizeBytes(); ++object) {
    const auto head = file.readRange(at, kObjectHeadBytes);
    if (std::ssize(head) < kObjectHeadBytes || (at > 0 && charactersOf(head).starts_with(kHeader))) break;
    const std::uint64_t size = littleEndian32(std::span<const std::uint8_t>(head).subspan(16));
    const bool plain = littleEndian32(std::span<const std::uint8_t>(head).subspan(20)) == 0 && size >= kObjectHeadBytes;
    if (!plain) break;
    extent.missingBytes = missingBytes(file.sizeBytes(), at, size);
    if (extent.missingBytes > 0) break;
    at += static_cast<std::int64_t>(size);
  }
  extent.ownBytes = at;
  return extent;
}

// Ogg: pages, each with the number of its stream. The first of a stream that does not begin the file belongs to another file.
class OggPages {
 public:
  explicit OggPages(const MediaFile& file) : m_file(file) {
    // All streams begin before any goes on.
    for (std::optional<Page> page = pageFrom(0); page && (page->flags & kBeginsStream) != 0; page = pageFrom(page->position + 1))
      m_begun.insert(page->stream);
  }

  // The end of the last page of the file's own streams, the beginning of another page, and whether it is there as a whole and ends its
  // stream.
  ContainerExtent extent() const {
    std::int64_t own = 0;
    std::int64_t other = m_file.sizeBytes();
    while (other - own > 1) {
      const std::int64_t middle = own + (other - own) / 2;
      const std::optional<Page> page = pageFrom(middle);
      if (page && page->position < other && m_begun.contains(page->stream)) {
        own = page->position;
      } else {
        other = middle;
      }
    }
    const std::optional<Page> last = pageFrom(own);
    const std::optional<Page> next = pageFrom(own + 1);
    ContainerExtent extent{.ownBytes = next ? next->position : m_file.sizeBytes()};
    if (!last) return extent;
    extent.missingBytes = missingBytes(extent.ownBytes, last->position, last->size);
    extent.unfinished = (last->flags & kEndsStream) == 0;
    return extent;
  }

 private:
  static constexpr std::uint8_t kBeginsStream = 2;
  static constexpr std::uint8_t kEndsStream = 4;
  struct Page {
    std::int64_t position;
    std::uint8_t flags;
    std::uint64_t stream;
    std::uint64_t size;  // bytes of the page, if all of its head is there
  };

  std::optional<Page> pageFrom(std::int64_t at) const {
    constexpr std::int64_t kTwoPagesBytes = 128 << 10;  // at their largest
    constexpr std::size_t kPageHeadBytes = 27;
    const auto bytes = m_file.readRange(at, kTwoPagesBytes);
    const std::size_t page = charactersOf(bytes).find("OggS");
    if (page == std::string_view::npos || page + kPageHeadBytes > bytes.size()) return std::nullopt;
    const auto head = std::span<const std::uint8_t>(bytes).subspan(page);
    const auto lengths = head.subspan(kPageHeadBytes, std::min<std::size_t>(head[kPageHeadBytes - 1], head.size() - kPageHeadBytes));
    const auto size = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{kPageHeadBytes} + head[kPageHeadBytes - 1]);
    return Page{at + static_cast<std::int64_t>(page), head[5], littleEndian32(head.subspan(14, 4)), size};
  }

  const MediaFile& m_file;
  std::set<std::uint64_t> m_begun;
};

ContainerExtent measureOgg(const MediaFile& file) { return OggPages(file).extent(); }

ContainerExtent measureStructure(const MediaFile& file, ContentType type) {
  switch (type) {
    case ContentType::kMov: return measureMov(file);
    case ContentType::kMatroska: return measureMatroska(file);
    case ContentType::kAvi: return measureAvi(file);
    case ContentType::kFlv: return measureFlv(file);
    case ContentType::kOgg: return measureOgg(file);
    case ContentType::kAsf: return measureAsf(file);
    default: return {};
  }
}

// The video that begins at a place of the file.
std::optional<ContentType> videoAt(const MediaFile& file, std::int64_t at) {
  constexpr std::int64_t kHeadBytes = 4096;
  const auto head = file.readRange(at, kHeadBytes);
  try {
    const ContentType type = detectContent(head, file.path());
    return kindOf(type) == MediaKind::kVideo ? std::optional(type) : std::nullopt;
  } catch (const Exception&) {
    return std::nullopt;  // nothing that is read here
  }
}

}  // namespace

std::int64_t missingBytes(std::int64_t fileBytes, std::int64_t offset, std::uint64_t size) {
  const auto available = static_cast<std::uint64_t>(fileBytes - offset);
  if (size <= available) return 0;
  const std::uint64_t lacking = size - available;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(lacking < kMax ? lacking : kMax);
}

std::int64_t emptyAviChunks(const MediaFile& file, std::int64_t from, int stream) {
  constexpr std::int64_t kHeadBytes = 8;
  const std::string number{static_cast<char>('0' + stream / 10), static_cast<char>('0' + stream % 10)};
  std::int64_t empty = 0;
  std::int64_t at = from + from % 2;
  for (int chunk = 0; chunk < kMaxBoxes && at + kHeadBytes <= file.sizeBytes(); ++chunk) {
    const auto head = file.readRange(at, kHeadBytes);
    const std::string_view name = charactersOf(head).substr(0, 4);
    if (std::ssize(head) < kHeadBytes || name == "idx1") break;
    const auto size = static_cast<std::int64_t>(littleEndian32(std::span<const std::uint8_t>(head).subspan(4)));
    const bool own = name == number + "dc" || name == number + "db";
    if (own && size > 0) break;
    empty += own ? 1 : 0;
    at += name == "LIST" || name == "RIFF" ? kHeadBytes + 4 : kHeadBytes + size + size % 2;
  }
  return empty;
}

bool isMuch(std::int64_t bytes, std::int64_t fileBytes) { return bytes > kMuchBytes && bytes > fileBytes / kMuchShare; }

ContainerExtent measureExtent(const MediaFile& file, ContentType type) {
  ContainerExtent extent = measureStructure(file, type);
  const std::int64_t behind = file.sizeBytes() - extent.ownBytes;
  const bool ends = extent.ownBytes > 0 && behind > 0;
  const std::optional<ContentType> next = ends ? videoAt(file, extent.ownBytes) : std::nullopt;
  if (next) extent.behind = nameOf(*next);
  if (next || (ends && isMuch(behind, file.sizeBytes()))) extent.behindBytes = behind;
  if (!next) extent.ownBytes = file.sizeBytes();  // who reads it knows better what belongs to it
  return extent;
}

}  // namespace winnow::app
