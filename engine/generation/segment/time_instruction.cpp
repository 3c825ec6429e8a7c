#include "engine/generation/segment/time_instruction.h"

#include <cmath>
#include <cstdio>
#include <utility>

namespace winnow {
namespace {

std::string two_decimals(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string frame_times(const VideoTimes& times, double interval_s) {
  const bool all = std::ssize(times.times_s) == times.frames;
  std::string text;
  for (int frame = 0; frame < times.frames; ++frame) {
    const double at_s = all ? times.times_s[static_cast<std::size_t>(frame)] : times.first_s() + frame * interval_s;
    text += (frame > 0 ? "," : "") + two_decimals(at_s) + "s";
  }
  return text;
}

}  // namespace

std::string time_instruction(const std::string& pattern, const VideoTimes& times) {
  const double interval_s = times.frames > 0 ? times.duration_s / times.frames : 0.0;
  const std::pair<std::string, std::string> values[] = {{"{duration_s}", std::to_string(std::llround(times.duration_s))},
                                                        {"{exact_duration_s}", two_decimals(times.duration_s)},
                                                        {"{frames}", std::to_string(times.frames)},
                                                        {"{interval_s}", two_decimals(interval_s)},
                                                        {"{frame_times}", frame_times(times, interval_s)}};
  std::string text = pattern;
  for (const auto& [name, value] : values) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}

}  // namespace winnow
