// Experts beside a layer's MLP (Gemma 4 26B-A4B): both read the sum behind the attention, each with a norm before and one behind.
//
// Used by transformer_decoder.h, which has the MLP. Follows transformers' Gemma4TextDecoderLayer and Gemma4TextRouter: the router reads the
// sum normalised without the experts' weights, times a scale for each column over the root of the hidden size; a chosen expert's weight is
// multiplied by a scale of its own. Both scales are folded where they are read. Threads: engine thread; methods need c10::InferenceMode.
#pragma once

#include <ATen/ATen.h>

#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"

namespace winnow {

struct ExpertsBeside {
  RmsNorm router_norm;
  RmsNorm input_norm;
  ExpertMlp experts;
  RmsNorm output_norm;
  RmsNorm mlp_out_norm;  // of the MLP's output

  // sum: [rows, hidden] behind the attention; of_mlp: what the MLP makes of it. Returns both together.
  at::Tensor add_to(const at::Tensor& of_mlp, const at::Tensor& sum) const {
    return mlp_out_norm(of_mlp).add_(output_norm(experts.routed(router_norm(sum), input_norm(sum))));
  }
};

}  // namespace winnow
