// Feed-forward blocks: gated (most decoders), plain (Falcon, vision towers, projectors), and mixture of experts (Qwen3-MoE, Qwen3.5-MoE,
// GLM-4.5).
//
// Used by engine/models. Inference only. Threads: engine thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
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

// How a router chooses where its scores are sigmoids, each expert's by itself (DeepSeek-V3, arXiv 2412.19437, equations 12 to 16, and its
// "noaux_tc" choice by groups; transformers' Glm4vMoeTextTopkRouter).
struct SigmoidChoice {
  at::Tensor bias;                 // fp32 [experts]: of the choice, not of the weights
  std::int64_t groups = 1;         // of as many experts each, at least two; a group counts by its two best
  std::int64_t chosen_groups = 1;  // whose experts may be chosen
  double factor = 1.0;             // of the weights, at last
};

// Mixture of experts: a router sends each token to its best experts and weights their outputs. Rows of one expert are batched; a decode
// step runs only `chosen` experts. Router weights are fp32 softmaxes or sigmoids, applied in fp32.
struct ExpertMlp {
  // Every token goes through it; its output is weighted by the sigmoid of `gate`, if there is one.
  struct Shared {
    std::optional<Linear> gate;  // [1, hidden]
    GatedMlp mlp;
  };
  Linear router;  // [experts, hidden]; in fp32 where scores are sigmoids
  std::vector<GatedMlp> experts;
  std::int64_t chosen = 0;  // experts of a token
  bool sums_to_one = true;  // the chosen experts' weights are normalised
  std::optional<Shared> shared{};
  std::optional<SigmoidChoice> sigmoid{};  // else scores are a softmax over all experts
  at::Tensor scales{};                     // fp32 [experts], by which a chosen expert's weight is multiplied at last; undefined: 1
  at::Tensor operator()(const at::Tensor& input) const { return routed(input, input); }  // [rows, hidden] -> [rows, hidden]
  // The router reads other rows than the experts.
  at::Tensor routed(const at::Tensor& asking, const at::Tensor& input) const;

 private:
  // Weights and experts of each row, [rows, chosen] each. answers: the router's, [rows, experts].
  std::pair<at::Tensor, at::Tensor> choice(const at::Tensor& answers) const;
};

// The block that the model has.
struct Mlp {
  std::variant<GatedMlp, PlainMlp, ExpertMlp> kind;
  at::Tensor operator()(const at::Tensor& input) const {  // [rows, hidden] -> [rows, hidden]
    return std::visit([&](const auto& mlp) { return mlp(input); }, kind);
  }
};

}  // namespace winnow
