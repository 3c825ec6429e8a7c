// Whisper's network (Radford et al., arXiv 2212.04356; transformers' WhisperModel): sound features in, logits of text tokens out.
//
// Used by speech_decoding.h. The encoder runs once a window; the decoder keeps keys and values of its own tokens in a small cache, and
// those of the encoder's states, which cross-attention reads, once a window. Dtypes as the weight plan says. Inference only: callers hold
// c10::InferenceMode. Errors: kDamagedFile naming the tensor; Interrupted. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/models/weights/weight_reader.h"
#include "engine/speech/whisper_config.h"

namespace winnow {

// Keys and values of one layer: [1, heads, tokens, head_dim].
struct SpokenKeys {
  at::Tensor keys;
  at::Tensor values;
};

class WhisperModel {
 public:
  WhisperModel(const WhisperConfig& config, WeightReader& weights);

  // features: fp32 [bins, window_frames()] on the CPU. Returns the encoder's states [source_positions, width].
  at::Tensor encode(const at::Tensor& features, const InterruptToken& interrupt) const;

  // The decoder over one window.
  class Window {
   public:
    Window(const WhisperModel& model, const at::Tensor& states);
    // Appends tokens, at first the prompt and then one at a time, and gives the logits behind the last of them, fp32 [vocabulary] on the
    // CPU. all: rows of all tokens instead, [tokens, vocabulary].
    at::Tensor logits(std::span<const std::int64_t> tokens) { return rows_of(tokens, Rows::kLast).select(0, 0); }
    at::Tensor all_logits(std::span<const std::int64_t> tokens) { return rows_of(tokens, Rows::kAll); }
    std::int64_t tokens() const { return tokens_; }
    // Forgets what was appended; the window stays.
    void begin_anew() { tokens_ = 0; }

   private:
    enum class Rows : int { kLast = 1, kAll = 2 };
    at::Tensor rows_of(std::span<const std::int64_t> tokens, Rows rows);
    at::Tensor attend_own(std::size_t layer, const at::Tensor& hidden);
    at::Tensor attend_sound(std::size_t layer, const at::Tensor& hidden) const;

    const WhisperModel& model_;
    std::vector<SpokenKeys> sound_;  // a layer; of the encoder's states
    std::vector<SpokenKeys> own_;    // a layer; of tokens, with room for all
    std::int64_t tokens_ = 0;
  };

  const WhisperConfig& config() const { return config_; }

 private:
  struct Attention {
    LayerNorm norm;
    Linear query_key_value;
    Linear output;
  };
  struct Layer {
    Attention own;
    LayerNorm mlp_norm;
    PlainMlp mlp;
  };
  struct DecoderLayer {
    Layer layer;
    LayerNorm sound_norm;
    Linear sound_query;
    Linear sound_key_value;
    Linear sound_output;
  };
  enum class Side : int { kEncoder = 1, kDecoder = 2 };
  Linear matrices(WeightReader& weights, Side side, const std::vector<WeightReader::Part>& parts, std::int64_t in) const;
  Attention read_attention(WeightReader& weights, Side side, const std::string& layer) const;
  Layer read_layer(WeightReader& weights, Side side, const std::string& prefix) const;
  DecoderLayer read_decoder_layer(WeightReader& weights, const std::string& prefix) const;
  at::Tensor heads_of(const at::Tensor& rows, std::int64_t part, std::int64_t parts) const;  // [rows, parts * width] -> [1, heads, rows, d]
  double scale() const;

  const WhisperConfig config_;
  at::Tensor first_kernel_, first_bias_, second_kernel_, second_bias_;  // of the two convolutions
  at::Tensor source_positions_;                                         // [source_positions, width]
  std::vector<Layer> encoder_;
  LayerNorm encoder_norm_;
  LinearWeight embedding_;       // [vocabulary, width]; also the head
  at::Tensor target_positions_;  // [target_positions, width]
  std::vector<DecoderLayer> decoder_;
  LayerNorm decoder_norm_;
};

}  // namespace winnow
