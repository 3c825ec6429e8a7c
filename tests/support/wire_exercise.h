// What a reader of messages owes, whatever the bytes: used by the test of changed messages and by the fuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "engine/base/error.h"
#include "engine/messages/wire.h"

namespace winnow::test {

// Refused with a reason, or a message whose encoded form is read as the same message. Returns whether it was read.
template <class Decode>
bool exercise_message(std::span<const std::uint8_t> bytes, const Decode& decode) {
  std::vector<std::uint8_t> once;
  try {
    once = encoded(decode(bytes));
  } catch (const Exception& problem) {
    const ErrorCode code = problem.error().code;
    const bool known = code == ErrorCode::kDamagedFile || code == ErrorCode::kLimitExceeded || code == ErrorCode::kUnsupportedFormat;
    if (!known || problem.error().reason.empty()) throw std::logic_error("an error that bytes do not cause, or one without a reason");
    return false;
  }
  if (encoded(decode(once)) != once) throw std::logic_error("another message was read of an encoded form than it was made of");
  return true;
}

// Both ways to read them.
inline bool exercise_wire(std::span<const std::uint8_t> bytes) {
  const bool request = exercise_message(bytes, decoded_request);
  return exercise_message(bytes, decoded_event) || request;
}

}  // namespace winnow::test
