#include "app/media/files/live/stream_beginning.h"

#include <string_view>

#include "app/media/files/big_endian.h"
#include "engine/base/error.h"

namespace winnow::app {

bool requireStreamable(std::span<const std::uint8_t> head, ContentType type, const std::string& address) {
  if (type != ContentType::kMov) return true;
  while (head.size() >= 16) {
    std::uint64_t bytes = bigEndian(head.first(4));
    const std::string_view box(reinterpret_cast<const char*>(head.data()) + 4, 4);
    if (box == "moov") return true;
    if (box == "mdat") {
      throw Exception(ErrorCode::kUnsupportedFormat, address,
                      "this MP4 gets its index at its end and cannot be read before that; record TS, MKV or fragmented MP4");
    }
    if (bytes == 1) bytes = bigEndian(head.subspan(8, 8));
    if (bytes < 8 || bytes >= head.size()) return false;
    head = head.subspan(static_cast<std::size_t>(bytes));
  }
  return false;
}

}  // namespace winnow::app
