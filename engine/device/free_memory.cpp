#include "engine/device/free_memory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <unistd.h>

#include <fstream>

#include "engine/base/error.h"

namespace winnow {
namespace {

std::int64_t machine_bytes() {
  std::ifstream info("/proc/meminfo");
  std::string name, unit;
  for (std::int64_t kib = 0; info >> name >> kib; std::getline(info, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
#ifdef _SC_AVPHYS_PAGES
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  if (pages > 0) return static_cast<std::int64_t>(pages) * sysconf(_SC_PAGESIZE);
#endif
  return 0;
}

std::int64_t gpu_bytes() {
  c10::DeviceAllocator* const allocator = c10::getDeviceAllocator(c10::DeviceType::CUDA);
  if (!allocator->initialized()) return 0;
  const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const c10::CachingDeviceAllocator::DeviceStats stats = allocator->getDeviceStats(0);
  const std::int64_t reserve = stats.reserved_bytes[all].current - stats.allocated_bytes[all].current;
  return static_cast<std::int64_t>(allocator->getMemoryInfo(0).first) + reserve;
}

}  // namespace

std::int64_t free_memory_bytes(MemoryOf where) { return where == MemoryOf::kGpu ? gpu_bytes() : machine_bytes(); }

ModelRoom room_for_model(std::uint64_t needed, std::uint64_t free, std::uint64_t held, const std::string& subject) {
  if (free == 0 || needed <= free) return ModelRoom::kBoth;
  if (needed - free <= held) return ModelRoom::kAfterFreeing;
  const auto mib = [](std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  const std::string freed = held > 0 ? " with the " + mib(held) + " of the model that is loaded" : "";
  throw Exception(ErrorCode::kOutOfMemory, subject, "its weights need " + mib(needed) + " and " + mib(free + held) + " are free" + freed);
}

}  // namespace winnow
