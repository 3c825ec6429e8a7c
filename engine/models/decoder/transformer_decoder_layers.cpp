// How a decoder reads its layers: norms, joined matrices and their order, as its configuration names them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/models/config/head_order.h"
#include "engine/models/decoder/mixer_weights.h"
#include "engine/models/decoder/transformer_decoder.h"

namespace winnow {
namespace {

WeightReader::Bias bias_if(bool has) { return has ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone; }

// Names say which products have a bias, and what one layer has all have: a file that lacks one of them is damaged. layer: its prefix,
// "model.layers.3.".
bool biased_in_some_layer(const WeightReader& weights, const std::string& layer, std::int64_t layers, std::string_view product) {
  const std::string before = layer.substr(0, layer.rfind('.', layer.size() - 2) + 1);
  for (std::int64_t each = 0; each < layers; ++each) {
    if (weights.has(before + std::to_string(each) + "." + std::string(product) + ".bias")) return true;
  }
  return false;
}

// Stored rows of q, k and v, one after the other, where each kv head's rows lie together; empty: in this order already.
std::vector<std::int64_t> grouped_rows(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
  if (kv_heads == 1) return {};
  const std::int64_t queries = heads / kv_heads;
  std::vector<std::int64_t> rows;
  const auto add = [&](std::int64_t group, std::int64_t place) {
    for (std::int64_t i = 0; i < head_dim; ++i) rows.push_back((group * (queries + 2) + place) * head_dim + i);
  };
  for (std::int64_t head = 0; head < heads; ++head) add(head / queries, head % queries);
  for (std::int64_t group = 0; group < kv_heads; ++group) add(group, queries);
  for (std::int64_t group = 0; group < kv_heads; ++group) add(group, queries + 1);
  return rows;
}

}  // namespace

Norm TransformerDecoder::read_norm(WeightReader& weights, const std::string& name) const {
  if (config_.norm == NormKind::kLayer) return {weights.layer_norm(name, config_.hidden_size, config_.norm_eps)};
  if (config_.norm == NormKind::kCentredRms) return {weights.centred_rms_norm(name, config_.hidden_size, config_.norm_eps)};
  if (config_.norm == NormKind::kWideRms) return {weights.wide_rms_norm(name, config_.hidden_size, config_.norm_eps)};
  return {weights.rms_norm(name, config_.hidden_size, config_.norm_eps)};
}

LayerId TransformerDecoder::lender_of(std::int64_t stored) const {
  std::int64_t lender = layers() - 1;
  while (lender > 0 && rotates_apart(LayerId(lender)) != otherwise(stored)) --lender;
  require(rotates_apart(LayerId(lender)) == otherwise(stored), "a layer that borrows keys has one to borrow them from");
  return LayerId(lender);
}

RmsNorm TransformerDecoder::read_head_norm(WeightReader& weights, const std::string& name, std::int64_t head_dim) const {
  RmsNorm norm = config_.norm == NormKind::kCentredRms ? weights.centred_rms_norm(name, head_dim, config_.norm_eps)
                 : config_.norm == NormKind::kWideRms  ? weights.wide_rms_norm(name, head_dim, config_.norm_eps)
                                                       : weights.rms_norm(name, head_dim, config_.norm_eps);
  if (config_.reorders_heads())
    norm.weight = norm.weight.index_select(0, numbers_on(device_, head_order(config_.head_dim, config_.rotary.rotated, config_.pairs)));
  return norm;
}

std::vector<std::int64_t> TransformerDecoder::rows_of_heads(std::int64_t heads, std::int64_t stride) const {
  std::vector<std::int64_t> rows;
  const std::vector<std::int64_t> of_head = head_order(config_.head_dim, config_.rotary.rotated, config_.pairs);
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const std::int64_t row : of_head) rows.push_back(head * stride + row);
  }
  return rows;
}

Linear TransformerDecoder::read_query_key_value(WeightReader& weights, const std::string& prefix, const Layer& layer) const {
  const DecoderNames& names = config_.names;
  const std::int64_t query_size = config_.heads * layer.head_dim;
  const std::int64_t kv_size = layer.kv_heads * layer.head_dim;
  std::vector<WeightReader::Part> parts;
  if (layer.lender) {
    parts = {{prefix + std::string(names.query), query_size}};
  } else if (!names.query_key_value.empty()) {
    parts = {{prefix + std::string(names.query_key_value), query_size + 2 * kv_size,
              grouped_rows(config_.heads, config_.kv_heads, config_.head_dim)}};
  } else {
    parts = {{prefix + std::string(names.query), query_size},
             {prefix + std::string(names.key), kv_size},
             {prefix + std::string(names.value), kv_size}};
    if (value_is_key(layer)) parts.pop_back();
    if (config_.reorders_heads()) {
      parts[0].row_of = rows_of_heads(config_.heads, config_.head_dim);
      parts[1].row_of = rows_of_heads(config_.kv_heads, config_.head_dim);
    }
    if (config_.output_gate) {  // stored head by head, its query before its gate
      std::vector<std::int64_t> gates_first;
      for (std::int64_t row = 0; row < query_size; ++row)
        gates_first.push_back((row / config_.head_dim * 2 + 1) * config_.head_dim + row % config_.head_dim);
      const std::vector<std::int64_t> queries = rows_of_heads(config_.heads, 2 * config_.head_dim);
      gates_first.insert(gates_first.end(), queries.begin(), queries.end());
      parts[0].out = 2 * query_size;
      parts[0].row_of = std::move(gates_first);
    }
  }
  const bool biased = std::ranges::any_of(parts, [&](const WeightReader::Part& part) {
    return biased_in_some_layer(weights, prefix, config_.layers, part.prefix.substr(prefix.size()));
  });
  return weights.packable_linear(parts, config_.hidden_size, bias_if(biased));
}

Mlp TransformerDecoder::read_mlp(WeightReader& weights, const std::string& prefix, std::int64_t inner) const {
  for (const char* place : {"mlp.", "block_sparse_moe."}) {  // the second is Mixtral's
    if (config_.experts && weights.has(prefix + place + "gate.weight")) return {read_experts(weights, prefix + place)};
  }
  const std::int64_t hidden = config_.hidden_size;
  const bool fused = !config_.names.gate_up.empty();
  const std::string up = prefix + std::string(fused ? config_.names.gate_up : config_.names.up);
  const std::string down = prefix + std::string(config_.names.down);
  const auto bias_of = [&](std::string_view product) { return bias_if(biased_in_some_layer(weights, prefix, config_.layers, product)); };
  const Linear last = weights.packable_linear({{down, hidden}}, inner, bias_of(config_.names.down));
  const auto bias = bias_of(fused ? config_.names.gate_up : config_.names.up);
  if (fused) return {GatedMlp{weights.packable_linear({{up, 2 * inner}}, hidden, bias), last, config_.activation}};
  if (config_.names.gate.empty()) return {PlainMlp{weights.packable_linear({{up, inner}}, hidden, bias), last, config_.activation}};
  const std::string gate = prefix + std::string(config_.names.gate);
  return {GatedMlp{weights.packable_linear({{gate, inner}, {up, inner}}, hidden, bias), last, config_.activation}};
}

TransformerDecoder::Layer TransformerDecoder::read_layer(WeightReader& weights, const std::string& prefix, std::int64_t stored) const {
  Layer layer;
  layer.stored = stored;
  layer.residual_scale = config_.residual_scale;
  layer.kv_heads = slides_apart(stored) ? config_.sliding->kv_heads : config_.kv_heads;
  layer.row = slides_apart(stored) ? config_.sliding->head_dim : config_.head_dim;
  layer.head_dim = config_.other_head_dim > 0 && otherwise(stored) ? config_.other_head_dim : layer.row;
  if (stored >= config_.layers - config_.borrowing_layers) layer.lender = lender_of(stored);
  const std::int64_t query_size = config_.heads * layer.head_dim;
  layer.input_norm = read_norm(weights, prefix + std::string(config_.names.input_norm));
  layer.qkv = read_query_key_value(weights, prefix, layer);
  if (config_.query_key_norm) {
    layer.query_norm = read_head_norm(weights, prefix + std::string(config_.names.query_norm), layer.head_dim);
    if (!layer.lender) layer.key_norm = read_head_norm(weights, prefix + std::string(config_.names.key_norm), layer.head_dim);
  }
  if (config_.value_norm) layer.value_norm = {at::ones({layer.head_dim}, at::TensorOptions(device_).dtype(dtype_)), config_.norm_eps};
  const std::string output = prefix + std::string(config_.names.output);
  layer.output = weights.packable_linear({{output, config_.hidden_size}}, query_size,
                                         bias_if(biased_in_some_layer(weights, prefix, config_.layers, config_.names.output)));
  if (config_.mlp_place != MlpPlace::kBesideAttention) layer.mlp_norm = read_norm(weights, prefix + std::string(config_.names.mlp_norm));
  const DecoderNames& names = config_.names;
  if (!names.attention_out_norm.empty()) layer.attention_out_norm = read_norm(weights, prefix + std::string(names.attention_out_norm));
  if (!names.mlp_out_norm.empty()) layer.mlp_out_norm = read_norm(weights, prefix + std::string(names.mlp_out_norm));
  layer.mlp = read_mlp(weights, prefix, layer.lender ? config_.borrowing_intermediate_size : config_.intermediate_size);
  if (config_.experts_beside) layer.experts = read_experts_beside(weights, prefix);
  if (config_.layer_factor) layer.end = read_layer_end(config_, weights, prefix);
  return layer;
}

RecurrentLayer TransformerDecoder::read_recurrent_layer(WeightReader& weights, const std::string& prefix) const {
  RecurrentLayer layer{.input_norm = read_norm(weights, prefix + std::string(config_.names.input_norm))};
  const std::string mixer = prefix + std::string(config_.names.mixer) + ".";
  if (config_.short_conv) {
    layer.mixer = read_short_conv(weights, mixer, *config_.short_conv, config_.hidden_size);
  } else {
    layer.mixer = read_gated_delta(weights, mixer, config_.delta, config_.hidden_size, config_.norm_eps);
  }
  layer.mlp_norm = read_norm(weights, prefix + std::string(config_.names.mlp_norm));
  layer.mlp = read_mlp(weights, prefix, config_.intermediate_size);
  return layer;
}

}  // namespace winnow
