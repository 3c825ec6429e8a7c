#include "tests/support/new_probe.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::size_t largest_bytes = 0;
std::size_t count = 0;

}  // namespace

// Not inlined: the compiler would see free() beside what it takes for another allocation.
[[gnu::noinline]] void* operator new(std::size_t size) {
  largest_bytes = std::max(largest_bytes, size);
  ++count;
  if (void* memory = std::malloc(std::max<std::size_t>(size, 1))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace winnow::test {

std::size_t largest_new_bytes() { return largest_bytes; }
void reset_largest_new() { largest_bytes = 0; }
std::size_t new_count() { return count; }

}  // namespace winnow::test
