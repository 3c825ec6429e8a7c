// Owners for FFmpeg's objects, and the one place where its library-wide settings are made.
//
// Used only inside app/media/files. prepareFfmpeg() may be called from any thread, any number of times: it silences FFmpeg's own printing
// and caps a single allocation.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libswscale/swscale.h>
}

#include <memory>
#include <string>

#include "engine/base/error.h"

namespace winnow::app {

struct AvDeleter {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(SwsContext* context) const { sws_freeContext(context); }
};
using AvFrame = std::unique_ptr<AVFrame, AvDeleter>;
using AvPacket = std::unique_ptr<AVPacket, AvDeleter>;
using AvDecoder = std::unique_ptr<AVCodecContext, AvDeleter>;
using AvScaler = std::unique_ptr<SwsContext, AvDeleter>;

inline AvFrame makeFrame() {
  AvFrame frame(av_frame_alloc());
  if (!frame) throw Exception(ErrorCode::kOutOfMemory, "", "there is no memory for a picture");
  return frame;
}
inline AvPacket makePacket() {
  AvPacket packet(av_packet_alloc());
  if (!packet) throw Exception(ErrorCode::kOutOfMemory, "", "there is no memory for a packet");
  return packet;
}

std::string ffmpegErrorText(int code);
void prepareFfmpeg();

}  // namespace winnow::app
