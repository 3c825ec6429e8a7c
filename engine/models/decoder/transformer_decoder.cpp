#include "engine/models/decoder/transformer_decoder.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/kv_cache/stored_rows.h"
#include "engine/layers/attention.h"
#include "engine/layers/row_elements.h"
#include "engine/layers/tiled_attention.h"
#include "engine/layers/window_slots.h"
#include "engine/models/decoder/narrow_heads.h"
#include "engine/models/decoder/past_rows.h"

namespace winnow {
namespace {

// added: what a layer is about to add to its rows; changed in place.
at::Tensor scaled_residual(at::Tensor added, double scale) { return scale == 1.0 ? added : added.mul_(scale); }

}  // namespace

TransformerDecoder::TransformerDecoder(const DecoderConfig& config, WeightReader& weights, const std::string& prefix,
                                       std::int64_t tile_rows)
    : config_(config),
      tile_rows_(tile_rows > 0               ? tile_rows
                 : weights.device().is_cpu() ? kTileRows
                                             : kDeviceTileRows),
      scale_(config.attention_scale > 0.0 ? config.attention_scale : 1.0 / std::sqrt(static_cast<double>(config.head_dim))),
      rotary_(config.head_dim, config.rotary, weights.dtype(), weights.device()),
      windows_(config.windows),
      dtype_(weights.dtype()),
      device_(weights.device()) {
  require(tile_rows >= 0, "a prefill tile has at least one row");
  require(config.recurrent.empty() || config.deepstack_layers == 0, "layers without slots read no deepstack features");
  require(config.residual_scale == 1.0 || (config.recurrent.empty() && config.mlp_place == MlpPlace::kAfterAttention),
          "layers that add a share of what they find are of a plain decoder");
  if (config.other_rotary) {
    other_rotary_.emplace(config.sliding ? config.sliding->head_dim : config.head_dim, *config.other_rotary, dtype_, device_);
  }
  if (config.other_rotary && !config.sliding) {
    std::vector<bool> own = config.rotated_otherwise;
    own.resize(own.size() - static_cast<std::size_t>(config.borrowing_layers));
    rotated_apart_ = PerLayer<bool>(std::move(own));
  }
  require(config.borrowing_layers == 0 || (config.recurrent.empty() && config.deepstack_layers == 0 && !config.output_gate &&
                                           config.mlp_place == MlpPlace::kAfterAttention),
          "layers that borrow keys are of a plain decoder");
  require(!config.sliding || (config.recurrent.empty() && config.borrowing_layers == 0 && config.deepstack_layers == 0 &&
                              !config.output_gate && config.mlp_place == MlpPlace::kAfterAttention && config.layer_factor),
          "layers with KV heads of their own are Gemma 4's");
  embedding_ = weights.table(prefix + std::string(config.names.embedding), config.vocabulary, config.hidden_size);
  std::vector<Layer> sliding;
  LayerId own{0};
  for (std::int64_t stored = 0; stored < config.layers; ++stored) {
    const std::string name = prefix + std::string(config.names.layers) + std::to_string(stored) + ".";
    if (is_recurrent(stored)) {
      last_.push_back(read_recurrent_layer(weights, name));
    } else if (slides_apart(stored)) {
      sliding.push_back(read_layer(weights, name, stored));
      sliding.back().own = own;
      ++own;
    } else if (stored >= config.layers - config.borrowing_layers) {
      borrowing_.push_back(read_layer(weights, name, stored));
    } else {
      layers_.push_back(read_layer(weights, name, stored));
      layers_[LayerId(layers() - 1)].before = std::exchange(last_, {});
      layers_[LayerId(layers() - 1)].sliding = std::exchange(sliding, {});
    }
  }
  require(sliding.empty(), "the last layer looks back over everything");
  if (!borrowing_.empty()) lent_ = std::make_unique<LentRows>();
  if (config.layer_inputs) inputs_ = std::make_unique<LayerInputs>(config, weights, prefix);
  final_norm_ = read_norm(weights, prefix + std::string(config.names.final_norm));
  // A folder that ties the two and still stores the head means what it stores (transformers 5 reads it the same way).
  if (config.tie_word_embeddings && !weights.has(prefix + "lm_head.weight")) {
    head_.weight = embedding_;
  } else {
    head_.weight = weights.table(prefix + "lm_head", config.vocabulary, config.hidden_size);
  }
  draft_head_ = read_draft_head(weights, prefix);
  if (weights.narrows_cache()) storage_ = KvStorage::kHalf;
  key_bias_ = read_key_bias();
  if (device_.is_cpu()) return;
  // The host routes mixtures of experts, a fork's states and what lies beside it lie elsewhere, and layers that borrow ask the cache
  // itself.
  const bool launched = config_.experts || config_.experts_beside || config_.sliding || !config_.recurrent.empty() || !borrowing_.empty();
  const auto capture = launched ? DeviceStep::Capture::kNever : DeviceStep::Capture::kRepeatedSteps;
  const auto step = [this](const DeviceStep::Token& token, KvCache* cache, const DeviceStep::Attend& attend) {
    return device_body(token, cache, attend);
  };
  device_step_ = std::make_unique<DeviceStep>(step, scale_, layers(), device_, capture);
}

KvShape TransformerDecoder::kv_shape() const {
  // Keys of which some do not rotate, or not as wide, have no rotation that could be removed from all of them.
  const bool all_rotate = !config_.other_rotary || (config_.other_rotary->theta > 0.0 && config_.other_head_dim == 0);
  const RotaryScheme rotary = all_rotate ? config_.rotary : RotaryScheme{};
  KvShape shape{layers(), config_.kv_heads, config_.head_dim, dtype_, device_, rotary, windows_, storage_};
  shape.key_bias = key_bias_;
  if (config_.sliding) {
    for (const Layer& layer : layers_) shape.sliding_with.push_back(std::ssize(layer.sliding));
    const auto [kv_heads, head_dim, window] = *config_.sliding;
    const std::int64_t count = config_.layers - layers();
    KvShape beside{count, kv_heads, head_dim, dtype_, device_, *config_.other_rotary, PerLayer<std::int64_t>::of(count, window), storage_};
    shape.sliding = std::make_shared<const KvShape>(std::move(beside));
  }
  if (config_.recurrent.empty()) return shape;
  for (const Layer& layer : layers_) shape.states_with.push_back(std::ssize(layer.before));
  shape.states_with[LayerId(layers() - 1)] += std::ssize(last_);
  shape.state = config_.state();
  return shape;
}

// A norm of each head would take the bias along; a layer that rotates otherwise keeps its own.
std::shared_ptr<const KeyBias> TransformerDecoder::read_key_bias() const {
  if (!device_.is_cpu() || config_.query_key_norm || config_.rotary.theta <= 0.0) return nullptr;
  KeyBias bias{{}, config_.rotary, turn_frequencies(config_.head_dim, config_.rotary)};
  bool any = false;
  for (LayerId layer{0}; layer < layers(); ++layer) {
    bias.of_layers.push_back({});
    const at::Tensor& all = layers_[layer].qkv.bias;
    if (!all.defined() || rotates_apart(layer)) continue;
    const at::Tensor of_keys = all.narrow(0, config_.heads * config_.head_dim, config_.kv_heads * config_.head_dim);
    const at::Tensor strong = strong_bias(of_keys.to(at::kFloat).view({config_.kv_heads, config_.head_dim}));
    if (!strong.ne(0).any().item<bool>()) continue;
    bias.of_layers[layer] = strong;
    any = true;
  }
  return any ? std::make_shared<const KeyBias>(std::move(bias)) : nullptr;
}

at::Tensor TransformerDecoder::scaled_rows(const at::Tensor& ids) const {
  const at::Tensor rows = embedding_.rows(ids);
  return config_.embedding_scale == 1.0 ? rows : rows * at::scalar_tensor(config_.embedding_scale, rows.options());
}

at::Tensor TransformerDecoder::embed(const at::Tensor& ids) const {
  const at::Tensor rows = scaled_rows(ids);
  if (inputs_) return inputs_->with_sources(rows, ids);
  return config_.deepstack_layers == 0
             ? rows
             : at::constant_pad_nd(rows, {0, config_.deepstack_layers * config_.hidden_size});  // words bring nothing along
}

at::Tensor TransformerDecoder::rows_of_pixels(const at::Tensor& features) const {
  return inputs_ ? inputs_->with_sources_of_pixels(features) : features;
}

std::pair<at::Tensor, at::Tensor> TransformerDecoder::split_heads(const Layer& layer, const at::Tensor& product) const {
  const std::int64_t gates = config_.output_gate ? config_.heads * layer.head_dim : 0;
  const at::Tensor rest = gates > 0 ? product.narrow(1, gates, product.size(1) - gates) : product;
  at::Tensor heads = rest.view({product.size(0), -1, layer.head_dim});
  if (value_is_key(layer)) heads = at::cat({heads, heads.narrow(1, config_.heads, layer.kv_heads)}, 1);
  normalise_heads(layer, heads);
  if (layer.head_dim < layer.row) heads = widened_heads(heads, layer.row);
  return {gates > 0 ? product.narrow(1, 0, gates) : at::Tensor(), heads};
}

at::Tensor TransformerDecoder::Layer::attended(const at::Tensor& attention, const at::Tensor& gate) const {
  const std::int64_t in = output.weight.in();
  const bool narrow = head_dim < attention.size(-1);
  const at::Tensor heads =
      narrow ? narrowed_heads(attention.view({-1, in / head_dim, attention.size(-1)}), head_dim).flatten(1) : attention.view({-1, in});
  at::Tensor open = gate.defined() ? gate.clone() : at::Tensor();
  if (open.defined()) change_rows(open, [](at::Tensor& rows) { rows.sigmoid_(); });
  const at::Tensor out = output(open.defined() ? heads * open : heads);
  return scaled_residual(attention_out_norm ? (*attention_out_norm)(out) : out, residual_scale);
}

void TransformerDecoder::normalise_heads(const Layer& layer, at::Tensor& qkv) const {
  if (!config_.query_key_norm) return;
  at::Tensor query = qkv.narrow(1, 0, config_.heads);
  layer.query_norm.in_place(query);
  if (layer.lender) return;
  at::Tensor key = qkv.narrow(1, config_.heads, layer.kv_heads);
  layer.key_norm.in_place(key);
  if (!config_.value_norm) return;
  at::Tensor value = qkv.narrow(1, config_.heads + layer.kv_heads, layer.kv_heads);
  layer.value_norm.in_place(value);
}

at::Tensor TransformerDecoder::after_attention(const Layer& layer, const at::Tensor& input, const at::Tensor& attended,
                                               at::Tensor& hidden) const {
  switch (config_.mlp_place) {
    case MlpPlace::kAfterAttention: {
      at::Tensor added = layer.mlp(layer.mlp_norm.after_adding(hidden, attended));
      if (layer.experts) added = layer.experts->add_to(added, hidden);
      return scaled_residual(layer.mlp_out_norm ? (*layer.mlp_out_norm)(added) : added, layer.residual_scale);
    }
    case MlpPlace::kBesideAttention: return layer.mlp(input).add_(attended);
    case MlpPlace::kBesideWithNorm: return layer.mlp(layer.mlp_norm(hidden)).add_(attended);
  }
  throw Exception(ErrorCode::kInternal, "", "an MLP in an unknown place");
}

at::Tensor TransformerDecoder::input_of(const Layer& layer, const at::Tensor& rows) const {
  return inputs_ ? inputs_->of_layer(layer.stored, rows.narrow(1, config_.hidden_size, inputs_->source_columns())) : at::Tensor();
}

void TransformerDecoder::finish_rows(const Layer& layer, const at::Tensor& input, const at::Tensor& attended, at::Tensor& rows,
                                     const at::Tensor& own) const {
  rows.add_(after_attention(layer, input, attended, rows));
  if (layer.end) layer.end->finish(rows, own);
}

void TransformerDecoder::prefill_borrowing(const at::Tensor& hidden, const at::Tensor& positions, std::int32_t first_original,
                                           const KvCache& cache, const InterruptToken& interrupt) const {
  for (std::int64_t first = 0, count = 0; first < hidden.size(0); first += count) {
    count = std::min(tile_rows_, hidden.size(0) - first);
    const at::Tensor whole = hidden.narrow(0, first, count);
    at::Tensor tile = whole.narrow(1, 0, config_.hidden_size);
    const RotaryAngles angles = rotary_.angles(positions.narrow(1, first, count));
    const RotaryAngles other_angles = other_rotary_ ? other_rotary_->angles(positions.narrow(1, first, count)) : angles;
    for (const Layer& layer : borrowing_) {
      interrupt.throw_if_requested();
      const LentRows::Rows& lent = lent_->of(*layer.lender, cache, first_original);
      const at::Tensor input = layer.input_norm(tile);
      const at::Tensor heads = split_heads(layer, layer.qkv(input)).second;
      at::Tensor query = at::empty(heads.sizes(), heads.options());
      apply_rotary(heads, rotates_apart(*layer.lender) ? other_angles : angles, query);
      const AttentionWindow seen{cache.shape().window(*layer.lender)};
      const AttentionResult attention = prefill_attention(query, lent.key, lent.value, first, lent.past, scale_, seen);
      finish_rows(layer, input, layer.attended(attention.output, {}), tile, input_of(layer, whole));
    }
  }
  lent_->clear();
}

void TransformerDecoder::prefill_last(LayerId layer, const at::Tensor& hidden, KvCache& cache, const InterruptToken& interrupt) const {
  if (layer + 1 < layers()) return;
  std::int64_t state = std::ssize(layers_[layer].before);
  for (const RecurrentLayer& recurrent : last_) recurrent.prefill(hidden, tile_rows_, cache.states().to_write(layer, state++), interrupt);
}

void TransformerDecoder::prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions,
                                       std::span<const std::int32_t> original, KvCache& cache, PrefillObserver* observer,
                                       const AttentionWindow& window, const InterruptToken& interrupt) const {
  require(layer >= 0 && layer < layers(), "prefill: no such layer");
  const std::int64_t deepstack = layer < config_.deepstack_layers ? config_.deepstack_layers : 0;
  require(hidden.dim() == 2 && hidden.size(0) > 0 && hidden.size(1) == config_.hidden_size + columns_behind(layer),
          "prefill: hidden states do not fit the model");
  require(positions.dim() == 2 && positions.size(0) == config_.rotary.axes() && positions.size(1) == hidden.size(0),
          "prefill: one position per token and axis");
  require(std::ssize(original) == hidden.size(0), "prefill: one original index per token");
  const Layer& weights = layers_[layer];
  for (std::size_t i = 0; i < weights.before.size(); ++i)
    weights.before[i].prefill(hidden, tile_rows_, cache.states().to_write(layer, static_cast<std::int64_t>(i)), interrupt);
  for (const Layer& sliding : weights.sliding)
    prefill_sliding(sliding, hidden, {positions, original, window.bidirectional}, cache, interrupt);
  const std::int64_t rows = hidden.size(0);
  const std::int64_t heads = config_.heads;
  const std::int64_t kv_heads = config_.kv_heads;
  const std::int64_t head_dim = config_.head_dim;
  const bool viewed = observer != nullptr && observer->wants_views();
  const bool outputs = viewed && observer->wants_outputs();
  const bool kept = observer == nullptr || observer->keeps_rows();
  const bool ends = !kept && layer + 1 == layers();
  const std::int64_t reach = cache.shape().window(layer);
  require(window.tokens == 0 || (!viewed && reach == 0), "prefill: statistics are rebuilt from causal attention");

  if (lent_ && layer == 0) lent_->clear();
  if (layer == 0 && config_.input_scale != 1.0) hidden.mul_(config_.input_scale);
  const PastKeyValues past = past_rows(cache, layer, original.front(), viewed);
  at::Tensor key = at::empty({kv_heads, rows, head_dim}, hidden.options());
  at::Tensor value = at::empty({kv_heads, rows, head_dim}, hidden.options());
  at::Tensor all_queries = viewed ? at::empty({heads, rows, head_dim}, hidden.options()) : at::Tensor();
  at::Tensor all_lse = viewed ? at::empty({heads, rows}, hidden.options().dtype(at::kFloat)) : at::Tensor();
  at::Tensor input_norms = outputs ? at::empty({rows}, hidden.options().dtype(at::kFloat)) : at::Tensor();

  // Tiles of equal length rather than full ones and a rest: a short last product would waste the threads. Rows that see each other stay in
  // one: the later ones' keys have to be there.
  const std::int64_t tiles = (rows + tile_rows_ - 1) / tile_rows_;
  const std::int64_t tile_rows = (rows + tiles - 1) / tiles;
  // If layers with a window have KV heads of their own, pictures see themselves in those alone.
  const AttentionWindow seen = reach > 0         ? AttentionWindow{reach, 0, window.bidirectional}
                               : config_.sliding ? AttentionWindow{window.tokens, window.lead}
                                                 : window;
  const at::Tensor growth = growth_at(positions.select(0, 0));
  ReceivedAttention received;
  const std::int64_t shortest = rows - (tiles - 1) * tile_rows;
  if (viewed && past.empty() && seen == AttentionWindow{} &&
      causal_attention_takes(all_queries.narrow(1, 0, shortest).transpose(0, 1), kv_heads)) {
    received = ReceivedAttention::of(observer->wants_received(), heads, kv_heads, rows);
  }
  for (std::int64_t first = 0, count = 0; first < rows; first += count) {
    interrupt.throw_if_requested();
    count = std::min(tile_rows, rows - first);
    if (const RowSpan* cut = span_of(seen.bidirectional, first + count - 1)) count = cut->end() - first;
    const at::Tensor whole = hidden.narrow(0, first, count);
    at::Tensor tile = whole.narrow(1, 0, config_.hidden_size);

    const at::Tensor input = weights.input_norm(tile);
    if (outputs) input_norms.narrow(0, first, count).copy_(at::linalg_vector_norm(input.to(at::kFloat), 2, at::IntArrayRef{1}));
    const auto [gate, qkv] = split_heads(weights, weights.qkv(input));
    if (growth.defined()) qkv.narrow(1, 0, heads).mul_(growth.narrow(0, first, count));
    const RotaryAngles angles = (rotates_apart(layer) ? *other_rotary_ : rotary_).angles(positions.narrow(1, first, count));
    at::Tensor query = viewed ? all_queries.narrow(1, first, count).transpose(0, 1) : at::empty({count, heads, head_dim}, hidden.options());
    at::Tensor tile_key = key.narrow(1, first, count).transpose(0, 1);
    apply_rotary(qkv.narrow(1, 0, heads), angles, query);
    apply_rotary(qkv.narrow(1, heads, kv_heads), angles, tile_key);
    value.narrow(1, first, count).copy_(qkv.narrow(1, heads + kv_heads, kv_heads).transpose(0, 1));
    round_as_stored(key.narrow(1, first, count), cache.shape().storage);
    round_as_stored(value.narrow(1, first, count), cache.shape().storage);

    const AttentionResult attention = received.wanted() ? causal_attention({query, key, value, first, scale_}, received)
                                                        : prefill_attention(query, key, value, first, past, scale_, seen);
    if (viewed) all_lse.narrow(1, first, count).copy_(attention.log_sum_exp);
    if (ends) continue;
    const at::Tensor attended = weights.attended(attention.output, gate);
    interrupt.throw_if_requested();
    finish_rows(weights, input, attended, tile, input_of(weights, whole));
    if (deepstack > 0) tile.add_(hidden.narrow(0, first, count).narrow(1, (layer + 1) * config_.hidden_size, config_.hidden_size));
  }
  if (deepstack > 0 && layer + 1 == deepstack) hidden = hidden.narrow(1, 0, config_.hidden_size).contiguous();

  if (kept) append_seen(cache, layer, {key, value, original, positions});
  const bool lends = std::ranges::any_of(borrowing_, [&](const Layer& each) { return *each.lender == layer; });
  if (lends) lent_->lend(layer, {&cache, original.front(), past, key, value});
  if (layer + 1 == layers() && lent_ && !ends) prefill_borrowing(hidden, positions, original.front(), cache, interrupt);
  if (ends && lent_) lent_->clear();
  if (layer + 1 == layers() && inputs_) hidden = hidden.narrow(1, 0, config_.hidden_size).contiguous();
  if (!ends) prefill_last(layer, hidden, cache, interrupt);
  if (!viewed) return;
  synchronize_device();  // observers take their own time; what is still running is not theirs
  LinearWeight wide_output;
  LayerView view{layer, all_queries, key, value, past.keys, all_lse, scale_, positions, scheme_of(layer)};
  view.window = past.window;
  view.received = received;
  view.bidirectional = seen.bidirectional;
  if (outputs) {
    view.past_values = past.values;
    view.input_norms = input_norms;
    if (weights.head_dim < head_dim) {
      const at::Tensor narrow = weights.output.weight.columns(0, weights.output.weight.in());
      wide_output = LinearWeight(widened_heads(narrow.contiguous().view({-1, heads, weights.head_dim}), head_dim).flatten(1));
    }
    view.output_weight = wide_output.defined() ? &wide_output : &weights.output.weight;
  }
  observer->on_layer(view);
}

at::Tensor TransformerDecoder::logits(const at::Tensor& hidden) const { return logits_of(final_norm_(hidden)); }

at::Tensor TransformerDecoder::logits_of(const at::Tensor& normalised) const {
  at::Tensor logits = head_.weight.times_in_fp32(normalised);
  if (config_.logit_divisor != 1.0) logits.div_(config_.logit_divisor);
  const double cap = config_.logit_cap;
  if (cap > 0.0) change_rows(logits, [cap](at::Tensor& rows) { rows.div_(cap).tanh_().mul_(cap); });
  return logits;
}

// transformers multiplies what is rotated; rotation is linear, and so a 16-bit query may differ in its last bit.
at::Tensor TransformerDecoder::growth_at(const at::Tensor& positions) const {
  if (!config_.query_growth) return {};
  const auto [strength, step] = *config_.query_growth;
  return at::div(positions, step, "floor")
      .to(at::TensorOptions(device_).dtype(at::kFloat))
      .add(1)
      .log()
      .mul(strength)
      .add(1)
      .to(dtype_)
      .view({-1, 1, 1});
}

}  // namespace winnow
