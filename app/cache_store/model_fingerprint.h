// Tells two models apart, so that answers of one are never taken for the other's.
//
// Used for the subject of an evaluation's log, and of what is kept of a chat. SHA-256 of config.json, generation_config.json and
// winnow.json, and of name, size and last 8 MiB of every safetensors file. Errors: Exception(kFileUnreadable). Any thread; reads the disk.
#pragma once

#include <string>

namespace winnow::app {

std::string modelFingerprint(const std::string& folder);

}  // namespace winnow::app
