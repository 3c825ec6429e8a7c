#include "tests/support/allocation_probe.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>

namespace winnow::testing {

class AllocationProbe::Hook : public c10::Allocator, public std::enable_shared_from_this<AllocationProbe::Hook> {
 public:
  // What a block needs to be returned and uncounted, whenever that happens.
  struct Ticket {
    c10::DataPtr memory;
    std::int64_t bytes;
    std::shared_ptr<Hook> hook;
  };

  explicit Hook(c10::Allocator* real) : real_(real) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    auto ticket = std::make_unique<Ticket>();
    ticket->memory = real_->allocate(bytes);
    ticket->bytes = static_cast<std::int64_t>(bytes);
    ticket->hook = shared_from_this();
    const std::int64_t live = live_bytes += ticket->bytes;
    ++live_blocks;
    ++made_blocks;
    largest = std::max(largest.load(), ticket->bytes);
    peak = std::max(peak.load(), live);
    void* data = ticket->memory.get();
    const c10::Device device = ticket->memory.device();
    return {data, ticket.release(), &release, device};
  }

  void copy_data(void* dest, const void* src, std::size_t count) const override { default_copy_data(dest, src, count); }

  static void release(void* context) {
    const std::unique_ptr<Ticket> ticket(static_cast<Ticket*>(context));
    ticket->hook->live_bytes -= ticket->bytes;
    --ticket->hook->live_blocks;
  }

  c10::Allocator* real_;
  // Atomic: torch's worker threads allocate scratch memory.
  std::atomic<std::int64_t> live_bytes{0};
  std::atomic<std::int64_t> live_blocks{0};
  std::atomic<std::int64_t> made_blocks{0};
  std::atomic<std::int64_t> largest{0};
  std::atomic<std::int64_t> peak{0};
};

AllocationProbe::AllocationProbe() : hook_(std::make_shared<Hook>(c10::GetAllocator(c10::kCPU))) {
  c10::SetAllocator(c10::kCPU, hook_.get(), 1);
}
AllocationProbe::~AllocationProbe() { c10::SetAllocator(c10::kCPU, hook_->real_, 1); }

std::int64_t AllocationProbe::largest_bytes() const { return hook_->largest; }
std::int64_t AllocationProbe::live_bytes() const { return hook_->live_bytes; }
std::int64_t AllocationProbe::live_blocks() const { return hook_->live_blocks; }
std::int64_t AllocationProbe::blocks() const { return hook_->made_blocks; }
std::int64_t AllocationProbe::peak_bytes() const { return hook_->peak; }
void AllocationProbe::reset_largest() { hook_->largest = 0; }

}  // namespace winnow::testing
