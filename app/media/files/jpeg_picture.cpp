#include "app/media/files/jpeg_picture.h"

#include "app/media/files/av_handles.h"
#include "app/media/files/thumbnails.h"

namespace winnow::app {
namespace {

constexpr int kScale = 3;  // of the quantisation tables, 2 to 31: about what other programs call quality 92

AvDecoder openEncoder(int widthPx, int heightPx) {
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
  require(codec != nullptr, "this FFmpeg has no JPEG encoder");
  AvDecoder encoder(avcodec_alloc_context3(codec));
  if (!encoder) throw Exception(ErrorCode::kOutOfMemory, "", "there is no memory for a picture");
  encoder->width = widthPx;
  encoder->height = heightPx;
  encoder->pix_fmt = AV_PIX_FMT_YUVJ444P;
  encoder->color_range = AVCOL_RANGE_JPEG;
  encoder->time_base = {1, 1};
  encoder->flags |= AV_CODEC_FLAG_QSCALE;
  encoder->global_quality = kScale * FF_QP2LAMBDA;
  require(avcodec_open2(encoder.get(), codec, nullptr) >= 0, "the JPEG encoder cannot be opened");
  return encoder;
}

AvFrame frameOf(const RgbImage& image, const AVCodecContext& encoder) {
  AvFrame frame = makeFrame();
  frame->width = encoder.width;
  frame->height = encoder.height;
  frame->format = encoder.pix_fmt;
  frame->quality = encoder.global_quality;
  if (av_frame_get_buffer(frame.get(), 0) < 0) throw Exception(ErrorCode::kOutOfMemory, "", "there is no memory for a picture");
  const AvScaler scaler(sws_getContext(image.width_px, image.height_px, AV_PIX_FMT_RGB24, encoder.width, encoder.height, encoder.pix_fmt,
                                       SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nullptr, nullptr, nullptr));
  require(scaler != nullptr, "a picture cannot be converted for JPEG");
  const std::uint8_t* rows[] = {image.rgb.data()};
  const int strides[] = {image.width_px * 3};
  sws_scale(scaler.get(), rows, strides, 0, image.height_px, frame->data, frame->linesize);
  return frame;
}

}  // namespace

std::vector<std::uint8_t> jpegOf(const RgbImage& image, int maxSidePx) {
  prepareFfmpeg();
  const RgbImage small = makeThumbnail(image, maxSidePx);
  const AvDecoder encoder = openEncoder(small.width_px, small.height_px);
  const AvFrame frame = frameOf(small, *encoder);
  const AvPacket packet = makePacket();
  require(avcodec_send_frame(encoder.get(), frame.get()) >= 0 && avcodec_receive_packet(encoder.get(), packet.get()) >= 0,
          "the JPEG encoder gives no picture");
  return {packet->data, packet->data + packet->size};
}

}  // namespace winnow::app
