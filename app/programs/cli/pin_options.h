// --pin: what the user wants to be kept, as the terminal takes it.
//
// Used by the commands that ask. "12.0-15.5": seconds of the only video; "2:12.0-15.5": of the second image or video; "2": all of it.
// Images and videos are counted as they are sent, images first. Errors: Exception(kInvalidArgument).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/messages/requests.h"

namespace winnow::cli {

// The fault of a pin, or nothing: for CLI11's check.
std::string pin_problem(const std::string& text);

// thread: with the media that are pinned.
std::vector<Pin> pins_of(std::span<const std::string> texts, std::span<const Message> thread);

}  // namespace winnow::cli
