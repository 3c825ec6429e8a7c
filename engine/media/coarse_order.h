// The order in which a video's frames are encoded where that takes long: first, last, middle, quarters ... After any number of them those
// that are there cover the whole video, so that an answer need not wait for all.
//
// Used by generation/segment to encode, by app/media/files for plans that take a part (FramePlan::taken), and by app/chats/chat. Frames
// that a model joins (ModelTraits::joined_frames) stay together: they become one set of tokens. Pure arithmetic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace winnow {

// Sets of frames, each once: set i is frames [i * set_frames, (i + 1) * set_frames), the last one perhaps fewer.
inline std::vector<int> coarse_order(int frames, int set_frames) {
  require(frames >= 0 && set_frames >= 1, "coarse_order: a number of frames, in sets of at least one");
  const int sets = (frames + set_frames - 1) / set_frames;
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(sets));
  if (sets > 0) order.push_back(0);
  if (sets > 1) order.push_back(sets - 1);
  // The widest gaps first: those of one depth are halved from left to right.
  std::vector<std::pair<int, int>> gaps = {{0, sets - 1}};
  for (std::size_t next = 0; next < gaps.size(); ++next) {
    const auto [before, behind] = gaps[next];
    if (behind - before < 2) continue;
    const int middle = before + (behind - before) / 2;
    order.push_back(middle);
    gaps.emplace_back(before, middle);
    gaps.emplace_back(middle, behind);
  }
  return order;
}

// Frame numbers in ascending order: of `frames` frames the first sets of that order that have at least `taken` frames; all for 0.
inline std::vector<int> taken_frames(int frames, int taken, int set_frames) {
  std::vector<int> numbers;
  for (const int set : coarse_order(frames, set_frames)) {
    if (taken > 0 && static_cast<int>(numbers.size()) >= taken) break;
    for (int frame = set * set_frames; frame < std::min(frames, (set + 1) * set_frames); ++frame) numbers.push_back(frame);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// The values of those frames.
template <class Value>
std::vector<Value> of_frames(std::span<const Value> values, std::span<const int> numbers) {
  std::vector<Value> some;
  some.reserve(numbers.size());
  for (const int number : numbers) some.push_back(values[static_cast<std::size_t>(number)]);
  return some;
}

}  // namespace winnow
