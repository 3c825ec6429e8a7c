// Fibers of the CPU: memory is the host's.
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/kernels/cuda/runner.h"

namespace winnow::kernels::testing {

bool runs_on_card() { return false; }
std::string why_no_runner() { return {}; }

// At a multiple of 16 and of no more: what reads it may count on that alone (-fsanitize=alignment).
void* allocate_for_runner(std::size_t bytes) {
  constexpr std::size_t kApart = 32;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kApart, (bytes + 2 * kApart - 1) / kApart * kApart));
  if (memory == nullptr) throw std::bad_alloc();
  return memory + kApart / 2;
}
void release_from_runner(void* memory) noexcept { std::free(static_cast<std::byte*>(memory) - 16); }
void write_to_runner(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void read_from_runner(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace winnow::kernels::testing
