#include "app/media/prepared_reading.h"

extern "C" {
#include <libavutil/cpu.h>
}

#include "app/media/av_handles.h"
#include "app/media/heif_picture.h"
#include "app/media/text_encoding.h"
#include "app/media/thumbnails.h"

namespace winnow::app {

void prepareReading() {
  prepareFfmpeg();
  av_cpu_count();
  keepConverters();
  prepareHeif();
  makeThumbnail({2, 2, std::vector<std::uint8_t>(12)}, 1);
}

}  // namespace winnow::app
