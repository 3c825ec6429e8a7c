// libFuzzer over the reader of GGUF headers, its metadata and the values of every tensor: what the test of mutated files demands
// (tests/support/gguf_exercise.h) of bytes that coverage chooses.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/support/gguf_exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  winnow::test::exercise_gguf(std::as_bytes(std::span(data, size)));  // an exception that leaves it is a finding
  return 0;
}
