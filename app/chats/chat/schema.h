// Tables of the conversation database and how each version becomes the next.
//
// Used by ChatDatabase. A migration is never changed after a release; a new one is added at the end. Stored enums are those of
// conversation.h and engine/api. Threads: any.
#pragma once

#include <array>

namespace winnow::app {

inline constexpr int kApplicationId = 0x57494e4e;  // "WINN"

// migrations[i] takes version i to version i + 1.
inline constexpr int kSchemaVersion = 22;
extern const std::array<const char*, kSchemaVersion> kMigrations;

}  // namespace winnow::app
