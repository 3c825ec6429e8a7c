// Index types that cannot be swapped in parameter lists: a decoder layer, and a KV head of a layer, both from 0. Constructed explicitly
// (LayerId(3)), never from one another; they convert to integers for loops and subscripts.
// Threads: any.
#pragma once

#include <concepts>
#include <cstdint>

namespace winnow {

template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  template <std::integral Integer>
  constexpr explicit Index(Integer value) : value_(static_cast<std::int64_t>(value)) {}
  template <class Other>
  explicit Index(Index<Other>) = delete;

  constexpr operator std::int64_t() const { return value_; }  // NOLINT: reading one is harmless, making one is not
  constexpr Index& operator++() {
    ++value_;
    return *this;
  }

 private:
  std::int64_t value_ = 0;
};

using LayerId = Index<struct LayerTag>;
using KvHead = Index<struct KvHeadTag>;

}  // namespace winnow
