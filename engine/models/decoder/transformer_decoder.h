// The decoder of Llama, Mistral, Ministral 3, Qwen2, Qwen3, Qwen3-Next, Qwen3.5, Falcon, Gemma 3, Gemma 4 and LFM2 as a TextDecoder.
// DecoderConfig selects RMS or layer norms, rotary axes, GQA, query and key norms, a gated or plain MLP after or parallel to attention,
// mixture of experts, and layers without slots.
//
// A layer of this class is one that attends. Layers without slots are computed with the attention layer behind them, those at the end with
// the last one (KvShape::states_with): whoever goes through the layers, judges or compacts them meets only such as have slots. So it is
// with Gemma 4's last layers, which attend to the slots of an earlier one: the prompt's rows by what that layer lends (lent_rows.h), before
// anything was dropped, a decoded token to what is cached. They have nothing to drop, and no score is taken of their attention. Nor have
// layers with a window that have KV heads of their own (DecoderConfig::sliding): their slots lie beside (KvShape::sliding), and they are
// computed with the layer behind them, too (transformer_decoder_sliding.cpp).
//
// Qwen3-Next's, Qwen3.5's and GLM-4.5's draft heads are read where a file has them.
//
// Used by the families with this language model (causal_lm/, gemma3/, gemma4/, internvl/, lfm2/, llava/, llava_onevision/, mistral3/,
// qwen2_vl/, qwen3_vl/, smolvlm/). Biases exist if the weights have them (for q, k and v all three or none); tied output projections share
// the embedding table. Prefill runs a layer tile by tile, each tile through attention and MLP before the next. Activations stay O(tile),
// beside the segment's hidden states, keys and values. Dtype fp32, bf16 or (on a GPU) fp16; rounding follows transformers' order of
// operations. Threads: engine thread; methods need c10::InferenceMode. Errors: kDamagedFile naming the tensor (missing, wrong shape, not
// finite); Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/layers/linear.h"
#include "engine/layers/mlp.h"
#include "engine/layers/norm.h"
#include "engine/layers/rotary.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/decoder/device_step.h"
#include "engine/models/decoder/experts_beside.h"
#include "engine/models/decoder/layer_inputs.h"
#include "engine/models/decoder/lent_rows.h"
#include "engine/models/decoder/recurrent_layer.h"
#include "engine/models/vision_language_model.h"
#include "engine/models/weights/weight_reader.h"

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
  std::int64_t hidden_size() const override { return config_.hidden_size; }
  at::Tensor embed(const at::Tensor& ids) const override;
  // Rows that stand for pixels. features: [n, hidden].
  at::Tensor rows_of_pixels(const at::Tensor& features) const;
  void prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions, std::span<const std::int32_t> original, KvCache& cache,
                     PrefillObserver* observer, const AttentionWindow& window, const InterruptToken& interrupt) const override;
  at::Tensor logits(const at::Tensor& hidden) const override;
  at::Tensor decode_together(std::span<StepRow> rows) const override;
  std::optional<KvShape> draft_shape() const override;
  HeadGuess guess(std::span<const DraftRow> rows, KvCache& cache) const override;

 private:
  struct Layer {
    Norm input_norm;
    std::vector<RecurrentLayer> before;
    std::vector<Layer> sliding;  // likewise
    LayerId own;                 // of such a layer: in the cache that lies beside
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;      // d; less than the cache's in a layer with narrow heads
    std::int64_t row = 0;           // the cache's
    std::int64_t stored = 0;        // number in the file
    std::optional<LayerId> lender;  // whose keys and values it reads; none: its own
    Linear qkv;  // [(H + 2 Hkv) * d, hidden]; with an output gate its H * d rows come first; of a layer that borrows the queries alone
    RmsNorm query_norm;  // per head; query and key norm only if configured
    RmsNorm key_norm;
    RmsNorm value_norm;  // without weights; only if configured
    Linear output;
    std::optional<Norm> attention_out_norm;
    Norm mlp_norm;  // unused if the MLP shares the attention's input
    std::optional<Norm> mlp_out_norm;
    Mlp mlp;
    std::optional<ExpertsBeside> experts;
    std::optional<LayerEnd> end;
    double residual_scale = 1.0;  // DecoderConfig's

    // The update of the hidden states from the attention's output, [rows, H, head size of the cache] or of one row without the first
    // dimension. gate: [rows, H * d], or undefined.
    at::Tensor attended(const at::Tensor& attention, const at::Tensor& gate) const;
  };
  // transformer_decoder_draft.cpp
  struct DraftHead {
    Norm embedding_norm{};
    Norm hidden_norm{};
    Linear joined{};  // [hidden, 2 * hidden], of the token after first
    Layer layer{};
    Norm norm{};  // before the model's own output matrix
  };
  Layer read_layer(WeightReader& weights, const std::string& prefix, std::int64_t stored) const;
  std::optional<DraftHead> read_draft_head(WeightReader& weights, const std::string& prefix) const;
  RecurrentLayer read_recurrent_layer(WeightReader& weights, const std::string& prefix) const;
  bool is_recurrent(std::int64_t stored_layer) const {
    return !config_.recurrent.empty() && config_.recurrent[static_cast<std::size_t>(stored_layer)];
  }
  // Rows of a head of query and key: KvCache and kernels have them in this order.
  std::vector<std::int64_t> rows_of_heads(std::int64_t heads, std::int64_t stride) const;
  Linear read_query_key_value(WeightReader& weights, const std::string& prefix, const Layer& layer) const;
  std::shared_ptr<const KeyBias> read_key_bias() const;  // call after the layers are read
  Norm read_norm(WeightReader& weights, const std::string& name) const;
  ExpertMlp read_experts(WeightReader& weights, const std::string& prefix) const;
  // The matrices of <prefix>experts into `mlp`.
  ExpertMlp read_expert_matrices(WeightReader& weights, const std::string& prefix, ExpertMlp mlp, const ExpertConfig& config) const;
  ExpertsBeside read_experts_beside(WeightReader& weights, const std::string& prefix) const;
  ExpertMlp with_experts(ExpertMlp mlp, std::vector<Linear> first, std::vector<Linear> last) const;
  Mlp read_mlp(WeightReader& weights, const std::string& prefix, std::int64_t inner) const;
  // Returns what is still to be added to `hidden`, which takes in what the attention adds if the MLP comes after it. input: what the
  // attention read of it.
  at::Tensor after_attention(const Layer& layer, const at::Tensor& input, const at::Tensor& attended, at::Tensor& hidden) const;
  RmsNorm read_head_norm(WeightReader& weights, const std::string& name, std::int64_t head_dim) const;
  // The layer that rotates as the stored one does and comes last before those that borrow.
  LayerId lender_of(std::int64_t stored) const;
  // True if a layer's values are its keys, before the keys' norm.
  bool value_is_key(const Layer& layer) const { return config_.value_is_key && !layer.lender && !otherwise(layer.stored); }
  bool otherwise(std::int64_t stored) const {
    return !config_.rotated_otherwise.empty() && config_.rotated_otherwise[static_cast<std::size_t>(stored)];
  }
  bool slides_apart(std::int64_t stored) const { return config_.sliding.has_value() && otherwise(stored); }
  // The scheme of a layer, and what turns by it.
  bool rotates_apart(LayerId layer) const { return !rotated_apart_.empty() && rotated_apart_[layer]; }
  const RotaryScheme& scheme_of(LayerId layer) const { return rotates_apart(layer) ? *config_.other_rotary : config_.rotary; }
  // One token each of some conversations through all layers. ids: int64 [n]; rows: their originals, and caches for layers without slots
  // here; empty in a captured step. growth, angles_of(rotary): of their positions; attend: as DeviceStep::Attend, of all rows. Returns
  // logits [n, vocabulary].
  template <class AnglesOf, class Attend>
  at::Tensor run_step(const at::Tensor& ids, std::span<StepRow> rows, const at::Tensor& growth, AnglesOf angles_of, Attend attend) const;
  at::Tensor host_step(std::span<StepRow> rows) const;
  at::Tensor launched_step(StepRow& row) const;
  at::Tensor device_body(const DeviceStep::Token& token, KvCache* cache, const DeviceStep::Attend& attend) const;
  at::Tensor logits_of(const at::Tensor& normalised) const;  // [rows, hidden] -> fp32 [rows, vocabulary]
  at::Tensor scaled_rows(const at::Tensor& ids) const;       // embeddings times embedding_scale
  // Columns that a row brings along after its hidden state, for this layer and later ones.
  std::int64_t columns_behind(LayerId layer) const {
    if (layer < config_.deepstack_layers) return config_.deepstack_layers * config_.hidden_size;
    return inputs_ ? inputs_->source_columns() : 0;
  }
  // The sources of a layer's input in rows [n, width]; undefined if there are none.
  at::Tensor input_of(const Layer& layer, const at::Tensor& rows) const;
  // Layers that borrow, over a segment; hidden as prefill_layer()'s.
  void prefill_borrowing(const at::Tensor& hidden, const at::Tensor& positions, std::int32_t first_original, const KvCache& cache,
                         const InterruptToken& interrupt) const;
  // Over decoded tokens. hidden: [n, hidden], changed in place; embedded: as embed() has it.
  struct StepPlace {
    std::span<StepRow> rows;
    const at::Tensor& embedded;
    const RotaryAngles& angles;
    const RotaryAngles& other_angles;
  };
  void step_borrowing(at::Tensor& hidden, const StepPlace& step) const;
  // The attention of decoded tokens over a layer's slots, their own included. query: [n, H, d], rotated; beside: in the caches that lie
  // beside.
  enum class Slots { kOwn = 1, kBeside = 2 };
  at::Tensor attention_over_slots(const at::Tensor& query, std::span<const StepRow> rows, LayerId layer, Slots slots) const;
  // Layers with slots beside, over a segment and over decoded tokens. Rows as prefill_layer() and step_borrowing() have them; spans: of
  // rows that see each other.
  struct SegmentPlace {
    const at::Tensor& positions;
    std::span<const std::int32_t> original;
    std::span<const RowSpan> spans;
  };
  void prefill_sliding(const Layer& layer, const at::Tensor& hidden, const SegmentPlace& segment, KvCache& cache,
                       const InterruptToken& interrupt) const;
  void step_sliding(const Layer& layer, at::Tensor& hidden, const StepPlace& step) const;
  // Applies the MLP and the layer's end to the rows after the attention.
  void finish_rows(const Layer& layer, const at::Tensor& input, const at::Tensor& attended, at::Tensor& rows, const at::Tensor& own) const;
  // The layers without slots behind the last one that attends, if `layer` is that.
  void prefill_last(LayerId layer, const at::Tensor& hidden, KvCache& cache, const InterruptToken& interrupt) const;
  // By what the queries of such positions grow, of the arithmetic's dtype: [rows, 1, 1], or undefined where they do not. positions: [rows].
  at::Tensor growth_at(const at::Tensor& positions) const;
  // Splits a layer's qkv of each row: the gate [rows, H * d], undefined if there is none, and normalised queries, keys and values
  // [rows, H + 2 Hkv, head size of the cache].
  std::pair<at::Tensor, at::Tensor> split_heads(const Layer& layer, const at::Tensor& product) const;
  // Normalises queries, keys and values per head, in place: qkv [rows, H + 2 Hkv, d].
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
  std::vector<Layer> borrowing_;             // likewise
  std::unique_ptr<LentRows> lent_;           // null where no layer borrows
  std::unique_ptr<LayerInputs> inputs_;      // null where layers have none
  std::shared_ptr<const KeyBias> key_bias_;  // null on a GPU and without biases
  Norm final_norm_;
  Linear head_;  // shares embedding_ if tied
  std::optional<DraftHead> draft_head_;
  std::unique_ptr<DeviceStep> device_step_;  // null on a CPU
};

}  // namespace winnow
