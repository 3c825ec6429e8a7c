#include "engine/models/decoder/mixer_weights.h"

#include <utility>
#include <vector>

namespace winnow {
namespace {

// Stored rows, where those of a key head lie together: rows [first, first + count) of its `stride` ones, for one key head after the other.
void add_of_key_heads(std::vector<std::int64_t>& rows, std::int64_t key_heads, std::int64_t stride, std::int64_t first,
                      std::int64_t count) {
  for (std::int64_t head = 0; head < key_heads; ++head) {
    for (std::int64_t i = 0; i < count; ++i) rows.push_back(head * stride + first + i);
  }
}

// Queries, keys, values and gates, of each key head its query, its key, and for its value heads the values and what gates them.
std::vector<std::int64_t> inputs_by_key_head(const DeltaSizes& sizes) {
  const std::int64_t key = sizes.key_dim;
  const std::int64_t values = sizes.values() / sizes.key_heads;
  std::vector<std::int64_t> rows;
  for (const auto& [first, count] :
       {std::pair(std::int64_t{0}, key), std::pair(key, key), std::pair(2 * key, values), std::pair(2 * key + values, values)})
    add_of_key_heads(rows, sizes.key_heads, 2 * (key + values), first, count);
  return rows;
}

// Betas and decays, of each key head its value heads'.
std::vector<std::int64_t> rates_by_key_head(const DeltaSizes& sizes) {
  const std::int64_t served = sizes.value_heads / sizes.key_heads;
  std::vector<std::int64_t> rows;
  for (const std::int64_t first : {std::int64_t{0}, served}) add_of_key_heads(rows, sizes.key_heads, 2 * served, first, served);
  return rows;
}

}  // namespace

GatedDelta read_gated_delta(WeightReader& weights, const std::string& own, const DeltaSizes& sizes, std::int64_t hidden, double epsilon) {
  const auto none = WeightReader::Bias::kNone;
  const auto numbers = [&](const char* name) { return weights.tensor(own + name, {sizes.value_heads}).to(at::kFloat); };
  GatedDelta delta;
  delta.sizes = sizes;
  if (weights.has(own + "in_proj_qkvz.weight")) {  // Qwen3-Next: together, for one key head after the other
    delta.input =
        weights.packable_linear({{own + "in_proj_qkvz", sizes.channels() + sizes.values(), inputs_by_key_head(sizes)}}, hidden, none);
  } else {
    delta.input = weights.packable_linear({{own + "in_proj_qkv", sizes.channels()}, {own + "in_proj_z", sizes.values()}}, hidden, none);
  }
  if (weights.has(own + "in_proj_ba.weight")) {
    delta.rates = weights.linear({{own + "in_proj_ba", 2 * sizes.value_heads, rates_by_key_head(sizes)}}, hidden, none);
  } else {
    delta.rates = weights.linear({{own + "in_proj_b", sizes.value_heads}, {own + "in_proj_a", sizes.value_heads}}, hidden, none);
  }
  const at::Tensor kernel = weights.tensor(own + "conv1d.weight", {sizes.channels(), 1, sizes.kernel});
  delta.convolution = kernel.squeeze(1).t().to(at::kFloat).contiguous();
  delta.decay = weights.has(own + "A") ? numbers("A") : numbers("A_log").exp().neg();
  delta.decay_offset = numbers("dt_bias");
  delta.norm = weights.rms_norm(own + "norm", sizes.value_dim, epsilon);
  delta.output = weights.packable_linear({{own + "out_proj", hidden}}, sizes.values(), none);
  return delta;
}

ShortConv read_short_conv(WeightReader& weights, const std::string& own, const ShortConvSizes& sizes, std::int64_t hidden) {
  const auto bias = sizes.biased ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  ShortConv conv;
  conv.input = weights.packable_linear({{own + "in_proj", 3 * hidden}}, hidden, bias);
  const at::Tensor kernel = weights.tensor(own + "conv.weight", {hidden, 1, sizes.kernel});
  conv.convolution = kernel.squeeze(1).t().to(at::kFloat).contiguous();
  if (sizes.biased) conv.bias = weights.tensor(own + "conv.bias", {hidden}).to(at::kFloat);
  conv.output = weights.packable_linear({{own + "out_proj", hidden}}, hidden, bias);
  return conv;
}

}  // namespace winnow
