#include "app/media/files/still_image.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstring>
#include <utility>

#include "app/media/files/av_handles.h"
#include "app/media/files/heif_picture.h"
#include "app/media/files/pixel_conversion.h"
#include "app/media/files/thumbnails.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr const char* kCutOffPixels = "the picture is cut off: the end of the file is missing";
constexpr int kMostHalvings = 3;  // of the sides of a JPEG by its decoder
constexpr int kBandRows = 256;    // of a scaled picture, converted at once

PictureSize ownSize(const StillHeader& header) {
  return header.canvasWidthPx > 0 ? PictureSize{header.canvasWidthPx, header.canvasHeightPx} : PictureSize{header.widthPx, header.heightPx};
}

PictureSize halved(PictureSize size, int times) { return {AV_CEIL_RSHIFT(size.width_px, times), AV_CEIL_RSHIFT(size.height_px, times)}; }

// How often the sides are halved until the pixels are within the limit.
int halvingsOf(const StillHeader& header, const MediaLimits& limits) {
  int times = 0;
  for (PictureSize size = ownSize(header); std::int64_t{size.width_px} * size.height_px > limits.imagePixels; size = halved(size, 1))
    ++times;
  return times;
}

// The stand-in for the end of a file that has none. `missing` are the bits that a decoder reads which still wants pixels.
std::vector<std::uint8_t> endOf(ContentType type, std::uint8_t missing) {
  if (type == ContentType::kPng) return {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xAE, 0x42, 0x60, 0x82};
  constexpr int kMissingBytes = 64;
  std::vector<std::uint8_t> end;
  for (int i = 0; i < kMissingBytes; ++i) {
    end.push_back(missing);
    if (missing == 0xFF) end.push_back(0);
  }
  end.push_back(0xFF);
  end.push_back(0xD9);
  return end;
}

// Pixels that are never decoded keep the value that opaque points to.
int getFilledBuffer(AVCodecContext* context, AVFrame* frame, int flags) {
  const int result = avcodec_default_get_buffer2(context, frame, flags);
  if (result < 0) return result;
  for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i] != nullptr; ++i)
    std::memset(frame->buf[i]->data, *static_cast<const std::uint8_t*>(context->opaque), frame->buf[i]->size);
  return result;
}

// halvings: of the sides, by the decoder itself. Where it cannot, the whole picture comes.
AvFrame decode(const StillHeader& header, std::uint8_t missing, int halvings, const std::string& subject, const MediaLimits& limits) {
  prepareFfmpeg();
  require(kindOf(header.type) == MediaKind::kImage, "a video is not a still picture");
  const AVCodec* codec = avcodec_find_decoder_by_name(readerOf(header.type));
  if (codec == nullptr) {
    throw Exception(ErrorCode::kUnsupportedFormat, subject,
                    "pictures of the type " + nameOf(header.type) + " are not part of this FFmpeg build");
  }
  AvDecoder decoder(avcodec_alloc_context3(codec));
  const AvPacket packet = makePacket();
  const AvFrame frame = makeFrame();
  const std::vector<std::uint8_t> end = header.endMissing ? endOf(header.type, missing) : std::vector<std::uint8_t>();
  if (!decoder || av_new_packet(packet.get(), static_cast<int>(header.decodable.size() + end.size())) < 0) {
    throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for the picture");
  }
  std::ranges::copy(header.decodable, packet->data);
  std::ranges::copy(end, packet->data + header.decodable.size());
  packet->flags |= AV_PKT_FLAG_KEY;
  decoder->thread_count = 1;
  decoder->opaque = &missing;
  if (header.endMissing) decoder->get_buffer2 = &getFilledBuffer;
  decoder->max_pixels = limits.imageStoredPixels;
  decoder->lowres = halvings;
  // A still has no later frame that could make up for a mistake: checksums count and errors are errors.
  decoder->err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE;
  int result = avcodec_open2(decoder.get(), codec, nullptr);
  if (result >= 0) result = avcodec_send_packet(decoder.get(), packet.get());
  if (result >= 0) avcodec_send_packet(decoder.get(), nullptr);
  if (result >= 0) result = avcodec_receive_frame(decoder.get(), frame.get());
  if (result == AVERROR(ENOMEM)) throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for the picture");
  if (result == AVERROR_PATCHWELCOME && halvings > 0) return decode(header, missing, 0, subject, limits);  // its sampling is a rare one
  if (result == AVERROR_PATCHWELCOME) {
    throw Exception(ErrorCode::kUnsupportedFormat, subject,
                    "this kind of " + nameOf(header.type) + " picture is not supported; save it as PNG, where it opens");
  }
  if (result < 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0) {
    throw Exception(ErrorCode::kDamagedFile, subject, "the picture is damaged and cannot be decoded");
  }
  const PictureSize wanted = halved({header.widthPx, header.heightPx}, halvings);
  if (frame->width != wanted.width_px || frame->height != wanted.height_px) {
    throw Exception(ErrorCode::kDamagedFile, subject, "the picture has another size than its header says");
  }
  AvFrame decoded = makeFrame();
  av_frame_move_ref(decoded.get(), frame.get());
  return decoded;
}

// The first frame of an animation, at its place on a white canvas.
RgbImage placeOnCanvas(const RgbImage& frame, const StillHeader& header) {
  RgbImage canvas{.width_px = header.canvasWidthPx, .height_px = header.canvasHeightPx};
  canvas.rgb.assign(static_cast<std::size_t>(canvas.width_px) * static_cast<std::size_t>(canvas.height_px) * 3, 255);
  const std::size_t rowBytes = static_cast<std::size_t>(frame.width_px) * 3;
  for (int y = 0; y < frame.height_px; ++y) {
    const std::size_t to = (static_cast<std::size_t>(y + header.offsetYPx) * static_cast<std::size_t>(canvas.width_px) +
                            static_cast<std::size_t>(header.offsetXPx)) *
                           3;
    std::memcpy(canvas.rgb.data() + to, frame.rgb.data() + static_cast<std::size_t>(y) * rowBytes, rowBytes);
  }
  return canvas;
}

// Some rows of a frame, as a frame.
AvFrame rowsOf(const AVFrame& frame, int first, int count, const std::string& subject) {
  AvFrame rows = makeFrame();
  if (av_frame_ref(rows.get(), &frame) < 0) throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for the picture");
  const AVPixFmtDescriptor* const format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const bool palette = (format->flags & AV_PIX_FMT_FLAG_PAL) != 0;
  for (int plane = 0; plane < (palette ? 1 : av_pix_fmt_count_planes(static_cast<AVPixelFormat>(frame.format))); ++plane) {
    const bool chroma = (plane == 1 || plane == 2) && (format->flags & AV_PIX_FMT_FLAG_RGB) == 0;
    rows->data[plane] += std::ptrdiff_t{first >> (chroma ? format->log2_chroma_h : 0)} * frame.linesize[plane];
  }
  rows->height = count;
  return rows;
}

// A smaller one is made band by band: the whole picture in RGB would take as much memory as the frame again, twice.
RgbImage rgbOf(const AVFrame& frame, int halvings, const std::string& subject) {
  FrameConverter converter(subject);
  if (halvings == 0) return converter.convert(frame, frame.width, frame.height, Orientation::kUpright, ColourHint::kStill);
  const PictureSize size = halved({frame.width, frame.height}, halvings);
  RgbImage small{size.width_px, size.height_px, {}};
  small.rgb.reserve(static_cast<std::size_t>(size.width_px) * static_cast<std::size_t>(size.height_px) * 3);
  for (int first = 0; first < frame.height; first += kBandRows << halvings) {
    const int count = std::min(frame.height - first, kBandRows << halvings);
    const AvFrame rows = rowsOf(frame, first, count, subject);
    const RgbImage band = converter.convert(*rows, frame.width, count, Orientation::kUpright, ColourHint::kStill);
    const RgbImage part = scaledTo(band, halved({frame.width, count}, halvings));
    small.rgb.insert(small.rgb.end(), part.rgb.begin(), part.rgb.end());
  }
  return small;
}

DecodedStill decodeWith(const StillHeader& header, std::uint8_t missing, const std::string& subject, const MediaLimits& limits) {
  const int halvings = header.canvasWidthPx > 0 ? 0 : halvingsOf(header, limits);
  const bool byDecoder = header.type == ContentType::kJpeg;
  const AvFrame frame = decode(header, missing, byDecoder ? std::min(halvings, kMostHalvings) : 0, subject, limits);
  const ColourReading colour =
      readColour(frame->format, frame->color_range, frame->colorspace, {frame->width, frame->height}, ColourHint::kStill);
  DecodedStill still{.colourRange = nameOf(colour.range), .colourMatrix = nameOf(colour.matrix)};
  const PictureSize wanted = halved({header.widthPx, header.heightPx}, halvings);
  int left = 0;
  while (halved({frame->width, frame->height}, left).width_px > wanted.width_px) ++left;
  still.image = rgbOf(*frame, left, subject);
  return still;
}

// Whatever stands in for the bytes that are not there makes no difference to a whole picture.
DecodedStill decodeWithoutEnd(const StillHeader& header, const std::string& subject, const MediaLimits& limits) {
  try {
    DecodedStill still = decodeWith(header, 0, subject, limits);
    if (still.image.rgb == decodeWith(header, 0xFF, subject, limits).image.rgb) return still;
  } catch (const Exception& exception) {
    if (exception.error().code != ErrorCode::kDamagedFile) throw;
  }
  throw Exception(ErrorCode::kDamagedFile, subject, kCutOffPixels);
}

}  // namespace

PictureSize deliveredSize(const StillHeader& header, const MediaLimits& limits) {
  const PictureSize size = halved(ownSize(header), halvingsOf(header, limits));
  return thumbnailSize(swapsSides(header.orientation) ? PictureSize{size.height_px, size.width_px} : size, limits.imageSidePx);
}

DecodedStill decodeStill(const StillHeader& header, const std::string& subject, const MediaLimits& limits) {
  DecodedStill still;
  if (readerOf(header.type) == nullptr) {
    still.image = decodeHeif(header, subject);
  } else {
    still = header.endMissing ? decodeWithoutEnd(header, subject, limits) : decodeWith(header, 0, subject, limits);
  }
  if (header.canvasWidthPx > 0) still.image = placeOnCanvas(still.image, header);
  still.image = makeUpright(std::move(still.image), header.orientation);
  const PictureSize wanted = deliveredSize(header, limits);
  if (still.image.width_px != wanted.width_px || still.image.height_px != wanted.height_px) still.image = scaledTo(still.image, wanted);
  return still;
}

}  // namespace winnow::app
