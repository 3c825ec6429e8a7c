#include "app/media/files/orientation.h"

#include <cstdlib>

namespace winnow::app {
namespace {

constexpr unsigned kMaxDirectoryEntries = 512;
constexpr unsigned kOrientationTag = 0x0112;
constexpr unsigned kShort = 3;
constexpr unsigned kLong = 4;

class TiffReader {
 public:
  TiffReader(std::span<const std::uint8_t> bytes, bool bigEndian) : m_bytes(bytes), m_bigEndian(bigEndian) {}
  bool has(std::size_t at, std::size_t count) const { return at <= m_bytes.size() && m_bytes.size() - at >= count; }
  unsigned u16(std::size_t at) const { return m_bigEndian ? m_bytes[at] << 8 | m_bytes[at + 1] : m_bytes[at + 1] << 8 | m_bytes[at]; }
  std::uint32_t u32(std::size_t at) const {
    return m_bigEndian ? static_cast<std::uint32_t>(u16(at)) << 16 | u16(at + 2) : static_cast<std::uint32_t>(u16(at + 2)) << 16 | u16(at);
  }

 private:
  std::span<const std::uint8_t> m_bytes;
  bool m_bigEndian;
};

}  // namespace

int clockwiseDegrees(Orientation orientation) {
  switch (orientation) {
    case Orientation::kRotate90:
    case Orientation::kTransverse:  // mirrored, then turned by 90
      return 90;
    case Orientation::kRotate180:
    case Orientation::kFlip:  // mirrored, then turned by 180
      return 180;
    case Orientation::kRotate270:
    case Orientation::kTranspose: return 270;
    default: return 0;
  }
}

RgbImage makeUpright(RgbImage image, Orientation orientation) {
  if (orientation == Orientation::kUpright) return image;
  const std::ptrdiff_t width = image.width_px;
  const std::ptrdiff_t height = image.height_px;
  // The result is written in order; `origin` is where its first pixel comes from, the two steps (in pixels of the source) follow a row of
  // the result and go from one of its rows to the next.
  std::ptrdiff_t origin = 0;
  std::ptrdiff_t alongRow = 1;
  std::ptrdiff_t downColumn = width;
  switch (orientation) {
    case Orientation::kUpright: break;
    case Orientation::kMirror: origin = width - 1, alongRow = -1, downColumn = width; break;
    case Orientation::kRotate180: origin = width * height - 1, alongRow = -1, downColumn = -width; break;
    case Orientation::kFlip: origin = width * (height - 1), alongRow = 1, downColumn = -width; break;
    case Orientation::kTranspose: origin = 0, alongRow = width, downColumn = 1; break;
    case Orientation::kRotate90: origin = width * (height - 1), alongRow = -width, downColumn = 1; break;
    case Orientation::kTransverse: origin = width * height - 1, alongRow = -width, downColumn = -1; break;
    case Orientation::kRotate270: origin = width - 1, alongRow = width, downColumn = -1; break;
  }
  RgbImage upright{.width_px = swapsSides(orientation) ? image.height_px : image.width_px,
                   .height_px = swapsSides(orientation) ? image.width_px : image.height_px};
  upright.rgb.resize(image.rgb.size());
  std::uint8_t* out = upright.rgb.data();
  for (int y = 0; y < upright.height_px; ++y) {
    std::ptrdiff_t from = origin + y * downColumn;
    for (int x = 0; x < upright.width_px; ++x, from += alongRow, out += 3) {
      const std::uint8_t* pixel = image.rgb.data() + from * 3;
      out[0] = pixel[0];
      out[1] = pixel[1];
      out[2] = pixel[2];
    }
  }
  return upright;
}

Orientation orientationFromTiff(std::span<const std::uint8_t> tiff) {
  if (tiff.size() < 8 || tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return Orientation::kUpright;
  const TiffReader reader(tiff, tiff[0] == 'M');
  if (reader.u16(2) != 42) return Orientation::kUpright;
  const std::size_t directory = reader.u32(4);
  if (!reader.has(directory, 2)) return Orientation::kUpright;
  const unsigned entries = reader.u16(directory);
  for (unsigned i = 0; i < entries && i < kMaxDirectoryEntries; ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (!reader.has(entry, 12)) break;
    if (reader.u16(entry) != kOrientationTag) continue;
    // The standard wants 16 bits; some programs write 32, which Pillow and ExifTool read as well.
    const unsigned type = reader.u16(entry + 2);
    if ((type != kShort && type != kLong) || reader.u32(entry + 4) == 0) return Orientation::kUpright;
    const std::uint32_t value = type == kShort ? reader.u16(entry + 8) : reader.u32(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<Orientation>(value) : Orientation::kUpright;
  }
  return Orientation::kUpright;
}

MatrixOrientation orientationFromMatrix(std::span<const std::int32_t, 9> matrix) {
  // A stored point (x, y) is shown at (a x + c y, b x + d y).
  const std::int64_t a = matrix[0];
  const std::int64_t b = matrix[1];
  const std::int64_t c = matrix[3];
  const std::int64_t d = matrix[4];
  // A right angle leaves one diagonal at (nearly) zero; files round, so 1/64 of the other is let pass.
  const bool straight = std::abs(b) * 64 <= std::abs(a) && std::abs(c) * 64 <= std::abs(d) && a != 0 && d != 0;
  const bool turned = std::abs(a) * 64 <= std::abs(b) && std::abs(d) * 64 <= std::abs(c) && b != 0 && c != 0;
  if (straight) {
    if (a > 0) return {d > 0 ? Orientation::kUpright : Orientation::kFlip, true};
    return {d > 0 ? Orientation::kMirror : Orientation::kRotate180, true};
  }
  if (turned) {
    if (b > 0) return {c > 0 ? Orientation::kTranspose : Orientation::kRotate90, true};
    return {c > 0 ? Orientation::kRotate270 : Orientation::kTransverse, true};
  }
  return {Orientation::kUpright, false};
}

}  // namespace winnow::app
