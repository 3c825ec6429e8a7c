// The states of layers without slots, which sum up the tokens so far: one of fixed size each, which every token changes.
//
// KvCache holds them beside its slots (layer_states()), in the memory of its device. A layer with slots may have several such layers
// computed with it (KvShape::states_with); `which` counts them. Copies share states; whoever writes to a shared one gets a copy of its own.
// A state cannot be taken back to an earlier token: whoever may need one keeps a fork from before. Threads: engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/kv_cache/state_shape.h"

namespace winnow {

struct KvShape;

struct LayerState {
  at::Tensor recent;  // [recent, channels] of the last tokens, zeros before the first, in the model's dtype
  at::Tensor memory;  // fp32 [heads, rows, columns]
};

class LayerStates {
 public:
  explicit LayerStates(const KvShape& shape);

  // To be changed in place. The first call makes the states of all layers, zeros.
  LayerState& to_write(LayerId layer, std::int64_t which);
  // Null before the first token.
  const LayerState* state(LayerId layer, std::int64_t which) const;
  std::int64_t of_layer(LayerId layer) const { return states_.empty() ? 0 : static_cast<std::int64_t>(states_.at(layer).size()); }

  // Shares the layer's states of `earlier` again.
  void restore(LayerId layer, const LayerStates& earlier);
  // The same states in another device's memory.
  void copy_from(const LayerStates& there);

  std::int64_t bytes() const;  // of the states that there are, shared ones included

 private:
  LayerState fresh() const;
  void make_all();

  StateShape shape_;
  at::ScalarType dtype_;
  at::Device device_;
  PerLayer<std::vector<std::shared_ptr<LayerState>>> states_;  // shared by forks; null before the first token
};

}  // namespace winnow
