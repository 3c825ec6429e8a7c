#include "tests/engine/emulated_gpu/device_memory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace winnow::emulated_gpu {
namespace {

constexpr std::size_t kBytes = std::size_t{8} << 30;  // reserved, not taken
constexpr std::size_t kAlignment = 512;               // as CUDA's allocators give

// Twice the bytes: addresses that fault, and what lies behind them.
class Arena {
 public:
  Arena() {
    void* const both = mmap(nullptr, 2 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(both != MAP_FAILED, "the emulated GPU's addresses could not be reserved");
    first_ = static_cast<char*>(both);
    TORCH_CHECK(mprotect(first_ + kBytes, kBytes, PROT_READ | PROT_WRITE) == 0, "the emulated GPU's memory could not be made");
  }

  void* take(std::size_t bytes) {
    const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::scoped_lock lock(mutex_);
    const auto fit = free_.lower_bound(size);
    std::size_t offset = taken_;
    std::size_t own = size;
    if (fit != free_.end() && fit->first <= 2 * size) {
      own = fit->first;
      offset = fit->second.back();
      fit->second.pop_back();
      if (fit->second.empty()) free_.erase(fit);
    } else {
      TORCH_CHECK_WITH(OutOfMemoryError, size <= kBytes - taken_, "the emulated GPU is full");
      taken_ += size;
    }
    sizes_[offset] = {own, bytes};
    ++counts().allocations;
    counts().bytes_held += static_cast<std::int64_t>(bytes);
    std::memset(first_ + kBytes + offset, 0xFF, own);
    return first_ + offset;
  }

  void give_back(void* address) {
    const std::scoped_lock lock(mutex_);
    const auto offset = static_cast<std::size_t>(static_cast<char*>(address) - first_);
    const auto found = sizes_.find(offset);
    free_[found->second.own].push_back(offset);
    counts().bytes_held -= static_cast<std::int64_t>(found->second.asked);
    sizes_.erase(found);
  }

  void* behind(const void* address) const {
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - first_);
    TORCH_CHECK(offset < kBytes, "no address of the emulated GPU");
    return first_ + kBytes + offset;
  }

  std::size_t left() const { return kBytes - taken_; }

 private:
  char* first_ = nullptr;
  std::size_t taken_ = 0;
  struct Size {
    std::size_t own;
    std::size_t asked;
  };
  std::map<std::size_t, Size> sizes_;                     // by offset
  std::map<std::size_t, std::vector<std::size_t>> free_;  // offsets by size
  std::mutex mutex_;
};

Arena& arena() {
  static Arena* const all = new Arena();  // tensors of static life may go last
  return *all;
}

class Memory final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &Memory::release, kDevice};
    void* const address = arena().take(bytes);
    return {address, address, &Memory::release, kDevice};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Memory::release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(emulated_gpu::behind(to), emulated_gpu::behind(from), bytes);
  }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t /*pool*/) override {}
  void recordStream(const c10::DataPtr& /*pointer*/, c10::Stream /*stream*/) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex /*device*/) override { return {}; }
  void resetAccumulatedStats(c10::DeviceIndex /*device*/) override {}
  void resetPeakStats(c10::DeviceIndex /*device*/) override {}
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex /*device*/) override { return {free_bytes(), kBytes}; }

 private:
  static void release(void* address) {
    if (address != nullptr) arena().give_back(address);
  }
};

// One device, one stream.
class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device /*device*/) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device /*device*/) const override {}
  void uncheckedSetDevice(c10::Device /*device*/) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

const c10::impl::DeviceGuardImplRegistrar kGuard(c10::DeviceType::CUDA, new Guard());
const bool kAllocator = [] {
  c10::SetAllocator(c10::DeviceType::CUDA, memory());
  return true;
}();

}  // namespace

c10::Allocator* memory() {
  static Memory* const all = new Memory();
  return all;
}

std::size_t free_bytes() { return arena().left(); }
std::size_t all_bytes() { return kBytes; }

void* behind(const void* address) { return address == nullptr ? nullptr : arena().behind(address); }

EmulatedGpuCounts& counts() {
  static EmulatedGpuCounts all;
  return all;
}

}  // namespace winnow::emulated_gpu
