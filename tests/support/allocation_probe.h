// Counts what torch allocates on the CPU while it lives: the largest single block, live bytes and their peak.
//
// Used by tests of memory claims ("no n x n buffer", "freed is freed"). It replaces torch's CPU allocator for its lifetime and passes every
// call on; memory that outlives the probe is still freed correctly. One probe at a time; single-threaded tests only.
#pragma once

#include <cstdint>
#include <memory>

namespace winnow::testing {

class AllocationProbe {
 public:
  AllocationProbe();
  ~AllocationProbe();
  AllocationProbe(const AllocationProbe&) = delete;
  AllocationProbe& operator=(const AllocationProbe&) = delete;

  // Of allocations made since the probe was made or reset.
  std::int64_t largest_bytes() const;
  std::int64_t live_bytes() const;
  std::int64_t live_blocks() const;
  std::int64_t blocks() const;  // that were ever made
  std::int64_t peak_bytes() const;
  void reset_largest();

 private:
  class Hook;
  std::shared_ptr<Hook> hook_;  // shared: with the deleters of memory that outlives the probe
};

}  // namespace winnow::testing
