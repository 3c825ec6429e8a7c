#include "engine/models/llava_parts/picture_rules.h"

#include <string>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxSidePx = 16'384;
constexpr std::int64_t kMaxGridPixels = std::int64_t{16} << 20;  // of one pinpoint: what the tiles of one image may take
constexpr std::size_t kMaxPinpoints = 256;

}  // namespace

std::vector<PixelSize> read_grid_pinpoints(const JsonObject& object, const char* key) {
  const Json& list = object.value(key);
  if (!list.is_array() || list.empty()) object.refuse(ErrorCode::kDamagedFile, key, "it must be a list of [height, width] pairs");
  if (list.size() > kMaxPinpoints) {
    object.refuse(ErrorCode::kLimitExceeded, key, "it has more than " + std::to_string(kMaxPinpoints) + " entries");
  }
  std::vector<PixelSize> pinpoints;
  for (const Json& pair : list) {
    if (!pair.is_array() || pair.size() != 2) object.refuse(ErrorCode::kDamagedFile, key, "an entry that is not a [height, width] pair");
    // Wrapped so that the pair's numbers get the same checks as fields.
    const Json entry = {{"pair", pair}};
    const std::vector<std::int64_t> numbers = JsonObject(entry, object.file(), key).integers("pair", 1, kMaxSidePx, 2);
    if (numbers[0] * numbers[1] > kMaxGridPixels) object.refuse(ErrorCode::kLimitExceeded, key, "a resolution of more than 16 Mpx");
    pinpoints.push_back({numbers[0], numbers[1]});
  }
  return pinpoints;
}

}  // namespace winnow
