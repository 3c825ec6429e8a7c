// The feed-forward blocks: gated (most decoders), plain (Falcon, vision towers, projectors), and several gated ones of which each token
// goes through a few (Qwen3-MoE).
//
// Used by engine/models. Inference only. Threads: engine thread.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

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

// A router gives every token to its best experts and weighs what they say. Rows of one expert go through it together; experts that nobody
// goes to do nothing, so a decode step takes `chosen` of them. Weights are softmaxes in fp32, as are the products with them.
struct ExpertMlp {
  Linear router;  // [experts, hidden]
  std::vector<GatedMlp> experts;
  std::int64_t chosen = 0;                               // of each token
  bool sums_to_one = true;                               // the weights of the chosen ones
  at::Tensor operator()(const at::Tensor& input) const;  // [rows, hidden] -> [rows, hidden]
};

// Whichever the model has.
struct Mlp {
  std::variant<GatedMlp, PlainMlp, ExpertMlp> kind;
  at::Tensor operator()(const at::Tensor& input) const {  // [rows, hidden] -> [rows, hidden]
    return std::visit([&](const auto& mlp) { return mlp(input); }, kind);
  }
};

}  // namespace winnow
