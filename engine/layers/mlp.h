// Feed-forward blocks: gated (most decoders), plain (Falcon, vision towers, projectors), and mixture of experts (Qwen3-MoE, Qwen3.5-MoE).
//
// Used by engine/models. Inference only. Threads: engine thread.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "engine/layers/activation.h"
#include "engine/layers/linear.h"

namespace winnow {

// down(act(gate(x)) * up(x)); gate and up are one GEMM.
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

// Mixture of experts: a router sends each token to its best experts and weights their outputs. Rows of one expert are batched; a decode
// step runs only `chosen` experts. Router weights are fp32 softmaxes, applied in fp32.
struct ExpertMlp {
  // Every token goes through it; its output is weighted by the sigmoid of `gate`.
  struct Shared {
    Linear gate;  // [1, hidden]
    GatedMlp mlp;
  };
  Linear router;  // [experts, hidden]
  std::vector<GatedMlp> experts;
  std::int64_t chosen = 0;  // experts of a token
  bool sums_to_one = true;  // the chosen experts' weights are normalised
  std::optional<Shared> shared{};
  at::Tensor scales{};  // fp32 [experts], by which a chosen expert's weight is multiplied at last; undefined: 1
  at::Tensor operator()(const at::Tensor& input) const { return routed(input, input); }  // [rows, hidden] -> [rows, hidden]
  // The router reads other rows than the experts.
  at::Tensor routed(const at::Tensor& asking, const at::Tensor& input) const;
};

// The block that the model has.
struct Mlp {
  std::variant<GatedMlp, PlainMlp, ExpertMlp> kind;
  at::Tensor operator()(const at::Tensor& input) const {  // [rows, hidden] -> [rows, hidden]
    return std::visit([&](const auto& mlp) { return mlp(input); }, kind);
  }
};

}  // namespace winnow
