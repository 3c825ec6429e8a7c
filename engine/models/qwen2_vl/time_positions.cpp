#include "engine/models/qwen2_vl/time_positions.h"

#include <algorithm>
#include <array>

namespace winnow {
namespace {

using Place = std::array<std::int64_t, 3>;

// Positions from one set of joined frames to the next.
std::int64_t step_of(double frame_s, const TimeScale& scale) {
  if (!scale.positions_a_second) return 1;
  return static_cast<std::int64_t>(static_cast<double>(scale.joined_frames) * frame_s) * *scale.positions_a_second;
}

// Writes places token by token, [3, n].
class Places {
 public:
  explicit Places(std::int64_t tokens) : positions_(at::empty({3, tokens}, at::kLong)), axes_(positions_.data_ptr<std::int64_t>()) {}

  void add(const Place& place) {
    for (std::size_t axis = 0; axis < place.size(); ++axis)
      axes_[static_cast<std::int64_t>(axis) * positions_.size(1) + count_] = place[axis];
    ++count_;
  }
  at::Tensor take() { return std::move(positions_); }

 private:
  at::Tensor positions_;
  std::int64_t* axes_;
  std::int64_t count_ = 0;
};

std::int64_t after(const Place& place) { return *std::ranges::max_element(place) + 1; }

}  // namespace

TokenPositions three_axis_positions(std::span<const TokenOrigin> origins, std::int64_t next_position, FrameSeconds frame_s,
                                    const TimeScale& scale) {
  Places places(std::ssize(origins));
  std::int32_t medium = -1;
  std::int64_t first = next_position;
  std::int64_t step = 0;
  for (const TokenOrigin& origin : origins) {
    if (origin.modality != Modality::kVisual) {
      places.add({next_position, next_position, next_position});
      ++next_position;
      medium = -1;
      continue;
    }
    if (origin.media != medium) {
      medium = origin.media;
      first = next_position;
      const auto known = static_cast<std::size_t>(medium);
      step = step_of(known < frame_s.size() ? frame_s[known] : 0.0, scale);
    }
    const Place place{first + origin.frame / scale.joined_frames * step, first + origin.row, first + origin.column};
    places.add(place);
    next_position = std::max(next_position, after(place));
  }
  return {places.take(), next_position};
}

TokenPositions three_axis_stream_positions(std::span<const TokenOrigin> origins, const StreamPlaces& stream, const TimeScale& scale) {
  Places places(std::ssize(origins));
  const std::int64_t base = stream.base_position;
  const std::int64_t step = step_of(stream.frame_s, scale);
  std::int64_t next = base;
  for (const TokenOrigin& origin : origins) {
    const std::int64_t time = origin.frame / scale.joined_frames / stream.frames_a_place * step;
    const Place place{base + time, base + origin.row, base + origin.column};
    places.add(place);
    next = std::max(next, after(place));
  }
  return {places.take(), next};
}

}  // namespace winnow
