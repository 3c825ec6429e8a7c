// Numbers of things that stand beside each other in parameter lists and must not be swapped: a layer of the decoder, a key-value head of a
// layer, both from 0. Made by name (LayerId(3)), never from one another; read as the integer that they are, inside loops and as subscripts.
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
