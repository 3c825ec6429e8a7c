// A value for each layer of the decoder, indexed by LayerId: a head, slot or row cannot be used as the subscript by mistake.
//
// Used for layer-indexed data inside the engine; messages and allocators, which go through all layers in order, use the plain vector
// (values()). Only at() checks the layer. Threads: as std::vector.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/index.h"

namespace winnow {

template <class Value>
class PerLayer {
 public:
  PerLayer() = default;
  explicit PerLayer(std::vector<Value> values) : values_(std::move(values)) {}
  // `layers` layers with this value each.
  static PerLayer of(std::int64_t layers, const Value& value = Value()) {
    return PerLayer(std::vector<Value>(static_cast<std::size_t>(layers), value));
  }

  decltype(auto) operator[](LayerId layer) { return values_[static_cast<std::size_t>(layer)]; }
  decltype(auto) operator[](LayerId layer) const { return values_[static_cast<std::size_t>(layer)]; }
  // Throw std::out_of_range.
  decltype(auto) at(LayerId layer) { return values_.at(static_cast<std::size_t>(layer)); }
  decltype(auto) at(LayerId layer) const { return values_.at(static_cast<std::size_t>(layer)); }
  bool has(LayerId layer) const { return layer >= 0 && layer < layers(); }

  std::int64_t layers() const { return static_cast<std::int64_t>(values_.size()); }
  bool empty() const { return values_.empty(); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  decltype(auto) front() const { return values_.front(); }
  // The next layer's.
  void push_back(Value value) { values_.push_back(std::move(value)); }

  const std::vector<Value>& values() const& { return values_; }
  std::vector<Value> values() && { return std::move(values_); }

 private:
  std::vector<Value> values_;
};

}  // namespace winnow
