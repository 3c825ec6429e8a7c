// Gemma 4's per-layer inputs, added after the MLP: each layer adds an input of its own, made of the token's id and first hidden state
// (per-layer embeddings), and multiplies the sum by a factor.
//
// Used by transformer_decoder.h. A layer's input is normalised (W first hidden state / sqrt(hidden)) plus sqrt(size) times its part of a
// second embedding table, over sqrt(2) (transformers' Gemma4TextModel.project_per_layer_inputs). A token's row brings along what every
// layer's input is made of (sources): the first hidden state, and the id as digits, which every arithmetic type holds exactly. All layers'
// inputs would be ten times as many columns. Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the
// tensor.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/layers/activation.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/weights/weight_reader.h"

namespace winnow {

class LayerInputs {
 public:
  // config.layer_inputs is there. prefix: of the decoder's tensor names.
  LayerInputs(const DecoderConfig& config, WeightReader& weights, const std::string& prefix);

  std::int64_t source_columns() const { return hidden_ + kDigits; }
  // first: [n, hidden] first hidden states; ids: int64 [n], on any device. Returns [n, hidden + source_columns()].
  at::Tensor with_sources(const at::Tensor& first, const at::Tensor& ids) const;
  // The same for rows that stand for pixels, in the place of which the table is asked for the padding token.
  at::Tensor with_sources_of_pixels(const at::Tensor& first) const;
  // stored: the layer's number in the file; sources: [n, source_columns()]. Returns [n, size].
  at::Tensor of_layer(std::int64_t stored, const at::Tensor& sources) const;

 private:
  static constexpr std::int64_t kDigits = 3;

  LayerInputSizes sizes_;
  std::int64_t hidden_;
  LinearWeight table_;               // [vocabulary, layers * size]
  std::vector<Linear> projections_;  // of each layer, [size, hidden]
  RmsNorm norm_;
};

struct LayerEnd {
  Linear gate{};        // [size, hidden]
  Linear projection{};  // [hidden, size]
  RmsNorm norm{};       // of what is added
  Activation activation = Activation::kGeluTanh;
  at::Tensor factor;  // [1]

  // rows: [n, hidden] behind the MLP, changed in place. input: [n, size] of the layer, or undefined where the model has none.
  void finish(at::Tensor& rows, const at::Tensor& input) const;
};

LayerEnd read_layer_end(const DecoderConfig& config, WeightReader& weights, const std::string& prefix);

}  // namespace winnow
