// A decoder layer without slots: a gated delta rule or a short convolution in place of attention, and an MLP. Used by
// transformer_decoder.h.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <variant>

#include "engine/base/interrupt.h"
#include "engine/kv_cache/layer_states.h"
#include "engine/layers/gated_delta.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/layers/short_conv.h"

namespace winnow {

struct RecurrentLayer {
  Norm input_norm;
  std::variant<GatedDelta, ShortConv> mixer{};
  Norm mlp_norm{};
  Mlp mlp{};

  // state: a LayerState&, and rows [t, hidden] hidden states of consecutive tokens behind those that it has read; or what gives
  // each row's, and a row of each. added: what is still to be added to the rows, or undefined; the layer's own update then.
  template <class State>
  void step(at::Tensor& rows, at::Tensor& added, State&& state) const {
    const at::Tensor input = added.defined() ? input_norm.after_adding(rows, added) : input_norm(rows);
    const at::Tensor mixed = std::visit([&](const auto& each) { return each(input, state); }, mixer);
    added = mlp(mlp_norm.after_adding(rows, mixed));
  }

  // A segment, in tiles of so many rows; hidden [n, hidden] is changed in place. Throws Interrupted between two tiles.
  void prefill(const at::Tensor& hidden, std::int64_t tile_rows, LayerState& state, const InterruptToken& interrupt) const {
    for (std::int64_t first = 0; first < hidden.size(0); first += tile_rows) {
      interrupt.throw_if_requested();
      at::Tensor tile = hidden.narrow(0, first, std::min(tile_rows, hidden.size(0) - first));
      at::Tensor added;
      step(tile, added, state);
      tile.add_(added);
    }
  }
};

}  // namespace winnow
