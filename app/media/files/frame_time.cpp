#include "app/media/files/frame_time.h"

extern "C" {
#include <libavutil/mathematics.h>
}

#include <span>

namespace winnow::app {

std::int64_t timeOrigin(const AVFormatContext& format, const AVStream& video) {
  if (video.start_time == AV_NOPTS_VALUE) return 0;
  std::int64_t origin = video.start_time;
  for (const AVStream* const stream : std::span<AVStream* const>(format.streams, format.nb_streams)) {
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO || stream->start_time == AV_NOPTS_VALUE) continue;
    const std::int64_t begins = av_rescale_q(stream->start_time, stream->time_base, video.time_base);
    origin = std::min(origin, video.start_time < 0 ? begins : std::max<std::int64_t>(0, begins));
  }
  return origin;
}

}  // namespace winnow::app
