// When a decoded frame is shown, in ticks of its stream.
//
// Used by the decoders of files and of running sources. AVI says when a packet is decoded and never when it is shown: a frame comes out as
// many packets late as the decoder holds back. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "app/media/av_handles.h"
#include "app/media/content_type.h"

namespace winnow::app {

// AV_NOPTS_VALUE where nothing says it.
inline std::int64_t frameTicks(const AVFrame& frame, const AVCodecContext& codec, ContentType container) {
  if (container != ContentType::kAvi) return frame.best_effort_timestamp;
  if (frame.pkt_dts == AV_NOPTS_VALUE) return AV_NOPTS_VALUE;
  return frame.pkt_dts - codec.has_b_frames * std::max<std::int64_t>(1, frame.pkt_duration);
}

}  // namespace winnow::app
