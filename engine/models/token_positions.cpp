#include "engine/models/token_positions.h"

#include <vector>

namespace winnow {

TokenPositions one_axis_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream, std::int64_t frame_tokens) {
  std::vector<std::int64_t> positions;
  std::int32_t frame = -1;
  std::int64_t next = stream.base_position;
  for (const TokenOrigin& origin : origins) {
    if (origin.frame != frame) next = stream.base_position + origin.frame / stream.frames_per_position * frame_tokens;
    frame = origin.frame;
    positions.push_back(next++);
  }
  return {at::tensor(positions, at::kLong).unsqueeze(0), next};
}

}  // namespace winnow
