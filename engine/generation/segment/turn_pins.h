// Maps a turn's pins to tokens of its media.
//
// Used while a segment is put together. Pure. Errors: Exception(kInvalidArgument), subject "pin" or the medium's path.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/messages/requests.h"

namespace winnow {

// Refuses pins of media that the thread has not, and times that are no range.
void require_pins(std::span<const Pin> pins, std::int32_t media_count);

// One medium of the thread, as sampled.
struct PinnableMedium {
  std::int32_t number = 0;  // in the thread, from 0
  MediaKind kind = MediaKind::kImage;
  std::string path;
  std::span<const double> actual_s;          // per frame of a video
  std::span<const double> standing_until_s;  // FrameSource::standing_until_s()
};

// Its tokens.
struct PinnableTokens {
  MediaKind kind = MediaKind::kImage;
  std::span<const TokenOrigin> origins;
  std::int64_t joined_frames = 1;
};

// True if a picture that begins then and is known to stand until then is on screen during the pinned seconds.
bool is_shown_during(const Pin& pin, double begins_s, double until_s);
// Per frame of a video whether a pin names a time at which it is known to be on screen; of an image or a document, one entry for all of it.
// Refuses a pin that names none of the frames.
std::vector<bool> pinned_frames(std::span<const Pin> pins, const PinnableMedium& medium);
// Per token: whether one of the frames that it stands for is among them (ModelTraits::joined_frames). A video's newline embedding and its
// subtitles belong to no frame.
std::vector<bool> pinned_tokens(const std::vector<bool>& frames, const PinnableTokens& tokens);

}  // namespace winnow
