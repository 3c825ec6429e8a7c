// The two feed-forward blocks: gated (most decoders) and plain (Falcon, vision towers, projectors).
//
// Used by engine/models. Inference only. Threads: engine thread.
#pragma once

#include <variant>

#include "engine/layers/activation.h"
#include "engine/layers/linear.h"

namespace winnow {

// down(act(gate(x)) * up(x)); gate and up are one product.
struct GatedMlp {
  Linear gate_up;  // [2 * intermediate, hidden], gate first
  Linear down;     // [hidden, intermediate]
  Activation activation = Activation::kSilu;
  at::Tensor operator()(const at::Tensor& input) const;  // [rows, hidden] -> [rows, hidden]
};

// second(act(first(x)))
struct PlainMlp {
  Linear first;
  Linear second;
  Activation activation = Activation::kGelu;
  at::Tensor operator()(const at::Tensor& input) const;  // [..., in] -> [..., out]
};

// Whichever the model has.
struct Mlp {
  std::variant<GatedMlp, PlainMlp> kind;
  at::Tensor operator()(const at::Tensor& input) const {  // [rows, hidden] -> [rows, hidden]
    return std::visit([&](const auto& mlp) { return mlp(input); }, kind);
  }
};

}  // namespace winnow
