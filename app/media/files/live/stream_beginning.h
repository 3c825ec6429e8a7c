// Tells from a video's beginning if it can be read while it runs.
//
// MP4: its index must come before its pictures; that of a plain recording is written at the end. Errors: kUnsupportedFormat. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/media/files/content_type.h"

namespace winnow::app {

// head: the first bytes; address names the source in the error. Whether they are enough to tell; then it can be.
bool requireStreamable(std::span<const std::uint8_t> head, ContentType type, const std::string& address);

}  // namespace winnow::app
