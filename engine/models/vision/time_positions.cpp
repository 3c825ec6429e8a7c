#include "engine/models/vision/time_positions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace winnow {
namespace {

using Axes = std::array<std::int64_t, 3>;

// Positions from one set of joined frames to the next, of the same picture.
std::int64_t step_of(double frame_s, const TimeScale& scale) {
  if (scale.sets_apart) return 0;
  if (!scale.positions_a_second) return 1;
  return static_cast<std::int64_t>(static_cast<double>(scale.joined_frames) * frame_s) * *scale.positions_a_second;
}

// Collects positions token by token, [3, n].
class AxisPositions {
 public:
  explicit AxisPositions(std::int64_t tokens) : positions_(at::empty({3, tokens}, at::kLong)), axes_(positions_.data_ptr<std::int64_t>()) {}

  void add(const Axes& position) {
    for (std::size_t axis = 0; axis < position.size(); ++axis)
      axes_[static_cast<std::int64_t>(axis) * positions_.size(1) + count_] = position[axis];
    ++count_;
  }
  at::Tensor take() { return std::move(positions_); }

 private:
  at::Tensor positions_;
  std::int64_t* axes_;
  std::int64_t count_ = 0;
};

std::int64_t after(const Axes& position) { return *std::ranges::max_element(position) + 1; }

}  // namespace

TokenPositions three_axis_positions(std::span<const TokenOrigin> origins, std::int64_t next_position, FrameSeconds frame_s,
                                    const TimeScale& scale) {
  AxisPositions positions(std::ssize(origins));
  constexpr std::pair<std::int32_t, std::int32_t> kNone{-1, -1};
  std::pair<std::int32_t, std::int32_t> shown = kNone;  // medium, and set of frames where these are apart
  std::int32_t said_in = -1;                            // the medium of the words before, if they are its own
  std::int64_t first = next_position;
  std::int64_t first_set = 0;
  std::int64_t step = 0;
  for (const TokenOrigin& origin : origins) {
    if (origin.modality != Modality::kVisual || origin.row < 0) {
      positions.add({next_position, next_position, next_position});
      ++next_position;
      shown = kNone;
      said_in = origin.modality == Modality::kSubtitle ? origin.media : -1;
      continue;
    }
    const std::pair here{origin.media, scale.sets_apart ? origin.frame : 0};
    if (here != shown) {
      shown = here;
      first = next_position;
      first_set = said_in == origin.media ? origin.frame / scale.joined_frames : 0;
      const auto known = static_cast<std::size_t>(origin.media);
      step = step_of(known < frame_s.size() ? frame_s[known] : 0.0, scale);
    }
    const Axes position{first + (origin.frame / scale.joined_frames - first_set) * step, first + origin.row, first + origin.column};
    positions.add(position);
    next_position = std::max(next_position, after(position));
  }
  return {positions.take(), next_position};
}

TokenPositions three_axis_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream, const TimeScale& scale) {
  AxisPositions positions(std::ssize(origins));
  const std::int64_t base = stream.base_position;
  const std::int64_t step = step_of(stream.frame_s, scale);
  std::int64_t next = base;
  for (const TokenOrigin& origin : origins) {
    const std::int64_t time = origin.frame / scale.joined_frames / stream.frames_per_position * step;
    const Axes position{base + time, base + origin.row, base + origin.column};
    positions.add(position);
    next = std::max(next, after(position));
  }
  return {positions.take(), next};
}

TokenPositions apart_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream, std::int64_t joined_frames,
                                      std::int64_t words) {
  AxisPositions positions(std::ssize(origins));
  std::int64_t next = stream.base_position;
  for (auto set = origins.begin(); set != origins.end();) {
    const auto end = std::find_if(set, origins.end(), [&](const TokenOrigin& origin) { return origin.frame != set->frame; });
    const auto picture = std::find_if(set, end, [](const TokenOrigin& origin) { return origin.row >= 0; });
    std::int64_t side = 0;
    for (auto token = picture; token != end; ++token) side = std::max<std::int64_t>({side, token->row + 1, token->column + 1});
    const std::int64_t index = set->frame / joined_frames / stream.frames_per_position;
    const std::int64_t first = stream.base_position + index * (words + side) + 1;
    next = first - (picture - set);
    for (; set != end; ++set) {
      if (set->row < 0) {
        positions.add({next, next, next});
        ++next;
        continue;
      }
      positions.add({first, first + set->row, first + set->column});
      next = first + side;
    }
  }
  return {positions.take(), next};
}

}  // namespace winnow
