#include "app/media/files/deinterlacing.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace winnow::app {
namespace {

constexpr int kStep = 20;  // of 256 levels, between a line and its neighbours: more than noise

struct Lines {
  const std::uint8_t* data;
  int stride;
  int rows;

  template <typename Sample>
  const Sample* at(int row) const {
    // Beyond an edge the line of the same field that lies inside stands.
    if (row < 0) row += 2;
    if (row >= rows) row -= 2;
    return reinterpret_cast<const Sample*>(data + static_cast<std::ptrdiff_t>(row) * stride);
  }
};

// A sample and its neighbours: the lines above and below belong to the other field, the next ones are of its own.
struct Column {
  int above, own, below, ownAbove, ownBelow;
};

// True if a sample stands out from the other field, and not from its own.
bool isCombed(const Column& column, int step) {
  const auto& [above, own, below, ownAbove, ownBelow] = column;
  const int out = std::min(std::abs(own - above), std::abs(own - below));
  if (out <= step || (own > above) != (own > below)) return false;
  return std::min(std::abs(own - ownAbove), std::abs(own - ownBelow)) < out / 2;
}

// The lines of the later field in one plane.
struct Field {
  Lines from;
  std::uint8_t* to;
  int toStride;
  int samples;  // of a line
  int firstRow;
};

template <typename Sample>
std::int64_t fillIn(const Field& field, int step) {
  std::int64_t filled = 0;
  for (int y = field.firstRow; y < field.from.rows; y += 2) {
    const Sample* above = field.from.at<Sample>(y - 1);
    const Sample* own = field.from.at<Sample>(y);
    const Sample* below = field.from.at<Sample>(y + 1);
    const Sample* ownAbove = field.from.at<Sample>(y - 2);
    const Sample* ownBelow = field.from.at<Sample>(y + 2);
    auto* out = reinterpret_cast<Sample*>(field.to + static_cast<std::ptrdiff_t>(y) * field.toStride);
    for (int x = 0; x < field.samples; ++x) {
      if (!isCombed({above[x], own[x], below[x], ownAbove[x], ownBelow[x]}, step)) continue;
      out[x] = static_cast<Sample>((above[x] + below[x] + 1) / 2);
      ++filled;
    }
  }
  return filled;
}

}  // namespace

Deinterlaced deinterlace(const AVFrame& frame) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  constexpr std::uint64_t kOther = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BE;
  if (frame.interlaced_frame == 0 || format == nullptr || (format->flags & kOther) != 0 || frame.height < 4) return {};
  AvFrame whole(av_frame_clone(&frame));
  if (!whole || av_frame_make_writable(whole.get()) < 0) throw Exception(ErrorCode::kOutOfMemory, "", "there is no memory for a picture");
  const int depth = format->comp[0].depth;
  const int step = depth > 8 ? kStep << (depth - 8) : kStep;
  const int firstRow = frame.top_field_first != 0 ? 1 : 0;  // of the later field
  Deinterlaced result;
  for (int plane = 0; plane < AV_NUM_DATA_POINTERS && frame.data[plane] != nullptr; ++plane) {
    const bool chroma = plane == 1 || plane == 2;
    const int rows = chroma ? AV_CEIL_RSHIFT(frame.height, format->log2_chroma_h) : frame.height;
    if (rows < 4) continue;
    const int bytes = av_image_get_linesize(static_cast<AVPixelFormat>(frame.format), frame.width, plane);
    if (bytes <= 0) continue;
    const int samples = depth > 8 ? bytes / 2 : bytes;
    const Field field{{frame.data[plane], frame.linesize[plane], rows}, whole->data[plane], whole->linesize[plane], samples, firstRow};
    const std::int64_t filled = depth > 8 ? fillIn<std::uint16_t>(field, step) : fillIn<std::uint8_t>(field, step);
    if (plane == 0) result.differing = static_cast<double>(filled) / (static_cast<double>(samples) * rows);
  }
  result.frame = std::move(whole);
  return result;
}

}  // namespace winnow::app
