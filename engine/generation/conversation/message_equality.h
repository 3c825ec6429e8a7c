// Compares two messages for the cache: role, text, reasoning, media files and, where known, their
// bytes, frame plans, subtitles and text encoding.
#pragma once

#include "engine/messages/requests.h"

namespace winnow {

bool same_message(const Message& a, const Message& b);

}  // namespace winnow
