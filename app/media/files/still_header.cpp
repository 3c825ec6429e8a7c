// The structures of PNG, JPEG, WebP, BMP and GIF, as far as size, orientation and completeness need them.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "app/media/files/heif_picture.h"
#include "app/media/files/still_image.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void damaged(const std::string& subject, const char* reason) { throw Exception(ErrorCode::kDamagedFile, subject, reason); }
constexpr const char* kCutOff = "the picture is cut off: the end of the file is missing";
constexpr const char* kBadHeader = "the header of the picture is damaged";

std::uint32_t be16(Bytes b, std::size_t at) { return static_cast<std::uint32_t>(b[at]) << 8 | b[at + 1]; }
std::uint32_t be32(Bytes b, std::size_t at) { return be16(b, at) << 16 | be16(b, at + 2); }
std::uint32_t le16(Bytes b, std::size_t at) { return static_cast<std::uint32_t>(b[at + 1]) << 8 | b[at]; }
std::uint32_t le24(Bytes b, std::size_t at) { return le16(b, at) | static_cast<std::uint32_t>(b[at + 2]) << 16; }
std::uint32_t le32(Bytes b, std::size_t at) { return le16(b, at) | le16(b, at + 2) << 16; }
std::string_view tag(Bytes b, std::size_t at) { return {reinterpret_cast<const char*>(b.data()) + at, 4}; }

void append(std::vector<std::uint8_t>& to, Bytes from) {
  const std::size_t end = to.size();
  to.resize(end + from.size());
  std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(end));
}

void requireSize(std::uint64_t width, std::uint64_t height, const std::string& subject, const MediaLimits& limits) {
  if (width == 0 || height == 0) damaged(subject, "the picture has no width or no height");
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (std::max(width, height) / std::min(width, height) > static_cast<std::uint64_t>(limits.imageSideRatio) ||
      std::max(width, height) > std::min(width, height) * static_cast<std::uint64_t>(limits.imageSideRatio)) {
    throw Exception(
        ErrorCode::kLimitExceeded, subject,
        "the picture of " + size + " is too narrow (one side is more than " + std::to_string(limits.imageSideRatio) + " times the other)");
  }
  if (width * height > static_cast<std::uint64_t>(limits.imageStoredPixels)) {
    throw Exception(
        ErrorCode::kLimitExceeded, subject,
        "the picture of " + size + " is larger than the limit of " + std::to_string(limits.imageStoredPixels / 1'000'000) + " megapixels");
  }
}

void setSize(StillHeader& header, std::uint64_t width, std::uint64_t height, const std::string& subject, const MediaLimits& limits) {
  requireSize(width, height, subject, limits);
  header.widthPx = static_cast<int>(width);
  header.heightPx = static_cast<int>(height);
}

// Keeps the chunks that make up the picture; text, profiles and animation frames stay behind.
void readPng(StillHeader& header, Bytes file, const std::string& subject, const MediaLimits& limits) {
  if (file.size() < 33 || tag(file, 12) != "IHDR") damaged(subject, file.size() < 33 ? kCutOff : kBadHeader);
  setSize(header, be32(file, 16), be32(file, 20), subject, limits);
  append(header.decodable, file.first(8));
  std::size_t at = 8;
  bool ended = false;
  bool pixels = false;
  bool exif = false;  // the first counts, here as in every format: an editor may have added one and left the camera's
  while (!ended) {
    if (at == file.size() && pixels) {
      header.endMissing = true;
      return;
    }
    if (file.size() - at < 12) damaged(subject, kCutOff);
    const std::size_t length = be32(file, at);
    if (length > 0x7FFFFFFF) damaged(subject, "a chunk of the picture has an impossible length");
    if (file.size() - at - 12 < length) damaged(subject, kCutOff);
    const std::string_view type = tag(file, at + 4);
    if (type == "acTL") header.animated = true;
    if (type == "eXIf" && !std::exchange(exif, true)) header.orientation = orientationFromTiff(file.subspan(at + 8, length));
    if (type == "IHDR" || type == "PLTE" || type == "tRNS" || type == "IDAT" || type == "IEND") {
      append(header.decodable, file.subspan(at, length + 12));
    }
    pixels = pixels || type == "IDAT";
    ended = type == "IEND";
    at += length + 12;
  }
}

bool isStartOfFrame(unsigned marker) { return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC; }

// The byte after the entropy-coded data that starts at `at`: where the next real marker is.
std::size_t skipScanData(Bytes file, std::size_t at) {
  while (at + 1 < file.size()) {
    const auto* found = static_cast<const std::uint8_t*>(std::memchr(file.data() + at, 0xFF, file.size() - at - 1));
    if (found == nullptr) return file.size();
    at = static_cast<std::size_t>(found - file.data());
    const unsigned next = file[at + 1];
    if (next != 0 && next != 0xFF && !(next >= 0xD0 && next <= 0xD7)) return at;
    at += next == 0xFF ? 1 : 2;
  }
  return file.size();
}

// How much of a JPEG that comes in ever finer scans is there: of every component, up to which bit each of its 64 coefficients.
class ProgressiveScans {
 public:
  // The body of the frame header, and of a scan header.
  void begin(Bytes body) {
    for (std::size_t at = 6; at + 3 <= body.size(); at += 3) m_lacking[body[at]].fill(kNothing);
  }
  void add(Bytes body) {
    if (body.empty() || body.size() < 4 + std::size_t{2} * body[0]) return;
    const Bytes spectrum = body.subspan(1 + std::size_t{2} * body[0]);
    for (std::size_t i = 0; i < body[0]; ++i) {
      auto& lacking = m_lacking[body[1 + 2 * i]];
      for (std::size_t k = spectrum[0]; k <= spectrum[1] && k < lacking.size(); ++k) lacking[k] = spectrum[2] & 15;
    }
  }
  bool complete() const {
    return std::ranges::all_of(m_lacking, [](const auto& component) {
      return std::ranges::all_of(component.second, [](std::uint8_t bits) { return bits == 0; });
    });
  }

 private:
  static constexpr std::uint8_t kNothing = 255;
  std::map<std::uint8_t, std::array<std::uint8_t, 64>> m_lacking;
};

void readJpeg(StillHeader& header, std::vector<std::uint8_t> owned, const std::string& subject, const MediaLimits& limits) {
  const Bytes file(owned);
  std::size_t at = 2;
  std::size_t end = 0;
  bool sized = false;
  bool scanned = false;
  bool exif = false;
  ProgressiveScans scans;
  while (end == 0) {
    while (at < file.size() && file[at] != 0xFF) ++at;  // decoders skip stray bytes between segments
    while (at + 1 < file.size() && file[at + 1] == 0xFF) ++at;
    if (at + 2 > file.size()) {
      if (!scanned || !scans.complete()) damaged(subject, kCutOff);
      header.endMissing = true;
      end = file.size();
      break;
    }
    const unsigned marker = file[at + 1];
    at += 2;
    if (marker == 0xD9) {
      end = at;
      break;
    }
    if (marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;
    if (file.size() - at < 2) damaged(subject, kCutOff);
    const std::size_t length = be16(file, at);
    if (length < 2) damaged(subject, kBadHeader);
    if (file.size() - at < length) damaged(subject, kCutOff);
    const Bytes body = file.subspan(at + 2, length - 2);
    if (marker == 0xE1 && !scanned && body.size() > 6 && std::memcmp(body.data(), "Exif\0", 6) == 0 && !std::exchange(exif, true)) {
      header.orientation = orientationFromTiff(body.subspan(6));
    }
    if (isStartOfFrame(marker)) {
      if (body.size() < 6) damaged(subject, kBadHeader);
      if (!sized) setSize(header, be16(body, 3), be16(body, 1), subject, limits);
      if (marker == 0xC2) scans.begin(body);
      sized = true;
    }
    at += length;
    if (marker == 0xDA) {
      if (!sized) damaged(subject, kBadHeader);
      scanned = true;
      scans.add(body);
      at = skipScanData(file, at);
    }
  }
  if (!scanned) damaged(subject, "the file holds no picture");
  owned.resize(end);  // what follows (a second picture, an archive) is none of the decoder's business
  header.decodable = std::move(owned);
}

void readBmp(StillHeader& header, std::vector<std::uint8_t> owned, const std::string& subject, const MediaLimits& limits) {
  const Bytes file(owned);
  if (file.size() < 30) damaged(subject, kCutOff);
  const bool old = le32(file, 14) == 12;
  const std::uint64_t width = old ? le16(file, 18) : le32(file, 18);
  const auto storedHeight = static_cast<std::int32_t>(old ? le16(file, 20) : le32(file, 22));
  if (width > 0x7FFFFFFF || storedHeight == INT32_MIN) damaged(subject, kBadHeader);
  setSize(header, width, static_cast<std::uint64_t>(storedHeight < 0 ? -static_cast<std::int64_t>(storedHeight) : storedHeight), subject,
          limits);
  const std::uint64_t bitsPerPixel = old ? le16(file, 24) : le16(file, 28);
  const std::uint32_t compression = old || file.size() < 34 ? 0 : le32(file, 30);
  const std::uint64_t rowBytes = (width * bitsPerPixel + 31) / 32 * 4;
  const std::uint64_t pixelBytes = rowBytes * static_cast<std::uint64_t>(header.heightPx);
  if ((compression == 0 || compression == 3) && le32(file, 10) + pixelBytes > file.size()) damaged(subject, kCutOff);
  header.decodable = std::move(owned);
}

// Walks the blocks up to the second picture; the first must be whole.
void readGif(StillHeader& header, std::vector<std::uint8_t> owned, const std::string& subject, const MediaLimits& limits) {
  const Bytes file(owned);
  if (file.size() < 13) damaged(subject, kCutOff);
  setSize(header, le16(file, 6), le16(file, 8), subject, limits);
  const auto need = [&](std::size_t at, std::size_t count) {
    if (at > file.size() || file.size() - at < count) damaged(subject, kCutOff);
  };
  std::size_t at = 13 + ((file[10] & 0x80) != 0 ? std::size_t{3} << ((file[10] & 7) + 1) : 0);
  std::size_t firstEnd = 0;
  for (bool ended = false; !ended;) {
    if (firstEnd != 0 && at >= file.size()) break;  // only the trailer is missing
    need(at, 1);
    const unsigned block = file[at++];
    if (block == 0x3B) break;
    if (block == 0x2C) {
      if (firstEnd != 0) {
        header.animated = true;
        break;
      }
      need(at, 10);
      const unsigned flags = file[at + 8];
      at += 9 + ((flags & 0x80) != 0 ? std::size_t{3} << ((flags & 7) + 1) : 0) + 1;
    } else if (block == 0x21) {
      need(at, 1);
      ++at;
    } else if (firstEnd != 0) {
      break;
    } else {
      damaged(subject, "a block of the picture is damaged");
    }
    for (;;) {
      if (firstEnd != 0 && at >= file.size()) break;
      need(at, 1);
      const std::size_t length = file[at];
      at += 1 + length;
      if (length == 0) break;
    }
    if (block == 0x2C) {
      need(at, 0);
      firstEnd = at;
    }
  }
  if (firstEnd == 0) damaged(subject, "the file holds no picture");
  owned.resize(firstEnd);
  owned.push_back(0x3B);
  header.decodable = std::move(owned);
}

void appendLe32(std::vector<std::uint8_t>& to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// Rebuilds a plain WebP file from the picture chunks of `chunks` (the file's body, or that of the first animation frame).
std::vector<std::uint8_t> rebuildWebp(Bytes chunks, int widthPx, int heightPx, const std::string& subject) {
  std::vector<std::uint8_t> body;
  bool hasAlpha = false;
  bool hasPicture = false;
  std::size_t at = 0;
  while (!hasPicture && chunks.size() - at >= 8) {
    const std::size_t length = le32(chunks, at + 4);
    if (chunks.size() - at - 8 < length) damaged(subject, kCutOff);
    const std::string_view type = tag(chunks, at);
    hasPicture = type == "VP8 " || type == "VP8L";
    if (type == "ALPH") hasAlpha = true;
    if (hasPicture || type == "ALPH") {
      append(body, chunks.subspan(at, 8 + length));
      if (length % 2 != 0) body.push_back(0);
    }
    at += std::min(8 + length + length % 2, chunks.size() - at);
  }
  if (!hasPicture) damaged(subject, "the file holds no picture");
  std::vector<std::uint8_t> file;
  append(file, Bytes(reinterpret_cast<const std::uint8_t*>("RIFF"), 4));
  appendLe32(file, static_cast<std::uint32_t>(4 + (hasAlpha ? 18 : 0) + body.size()));
  append(file, Bytes(reinterpret_cast<const std::uint8_t*>("WEBP"), 4));
  if (hasAlpha) {
    append(file, Bytes(reinterpret_cast<const std::uint8_t*>("VP8X"), 4));
    appendLe32(file, 10);
    appendLe32(file, 0x10);
    for (const int side : {widthPx - 1, heightPx - 1}) {
      for (int i = 0; i < 3; ++i) file.push_back(static_cast<std::uint8_t>(side >> (8 * i)));
    }
  }
  append(file, body);
  return file;
}

void readWebp(StillHeader& header, Bytes file, const std::string& subject, const MediaLimits& limits) {
  if (file.size() < 30) damaged(subject, kCutOff);
  const std::uint64_t claimed = std::uint64_t{le32(file, 4)} + 8;
  if (claimed > file.size()) damaged(subject, kCutOff);
  const Bytes body = file.first(static_cast<std::size_t>(std::max<std::uint64_t>(claimed, 30))).subspan(12);
  Bytes picture = body;
  std::size_t at = 0;
  bool sized = false;
  bool exif = false;
  while (body.size() - at >= 8) {
    const std::size_t length = le32(body, at + 4);
    if (body.size() - at - 8 < length) damaged(subject, kCutOff);
    const std::string_view type = tag(body, at);
    const Bytes data = body.subspan(at + 8, length);
    if (type == "VP8X" && length >= 10) {
      setSize(header, le24(data, 4) + 1, le24(data, 7) + 1, subject, limits);
      sized = true;
    } else if (type == "VP8 " && !sized && length >= 10) {
      setSize(header, le16(data, 6) & 0x3FFF, le16(data, 8) & 0x3FFF, subject, limits);
      sized = true;
    } else if (type == "VP8L" && !sized && length >= 5) {
      const std::uint32_t bits = le32(data, 1);
      setSize(header, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, subject, limits);
      sized = true;
    } else if (type == "EXIF" && !std::exchange(exif, true)) {
      const bool prefixed = length > 6 && std::memcmp(data.data(), "Exif\0", 6) == 0;
      header.orientation = orientationFromTiff(prefixed ? data.subspan(6) : data);
    } else if (type == "ANMF" && !header.animated && length > 16) {
      if (!sized) damaged(subject, kBadHeader);
      header.animated = true;
      header.canvasWidthPx = header.widthPx;
      header.canvasHeightPx = header.heightPx;
      header.offsetXPx = static_cast<int>(le24(data, 0)) * 2;
      header.offsetYPx = static_cast<int>(le24(data, 3)) * 2;
      setSize(header, le24(data, 6) + 1, le24(data, 9) + 1, subject, limits);
      if (header.offsetXPx > header.canvasWidthPx - header.widthPx || header.offsetYPx > header.canvasHeightPx - header.heightPx) {
        damaged(subject, "the first frame lies outside the picture");
      }
      picture = data.subspan(16);
    }
    at += std::min(8 + length + length % 2, body.size() - at);
  }
  if (!sized) damaged(subject, "the file holds no picture");
  header.decodable = rebuildWebp(picture, header.widthPx, header.heightPx, subject);
}

}  // namespace

StillHeader readStillHeader(ContentType type, std::vector<std::uint8_t> file, const std::string& subject, const MediaLimits& limits) {
  StillHeader header{.type = type};
  switch (type) {
    case ContentType::kPng: readPng(header, file, subject, limits); break;
    case ContentType::kJpeg: readJpeg(header, std::move(file), subject, limits); break;
    case ContentType::kBmp: readBmp(header, std::move(file), subject, limits); break;
    case ContentType::kGif: readGif(header, std::move(file), subject, limits); break;
    case ContentType::kWebp: readWebp(header, file, subject, limits); break;
    case ContentType::kHeic:
    case ContentType::kAvif: {
      const PictureSize size = heifSize(type, file, subject);
      setSize(header, static_cast<std::uint64_t>(size.width_px), static_cast<std::uint64_t>(size.height_px), subject, limits);
      header.animated = isHeifSequence(file);
      header.decodable = std::move(file);
      break;
    }
    default: throw Exception(ErrorCode::kInternal, subject, "a video is not a still picture");
  }
  return header;
}

}  // namespace winnow::app
