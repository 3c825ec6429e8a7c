// libFuzzer over the engine's messages: what the test of changed messages demands (tests/support/wire_exercise.h) of bytes that coverage
// chooses.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/support/wire_exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  winnow::test::exercise_wire(std::span(data, size));  // an exception that leaves it is a finding
  return 0;
}
