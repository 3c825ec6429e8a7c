// A layer for statistics on the emulated GPU: random, in any type, and moved there.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/engine/compression/layer_fixture.h"
#include "tests/engine/emulated_gpu/emulated_device.h"

namespace winnow::testing {

// Six query heads, two kv heads.
inline LayerView layer_of(at::ScalarType type, std::int64_t rows, const std::vector<std::int64_t>& past = {},
                          const std::vector<RowSpan>& bidirectional = {}) {
  LayerView view = random_view(LayerId(0), 6, 2, rows, 16, past, 2.0);
  view.bidirectional = bidirectional;
  set_log_sum_exp(view);
  view.query = view.query.to(type);
  view.key = view.key.to(type);
  for (at::Tensor& keys : view.past_keys) keys = keys.to(type);
  return view;
}

inline LayerView there(LayerView view) {
  for (at::Tensor* tensor : {&view.query, &view.key, &view.value, &view.log_sum_exp, &view.positions}) *tensor = tensor->to(kEmulatedGpu);
  for (at::Tensor& keys : view.past_keys) keys = keys.to(kEmulatedGpu);
  return view;
}

}  // namespace winnow::testing
