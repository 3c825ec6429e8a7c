#include "app/media/files/image_frame_source.h"

#include <utility>

#include "app/media/files/content_hash.h"
#include "app/media/files/still_image.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

StillHeader readHeader(const MediaFile& file, ContentType type, const MediaLimits& limits) {
  if (file.sizeBytes() > limits.imageFileBytes) {
    throw Exception(ErrorCode::kLimitExceeded, file.path(),
                    "the picture file is larger than the limit of " + std::to_string(limits.imageFileBytes >> 20) + " MiB");
  }
  return readStillHeader(type, file.readRange(0, file.sizeBytes()), file.path(), limits);
}

}  // namespace

ImageFrameSource::ImageFrameSource(std::unique_ptr<MediaFile> file, ContentType type, const MediaLimits& limits)
    : m_file(std::move(file)), m_type(type), m_limits(limits) {
  const StillHeader header = readHeader(*m_file, type, limits);
  const int width = header.canvasWidthPx > 0 ? header.canvasWidthPx : header.widthPx;
  const int height = header.canvasWidthPx > 0 ? header.canvasHeightPx : header.heightPx;
  m_info.kind = MediaKind::kImage;
  m_info.container = nameOf(type);
  m_info.codec = nameOf(type);
  const PictureSize upright = swapsSides(header.orientation) ? PictureSize{height, width} : PictureSize{width, height};
  const PictureSize delivered = deliveredSize(header, limits);
  m_info.widthPx = delivered.width_px;
  m_info.heightPx = delivered.height_px;
  if (delivered.width_px != upright.width_px) add_notice(m_info.notices, {NoticeCode::kScaledDown, upright.width_px, upright.height_px});
  if (header.endMissing) decodeStill(header, m_file->path(), limits);  // which tells whether the rest is there
  m_info.rotationDegrees = clockwiseDegrees(header.orientation);
  m_info.fileBytes = m_file->sizeBytes();
  m_info.frameCount = 1;
  if (header.animated) add_notice(m_info.notices, {NoticeCode::kAnimated});
}

std::string ImageFrameSource::content_hash() const {
  if (m_hash.empty()) m_hash = contentHash(*m_file);
  return m_hash;
}

std::vector<SampledFrame> ImageFrameSource::read(int first, int count, const InterruptToken& interrupt) {
  if (count == 0 && (first == 0 || first == 1)) return {};
  if (first != 0 || count != 1) throw Exception(ErrorCode::kInvalidArgument, m_file->path(), "an image has one frame");
  interrupt.throw_if_requested();
  const StillHeader header = readHeader(*m_file, m_type, m_limits);
  interrupt.throw_if_requested();
  DecodedStill still = decodeStill(header, m_file->path(), m_limits);
  interrupt.throw_if_requested();
  m_info.colourRange = still.colourRange;
  m_info.colourMatrix = still.colourMatrix;
  std::vector<SampledFrame> frames(1);
  frames[0].image = std::move(still.image);
  return frames;
}

}  // namespace winnow::app
