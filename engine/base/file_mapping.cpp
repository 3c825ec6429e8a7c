#include "engine/base/file_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

// The region that the handler reads. It is in use while its end is not 0; `begin` is written before `end`.
struct Region {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> lost{false};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free, "read in a signal handler");

constexpr std::size_t kMostRegions = 4096;  // a split model has at most 1024 files

std::array<Region, kMostRegions>& regions() {
  static std::array<Region, kMostRegions> all;  // constant-initialised: the handler takes no lock for it
  return all;
}

struct sigaction& handler_before() {
  static struct sigaction before;
  return before;
}

// On the thread that touched the page, between two of its instructions: system calls and atomics only.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Region& region : regions()) {
    const std::uintptr_t end = region.end.load(std::memory_order_acquire);
    const std::uintptr_t begin = region.begin.load(std::memory_order_relaxed);
    if (end == 0 || address < begin || address >= end) continue;
    const std::uintptr_t page = address & ~(static_cast<std::uintptr_t>(::getpagesize()) - 1);
    void* const from = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr)
    if (::mmap(from, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) break;
    region.lost.store(true, std::memory_order_release);
    return;
  }
  const struct sigaction& before = handler_before();
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;  // the instruction is tried again and ends the program as it would have
  ::sigaction(SIGBUS, &plain, nullptr);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    regions();
    struct sigaction ours {};
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(SIGBUS, &ours, &handler_before());
  });
}

std::mutex& changing_regions() {
  static std::mutex mutex;  // guards which regions are in use
  return mutex;
}

std::optional<std::size_t> guard(const void* start, std::size_t size) {
  install_handler();
  const std::scoped_lock lock(changing_regions());
  for (std::size_t i = 0; i < kMostRegions; ++i) {
    Region& region = regions()[i];
    if (region.end.load(std::memory_order_relaxed) != 0) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    region.lost.store(false, std::memory_order_relaxed);
    region.begin.store(begin, std::memory_order_relaxed);
    region.end.store(begin + size, std::memory_order_release);
    return i;
  }
  return std::nullopt;
}

void release(std::size_t region) {
  const std::scoped_lock lock(changing_regions());
  regions()[region].end.store(0, std::memory_order_release);
}

}  // namespace

FileMapping::FileMapping(const RegularFile& file) {
  const auto size = static_cast<std::size_t>(file.size_bytes());
  if (size == 0) return;  // nothing to map, and mmap refuses it
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (start == MAP_FAILED) throw Exception(ErrorCode::kOutOfMemory, file.path(), "no address space for " + std::to_string(size) + " bytes");
  const std::optional<std::size_t> region = guard(start, size);
  if (!region) {
    ::munmap(start, size);
    throw Exception(ErrorCode::kLimitExceeded, file.path(), "more than " + std::to_string(kMostRegions) + " files are mapped");
  }
  region_ = *region;
  all_ = {static_cast<const std::byte*>(start), size};
}

FileMapping::FileMapping(FileMapping&& other) noexcept : all_(std::exchange(other.all_, {})), region_(other.region_) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(all_, other.all_);
  std::swap(region_, other.region_);
  return *this;
}

FileMapping::~FileMapping() {
  if (all_.empty()) return;
  release(region_);
  ::munmap(const_cast<std::byte*>(all_.data()), all_.size());
}

std::span<const std::byte> FileMapping::bytes(const RegularFile& file, std::uint64_t offset, std::uint64_t size) const {
  require(offset <= all_.size() && size <= all_.size() - offset, "a part of a mapped file beyond its end");
  if (file.size_now_bytes() < offset + size)
    throw Exception(ErrorCode::kDamagedFile, file.path(), "the file became shorter while it was read");
  return all_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

bool FileMapping::lost() const noexcept { return !all_.empty() && regions()[region_].lost.load(std::memory_order_acquire); }

}  // namespace winnow
