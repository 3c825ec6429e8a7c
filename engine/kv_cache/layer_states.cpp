#include "engine/kv_cache/layer_states.h"

#include <cstddef>

#include "engine/base/error.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

LayerStates::LayerStates(const KvShape& shape) : shape_(shape.state), dtype_(shape.dtype), device_(shape.device) {
  for (const std::int64_t states : shape.states_with)
    states_.push_back(std::vector<std::shared_ptr<LayerState>>(static_cast<std::size_t>(states)));
  require(states_.empty() || states_.layers() == shape.layers, "LayerStates: a count for each layer with slots");
}

LayerState LayerStates::fresh() const {
  const auto numbers = at::TensorOptions(device_);
  return {at::zeros({shape_.recent, shape_.channels}, numbers.dtype(dtype_)),
          at::zeros({shape_.heads, shape_.rows, shape_.columns}, numbers.dtype(at::kFloat))};
}

void LayerStates::make_all() {
  for (auto& of_layer : states_) {
    for (std::shared_ptr<LayerState>& state : of_layer) {
      if (state == nullptr) state = std::make_shared<LayerState>(fresh());
    }
  }
}

LayerState& LayerStates::to_write(LayerId layer, std::int64_t which) {
  std::shared_ptr<LayerState>& state = states_.at(layer).at(static_cast<std::size_t>(which));
  if (state == nullptr) make_all();
  if (state.use_count() > 1) state = std::make_shared<LayerState>(LayerState{state->recent.clone(), state->memory.clone()});
  return *state;
}

const LayerState* LayerStates::state(LayerId layer, std::int64_t which) const {
  return states_.at(layer).at(static_cast<std::size_t>(which)).get();
}

void LayerStates::restore(LayerId layer, const LayerStates& earlier) {
  if (states_.empty()) return;
  states_[layer] = earlier.states_.at(layer);
}

void LayerStates::copy_from(const LayerStates& there) {
  for (LayerId layer{0}; layer < states_.layers(); ++layer) {
    for (std::int64_t which = 0; which < of_layer(layer); ++which) {
      const LayerState* const from = there.state(layer, which);
      if (from == nullptr) continue;
      LayerState& to = to_write(layer, which);
      to.recent.copy_(from->recent);
      to.memory.copy_(from->memory);
    }
  }
}

std::int64_t LayerStates::bytes() const {
  std::size_t bytes = 0;
  for (const auto& of_layer : states_) {
    for (const std::shared_ptr<LayerState>& state : of_layer) {
      if (state != nullptr) bytes += state->recent.nbytes() + state->memory.nbytes();
    }
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace winnow
