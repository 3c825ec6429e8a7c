// The engine's messages as bytes, for whoever is not in its process: CBOR (RFC 8949), made of message_fields.h.
//
// A message is a map of "v" (kWireVersion), "id", "kind" (the name of the body's struct, snake_case), "body", and for events of a
// comparison "column". Structs are maps by field name, lists of integers, floats and bytes are byte strings of little-endian elements,
// lists of structs whose fields are all numbers are a map of such columns. Text is bytes as they are: paths and token texts need not be
// UTF-8. Turn::asked counts nanoseconds of this machine's steady clock.
//
// Input may be hostile: size, depth and number of values are bounded before anything is kept, a field of another type or range is
// refused by its path. Unknown fields are skipped and missing ones keep their defaults, so that minor versions understand each other; an
// unknown kind or another version is refused. encoded() refuses what a reader would: it is its request's failure, not its process's.
// Errors: kLimitExceeded, kDamagedFile, kUnsupportedFormat; subject "wire: turn.sampling".
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

inline constexpr std::uint64_t kWireVersion = 1;
inline constexpr std::size_t kMostWireBytes = std::size_t{512} << 20;  // a clip of frames is the largest message
inline constexpr std::size_t kMostWireValues = 4'000'000;
inline constexpr std::size_t kMostWireDepth = 24;

std::vector<std::uint8_t> encoded(const Request& request);
std::vector<std::uint8_t> encoded(const Event& event);

Request decoded_request(std::span<const std::uint8_t> bytes);
Event decoded_event(std::span<const std::uint8_t> bytes);

}  // namespace winnow
