// The decoder of Llama, Mistral, Ministral 3, Qwen2, Qwen3, Qwen3-Next, Qwen3.5, Falcon and Gemma 3 as a TextDecoder. DecoderConfig selects
// RMS or layer norms, rotary axes, GQA, query and key norms, a gated or plain MLP after or parallel to attention, mixture of experts, and
// layers without slots.
//
// A layer of this class is one that attends. Layers without slots are computed with the attention layer behind them, those at the end with
// the last one (KvShape::states_with): whoever goes through the layers, judges or compacts them meets only such as have slots.
//
// Used by the families with this language model (causal_lm/, gemma3/, llava/, llava_onevision/, qwen2_vl/, qwen3_vl/, smolvlm/). Biases
// exist if the weights have them (for q, k and v all three or none); tied output projections share the embedding table. Prefill runs a
// layer tile by tile, each tile through attention and MLP before the next. Activations stay O(tile), beside the segment's hidden states,
// keys and values. Dtype fp32, bf16 or (on a GPU) fp16; rounding follows transformers' order of operations.
// Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor (missing, wrong shape, not finite);
// Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/layers/rotary.h"
#include "engine/models/decoder_config.h"
#include "engine/models/device_step.h"
#include "engine/models/recurrent_layer.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/weight_reader.h"

namespace winnow {

class TransformerDecoder final : public TextDecoder {
 public:
  // Rows per tile on a CPU and on a GPU; an interrupt is polled once per tile.
  static constexpr std::int64_t kTileRows = 1024;
  static constexpr std::int64_t kDeviceTileRows = 4096;

  // prefix: of the decoder's tensor names, "language_model." for LLaVA. config has been checked. tile_rows: 0 for the defaults above.
  TransformerDecoder(const DecoderConfig& config, WeightReader& weights, const std::string& prefix, std::int64_t tile_rows = 0);
  TransformerDecoder(const TransformerDecoder&) = delete;  // the device step refers to it
  TransformerDecoder& operator=(const TransformerDecoder&) = delete;

  std::int64_t layers() const override { return layers_.layers(); }
  std::int64_t heads() const override { return config_.heads; }
  std::int64_t context_tokens() const override { return config_.max_positions; }
  KvShape kv_shape() const override;
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  at::Tensor embed(const at::Tensor& ids) const override;
  void prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions, std::span<const std::int32_t> original, KvCache& cache,
                     PrefillObserver* observer, const AttentionWindow& window, const InterruptToken& interrupt) const override;
  at::Tensor logits(const at::Tensor& hidden) const override;
  at::Tensor decode(const NextToken& token, KvCache& cache, DecodeObserver* observer) const override;

 private:
  struct Layer {
    Norm input_norm;
    std::vector<RecurrentLayer> before;
    Linear qkv;          // [(H + 2 Hkv) * d, hidden]; with an output gate its H * d rows come first
    RmsNorm query_norm;  // per head; query and key norm only if configured
    RmsNorm key_norm;
    Linear output;
    std::optional<Norm> attention_out_norm;
    Norm mlp_norm;  // unused if the MLP shares the attention's input
    std::optional<Norm> mlp_out_norm;
    Mlp mlp;

    // The update of the hidden states from the attention's output [rows, H * d]. gate: [rows, H * d], or undefined.
    at::Tensor attended(const at::Tensor& attention, const at::Tensor& gate) const {
      const at::Tensor out = output(gate.defined() ? attention * gate.sigmoid() : attention);
      return attention_out_norm ? (*attention_out_norm)(out) : out;
    }
  };
  Layer read_layer(WeightReader& weights, const std::string& prefix) const;
  RecurrentLayer read_recurrent_layer(WeightReader& weights, const std::string& prefix) const;
  bool is_recurrent(std::int64_t stored_layer) const {
    return !config_.recurrent.empty() && config_.recurrent[static_cast<std::size_t>(stored_layer)];
  }
  // Of a head of query and key: KvCache and kernels have them in this order.
  std::vector<std::int64_t> rows_of_heads(std::int64_t heads, std::int64_t stride) const;
  Linear read_query_key_value(WeightReader& weights, const std::string& prefix) const;
  std::shared_ptr<const KeyBias> read_key_bias() const;  // call after the layers are read
  Norm read_norm(WeightReader& weights, const std::string& name) const;
  ExpertMlp read_experts(WeightReader& weights, const std::string& prefix) const;
  ExpertMlp with_experts(ExpertMlp mlp, std::vector<Linear> first, std::vector<Linear> last) const;
  Mlp read_mlp(WeightReader& weights, const std::string& prefix) const;
  // What is still to be added to `hidden`, which takes in what the attention adds where the MLP comes after it. input: what the attention
  // read of it.
  at::Tensor after_attention(const Layer& layer, const at::Tensor& input, const at::Tensor& attended, at::Tensor& hidden) const;
  RmsNorm read_head_norm(WeightReader& weights, const std::string& name) const;
  // The scheme of a layer, and what turns by it.
  bool rotates_apart(LayerId layer) const { return !rotated_apart_.empty() && rotated_apart_[layer]; }
  const RotaryScheme& scheme_of(LayerId layer) const { return rotates_apart(layer) ? *config_.other_rotary : config_.rotary; }
  // One token through all layers. hidden: [1, hidden]; cache: for layers without slots; growth, angles_of(rotary): of its position; attend:
  // as DeviceStep::Attend. Returns logits [vocabulary].
  template <class AnglesOf, class Attend>
  at::Tensor run_step(at::Tensor hidden, KvCache* cache, const at::Tensor& growth, AnglesOf angles_of, Attend attend) const;
  at::Tensor host_step(const NextToken& token, KvCache& cache, DecodeObserver* observer) const;
  at::Tensor scaled_rows(const at::Tensor& ids) const;  // embeddings times embedding_scale
  // The layers without slots behind the last one that attends, if `layer` is that.
  void prefill_last(LayerId layer, const at::Tensor& hidden, KvCache& cache, const InterruptToken& interrupt) const;
  // By what the queries of such positions grow, of the arithmetic's dtype: [rows, 1, 1], or undefined where they do not. positions: [rows].
  at::Tensor growth_at(const at::Tensor& positions) const;
  // What a layer's qkv says of each row: the gate [rows, H * d], undefined if there is none, and queries, keys and values
  // [rows, H + 2 Hkv, d].
  std::pair<at::Tensor, at::Tensor> split_gate(const at::Tensor& product) const;
  // Normalises queries and keys per head, in place: qkv [rows, H + 2 Hkv, d].
  void normalise_heads(const Layer& layer, at::Tensor& qkv) const;

  DecoderConfig config_;
  std::int64_t tile_rows_;
  double scale_;
  RotaryEmbedding rotary_;
  std::optional<RotaryEmbedding> other_rotary_;
  PerLayer<bool> rotated_apart_;  // by other_rotary_; empty: none
  PerLayer<std::int64_t> windows_;
  at::ScalarType dtype_;  // of the arithmetic
  KvStorage storage_ = KvStorage::kWide;
  at::Device device_;
  LinearWeight embedding_;  // [vocabulary, hidden]
  PerLayer<Layer> layers_;
  std::vector<RecurrentLayer> last_;         // behind the last layer that attends
  std::shared_ptr<const KeyBias> key_bias_;  // null on a GPU and without biases
  Norm final_norm_;
  Linear head_;                              // shares embedding_ if tied
  std::unique_ptr<DeviceStep> device_step_;  // null on a CPU
};

}  // namespace winnow
