// When two messages are the same for the cache: same role, same text, same thought, same media files under the same frame plans, the
// same subtitles, read in the same encoding.
#pragma once

#include "engine/messages/requests.h"

namespace winnow {

bool same_message(const Message& a, const Message& b);

}  // namespace winnow
