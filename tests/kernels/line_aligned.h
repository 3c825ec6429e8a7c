// Vectors that begin where a cache line does, as the engine's rows and blocks do.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace winnow::kernels::testing {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT(google-explicit-constructor): containers convert

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

template <class T>
using LineAligned = std::vector<T, LineAllocator<T>>;

}  // namespace winnow::kernels::testing
