#include "app/media/still_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "app/media/av_handles.h"
#include "app/media/pixel_conversion.h"
#include "app/media/thumbnails.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr const char* kCutOffPixels = "the picture is cut off: the end of the file is missing";

// What stands for the end of a file that has none. `missing` are the bits that a decoder reads which still wants pixels.
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

AvFrame decode(const StillHeader& header, std::uint8_t missing, const std::string& subject, const MediaLimits& limits) {
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
  decoder->max_pixels = limits.imagePixels;
  // A still has no later frame that could make up for a mistake: checksums count and errors are errors.
  decoder->err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE;
  int result = avcodec_open2(decoder.get(), codec, nullptr);
  if (result >= 0) result = avcodec_send_packet(decoder.get(), packet.get());
  if (result >= 0) avcodec_send_packet(decoder.get(), nullptr);
  if (result >= 0) result = avcodec_receive_frame(decoder.get(), frame.get());
  if (result == AVERROR(ENOMEM)) throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for the picture");
  if (result == AVERROR_PATCHWELCOME) {
    throw Exception(ErrorCode::kUnsupportedFormat, subject, "this kind of " + nameOf(header.type) + " picture is not supported");
  }
  if (result < 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0) {
    throw Exception(ErrorCode::kDamagedFile, subject, "the picture is damaged and cannot be decoded");
  }
  if (frame->width != header.widthPx || frame->height != header.heightPx) {
    throw Exception(ErrorCode::kDamagedFile, subject, "the picture has another size than its header says");
  }
  AvFrame decoded = makeFrame();
  av_frame_move_ref(decoded.get(), frame.get());
  return decoded;
}

// The first frame of an animation, at its place on a white canvas.
RgbImage placeOnCanvas(const RgbImage& frame, const StillHeader& header) {
  RgbImage canvas;
  canvas.width_px = header.canvasWidthPx;
  canvas.height_px = header.canvasHeightPx;
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

DecodedStill decodeWith(const StillHeader& header, std::uint8_t missing, const std::string& subject, const MediaLimits& limits) {
  const AvFrame frame = decode(header, missing, subject, limits);
  const ColourReading colour = readColour(frame->format, frame->color_range, frame->colorspace, frame->height, ColourHint::kStill);
  DecodedStill still;
  still.colourRange = nameOf(colour.range);
  still.colourMatrix = nameOf(colour.matrix);
  FrameConverter converter(subject);
  still.image = converter.convert(*frame, header.widthPx, header.heightPx, Orientation::kUpright, ColourHint::kStill);
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

DecodedStill decodeStill(const StillHeader& header, const std::string& subject, const MediaLimits& limits) {
  DecodedStill still = header.endMissing ? decodeWithoutEnd(header, subject, limits) : decodeWith(header, 0, subject, limits);
  if (header.canvasWidthPx > 0) still.image = placeOnCanvas(still.image, header);
  still.image = makeThumbnail(makeUpright(std::move(still.image), header.orientation), limits.imageSidePx);
  return still;
}

}  // namespace winnow::app
