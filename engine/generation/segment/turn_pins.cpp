#include "engine/generation/segment/turn_pins.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/base/error.h"

namespace winnow {
namespace {

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", value);
  return text;
}

}  // namespace

void require_pins(std::span<const Pin> pins, std::int32_t media_count) {
  for (const Pin& pin : pins) {
    if (pin.media < 0 || pin.media >= media_count) {
      const std::string has = media_count == 0   ? "nothing attached"
                              : media_count == 1 ? "one thing attached"
                                                 : std::to_string(media_count) + " things attached";
      throw Exception(ErrorCode::kInvalidArgument, "pin",
                      "number " + std::to_string(pin.media + 1) + " is pinned, but the conversation has " + has);
    }
    // Written so that NaN is refused too.
    if (!(pin.from_s <= pin.to_s)) throw Exception(ErrorCode::kInvalidArgument, "pin", "a pinned range must not end before it begins");
  }
}

bool is_shown_during(const Pin& pin, double begins_s, double until_s) {
  return std::max(begins_s, until_s) >= pin.from_s && begins_s <= pin.to_s;
}

std::vector<bool> pinned_frames(std::span<const Pin> pins, const PinnableMedium& medium) {
  const bool whole = medium.kind != MediaKind::kVideo;
  std::vector<bool> frames(whole ? 1 : medium.actual_s.size(), false);
  for (const Pin& pin : pins) {
    if (pin.media != medium.number) continue;
    bool found = whole;
    if (whole) frames.front() = true;
    for (std::size_t frame = 0; frame < medium.actual_s.size(); ++frame) {
      const double begins = medium.actual_s[frame];
      if (!is_shown_during(pin, begins, frame < medium.standing_until_s.size() ? medium.standing_until_s[frame] : begins)) continue;
      frames[frame] = true;
      found = true;
    }
    if (found) continue;
    std::string reason = "no frame was taken between " + seconds(pin.from_s) + " and " + seconds(pin.to_s);
    if (!medium.actual_s.empty()) {
      const double wanted = pin.from_s;
      const double nearest = *std::min_element(medium.actual_s.begin(), medium.actual_s.end(),
                                               [&](double a, double b) { return std::abs(a - wanted) < std::abs(b - wanted); });
      reason += "; the nearest one shows " + seconds(nearest);
    }
    throw Exception(ErrorCode::kInvalidArgument, medium.path, reason);
  }
  return frames;
}

std::vector<bool> pinned_tokens(const std::vector<bool>& frames, const PinnableTokens& tokens) {
  std::vector<bool> pinned;
  for (const TokenOrigin& origin : tokens.origins) {
    bool named = false;
    if (tokens.kind != MediaKind::kVideo) {
      named = frames.front();
    } else if (origin.modality == Modality::kVisual && origin.frame >= 0) {
      const auto end = std::min<std::int64_t>(std::ssize(frames), origin.frame + tokens.joined_frames);
      for (std::int64_t frame = origin.frame; frame < end; ++frame) named = named || frames[static_cast<std::size_t>(frame)];
    }
    pinned.push_back(named);
  }
  return pinned;
}

}  // namespace winnow
