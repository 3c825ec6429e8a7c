#include "app/media/files/prepared_reading.h"

extern "C" {
#include <libavutil/cpu.h>
}

#include "app/media/files/av_handles.h"
#include "app/media/files/heif_picture.h"
#include "app/media/files/text_encoding.h"
#include "app/media/files/thumbnails.h"

namespace winnow::app {

void prepareReading() {
  prepareFfmpeg();
  av_cpu_count();
  keepConverters();
  prepareHeif();
  makeThumbnail({2, 2, std::vector<std::uint8_t>(12)}, 1);
}

}  // namespace winnow::app
