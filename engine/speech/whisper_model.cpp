#include "engine/speech/whisper_model.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/layers/attention.h"

namespace winnow {
namespace {

constexpr double kNormEpsilon = 1e-5;
constexpr std::int64_t kKernel = 3;

// Key projections have no bias: zeros stand for it where a fused matrix has one.
at::Tensor joined_biases(WeightReader& weights, const std::vector<WeightReader::Part>& parts) {
  std::vector<at::Tensor> biases;
  for (const WeightReader::Part& part : parts) {
    const bool has = !part.prefix.ends_with("k_proj");
    biases.push_back(has ? weights.tensor(part.prefix + ".bias", {part.out})
                         : at::zeros({part.out}, at::TensorOptions(weights.device()).dtype(weights.dtype())));
  }
  return biases.size() == 1 ? biases.front() : at::cat(biases);
}

}  // namespace

WhisperModel::WhisperModel(const WhisperConfig& config, WeightReader& weights) : config_(config) {
  const std::int64_t width = config.width;
  const std::string encoder = "model.encoder.";
  const std::string decoder = "model.decoder.";
  first_kernel_ = weights.tensor(encoder + "conv1.weight", {width, config.mel_bins, kKernel});
  first_bias_ = weights.tensor(encoder + "conv1.bias", {width});
  second_kernel_ = weights.tensor(encoder + "conv2.weight", {width, width, kKernel});
  second_bias_ = weights.tensor(encoder + "conv2.bias", {width});
  source_positions_ = weights.tensor(encoder + "embed_positions.weight", {config.source_positions, width});
  for (std::int64_t layer = 0; layer < config.encoder.layers; ++layer)
    encoder_.push_back(read_layer(weights, Side::kEncoder, encoder + "layers." + std::to_string(layer) + "."));
  encoder_norm_ = weights.layer_norm(encoder + "layer_norm", width, kNormEpsilon);
  embedding_ = weights.table(decoder + "embed_tokens", config.vocabulary, width);
  target_positions_ = weights.tensor(decoder + "embed_positions.weight", {config.target_positions, width});
  for (std::int64_t layer = 0; layer < config.decoder.layers; ++layer)
    decoder_.push_back(read_decoder_layer(weights, decoder + "layers." + std::to_string(layer) + "."));
  decoder_norm_ = weights.layer_norm(decoder + "layer_norm", width, kNormEpsilon);
}

Linear WhisperModel::matrices(WeightReader& weights, Side side, const std::vector<WeightReader::Part>& parts, std::int64_t in) const {
  constexpr auto kNone = WeightReader::Bias::kNone;
  Linear layer = side == Side::kEncoder ? weights.tower_linear(parts, in, kNone) : weights.packable_linear(parts, in, kNone);
  layer.bias = joined_biases(weights, parts);
  return layer;
}

WhisperModel::Attention WhisperModel::read_attention(WeightReader& weights, Side side, const std::string& layer) const {
  const std::int64_t width = config_.width;
  const std::string own = layer + "self_attn.";
  Attention attention;
  attention.norm = weights.layer_norm(layer + "self_attn_layer_norm", width, kNormEpsilon);
  attention.query_key_value = matrices(weights, side, {{own + "q_proj", width}, {own + "k_proj", width}, {own + "v_proj", width}}, width);
  attention.output = matrices(weights, side, {{own + "out_proj", width}}, width);
  return attention;
}

WhisperModel::Layer WhisperModel::read_layer(WeightReader& weights, Side side, const std::string& prefix) const {
  const std::int64_t width = config_.width;
  const std::int64_t inner = side == Side::kEncoder ? config_.encoder.intermediate : config_.decoder.intermediate;
  Layer layer;
  layer.own = read_attention(weights, side, prefix);
  layer.mlp_norm = weights.layer_norm(prefix + "final_layer_norm", width, kNormEpsilon);
  layer.mlp.first = matrices(weights, side, {{prefix + "fc1", inner}}, width);
  layer.mlp.second = matrices(weights, side, {{prefix + "fc2", width}}, inner);
  return layer;
}

WhisperModel::DecoderLayer WhisperModel::read_decoder_layer(WeightReader& weights, const std::string& prefix) const {
  const std::int64_t width = config_.width;
  const std::string sound = prefix + "encoder_attn.";
  DecoderLayer layer;
  layer.layer = read_layer(weights, Side::kDecoder, prefix);
  layer.sound_norm = weights.layer_norm(prefix + "encoder_attn_layer_norm", width, kNormEpsilon);
  layer.sound_query = matrices(weights, Side::kDecoder, {{sound + "q_proj", width}}, width);
  layer.sound_key_value = matrices(weights, Side::kDecoder, {{sound + "k_proj", width}, {sound + "v_proj", width}}, width);
  layer.sound_output = matrices(weights, Side::kDecoder, {{sound + "out_proj", width}}, width);
  return layer;
}

double WhisperModel::scale() const { return 1.0 / std::sqrt(static_cast<double>(config_.head_dim())); }

at::Tensor WhisperModel::heads_of(const at::Tensor& rows, std::int64_t part, std::int64_t parts) const {
  return rows.view({1, rows.size(0), parts, config_.encoder.heads, config_.head_dim()}).select(2, part).transpose(1, 2);
}

at::Tensor WhisperModel::encode(const at::Tensor& features, const InterruptToken& interrupt) const {
  require(features.dim() == 2 && features.size(0) == config_.mel_bins && features.size(1) == config_.window_frames(),
          "speech: a window of features has the model's size");
  const at::Tensor input = features.to(first_kernel_.options()).unsqueeze(0);
  const at::Tensor first = at::gelu(at::conv1d(input, first_kernel_, first_bias_, 1, 1));
  const at::Tensor second = at::gelu(at::conv1d(first, second_kernel_, second_bias_, 2, 1));
  at::Tensor hidden = second.select(0, 0).t().add(source_positions_);
  for (const Layer& layer : encoder_) {
    interrupt.throw_if_requested();
    const at::Tensor rows = layer.own.query_key_value(layer.own.norm(hidden));
    const AttentionResult attended =
        attention_with_lse(heads_of(rows, 0, 3), heads_of(rows, 1, 3), heads_of(rows, 2, 3), Mask::kNone, scale());
    hidden.add_(layer.own.output(attended.output.transpose(1, 2).reshape({-1, config_.width})));
    hidden.add_(layer.mlp(layer.mlp_norm(hidden)));
  }
  return encoder_norm_(hidden);
}

WhisperModel::Window::Window(const WhisperModel& model, const at::Tensor& states) : model_(model) {
  const WhisperConfig& config = model.config_;
  for (const DecoderLayer& layer : model.decoder_) {
    const at::Tensor rows = layer.sound_key_value(states);
    sound_.push_back({model.heads_of(rows, 0, 2).contiguous(), model.heads_of(rows, 1, 2).contiguous()});
    const auto room = [&] { return at::empty({1, config.decoder.heads, config.target_positions, config.head_dim()}, states.options()); };
    own_.push_back({room(), room()});
  }
}

at::Tensor WhisperModel::Window::attend_own(std::size_t layer, const at::Tensor& hidden) {
  const Attention& own = model_.decoder_[layer].layer.own;
  const at::Tensor rows = own.query_key_value(own.norm(hidden));
  const std::int64_t count = rows.size(0);
  own_[layer].keys.narrow(2, tokens_, count).copy_(model_.heads_of(rows, 1, 3));
  own_[layer].values.narrow(2, tokens_, count).copy_(model_.heads_of(rows, 2, 3));
  const Mask mask = count > 1 ? Mask::kCausal : Mask::kNone;
  const AttentionResult attended = attention_with_lse(model_.heads_of(rows, 0, 3), own_[layer].keys.narrow(2, 0, tokens_ + count),
                                                      own_[layer].values.narrow(2, 0, tokens_ + count), mask, model_.scale());
  return own.output(attended.output.transpose(1, 2).reshape({count, model_.config_.width}));
}

at::Tensor WhisperModel::Window::attend_sound(std::size_t layer, const at::Tensor& hidden) const {
  const DecoderLayer& of = model_.decoder_[layer];
  const at::Tensor query = model_.heads_of(of.sound_query(of.sound_norm(hidden)), 0, 1);
  const AttentionResult attended = attention_with_lse(query, sound_[layer].keys, sound_[layer].values, Mask::kNone, model_.scale());
  return of.sound_output(attended.output.transpose(1, 2).reshape({hidden.size(0), model_.config_.width}));
}

at::Tensor WhisperModel::Window::rows_of(std::span<const std::int64_t> tokens, Rows rows) {
  const auto count = std::ssize(tokens);
  require(count == 1 || (count > 1 && tokens_ == 0), "speech: behind the prompt comes one token at a time");
  require(tokens_ + count <= model_.config_.target_positions, "speech: a window has no room for more tokens");
  at::Tensor hidden = model_.embedding_.rows(index_on(model_.target_positions_.device(), tokens))
                          .to(model_.target_positions_.scalar_type())
                          .add(model_.target_positions_.narrow(0, tokens_, count));
  for (std::size_t layer = 0; layer < model_.decoder_.size(); ++layer) {
    hidden.add_(attend_own(layer, hidden));
    hidden.add_(attend_sound(layer, hidden));
    const Layer& of = model_.decoder_[layer].layer;
    hidden.add_(of.mlp(of.mlp_norm(hidden)));
  }
  tokens_ += count;
  const at::Tensor wanted = rows == Rows::kAll ? hidden : hidden.narrow(0, count - 1, 1);
  return model_.embedding_.times_in_fp32(model_.decoder_norm_(wanted)).to(at::kCPU);
}

}  // namespace winnow
