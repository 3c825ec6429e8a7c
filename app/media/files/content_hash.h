// Names a file by its bytes, so that features computed from it can be found again and a changed file is noticed.
//
// Lower-case hex SHA-256 of all bytes; over 64 MiB of: size (8 bytes, little-endian), the first 8 MiB, the last 8 MiB.
// Errors: kFileUnreadable.
#pragma once

#include <cstdint>
#include <string>

#include "app/media/files/media_file.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

inline constexpr std::int64_t kWholeHashBytes = 64LL << 20;
inline constexpr std::int64_t kPartHashBytes = 8LL << 20;

std::string contentHash(const MediaFile& file);
// The hash of all bytes, however many. Throws Interrupted.
std::string wholeHash(const MediaFile& file, const InterruptToken& interrupt);

}  // namespace winnow::app
