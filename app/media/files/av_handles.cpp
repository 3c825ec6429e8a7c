#include "app/media/files/av_handles.h"

#include <mutex>

extern "C" {
#include <libavutil/log.h>
#include <libavutil/mem.h>
}

namespace winnow::app {
namespace {
// The largest legal single buffer is a 256-megapixel picture of four 16-bit channels (2,048 MB) and its padding.
constexpr std::size_t kMaxAllocationBytes = std::size_t{2'100} << 20;
}  // namespace

std::string ffmpegErrorText(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

void prepareFfmpeg() {
  static std::once_flag once;
  std::call_once(once, [] {
    av_log_set_level(AV_LOG_QUIET);
    av_max_alloc(kMaxAllocationBytes);
  });
}

}  // namespace winnow::app
