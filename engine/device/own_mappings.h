// While it lives, the C library gives every block of a megabyte and more a mapping of its own, which goes back to the system with the
// block.
//
// Used by engine/models while a model is loaded. Programs keep blocks of up to 32 MiB in the heap (start_settings.cpp), where a prompt's
// products need them again. Weights do not: a matrix that is freed behind its repacked copy leaves a hole there, and the least block that
// falls into it keeps the next matrix out. Loading then took up to 24 % more than the weights, or 10 %, by what the heap happened to hold.
// Threads: for the whole process; one at a time.
#pragma once

#include <malloc.h>

#include <cstdlib>

namespace winnow {

class OwnMappings {
 public:
  OwnMappings() { ::mallopt(M_MMAP_THRESHOLD, 1 << 20); }
  OwnMappings(const OwnMappings&) = delete;
  OwnMappings& operator=(const OwnMappings&) = delete;
  ~OwnMappings() {
    const char* const set = std::getenv("MALLOC_MMAP_THRESHOLD_");  // by the user, or by start_settings.cpp
    const int bytes = set == nullptr ? 0 : std::atoi(set);
    ::mallopt(M_MMAP_THRESHOLD, bytes > 0 ? bytes : 32 << 20);
  }
};

}  // namespace winnow
