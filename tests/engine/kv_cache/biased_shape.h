// Shapes of caches in eight bits whose keys have large biases in a few elements, and such keys.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <memory>
#include <vector>

#include "engine/kv_cache/kv_cache.h"
#include "tests/support/kv_shape.h"

namespace winnow::testing {

// Every layer's keys have `bias` [kv_heads, head_dim]; rotary positions of base theta on one axis.
inline std::shared_ptr<const KeyBias> key_bias_of(std::int64_t layers, const at::Tensor& bias, double theta) {
  KeyBias all;
  for (std::int64_t layer = 0; layer < layers; ++layer) all.of_layers.push_back(bias.clone());
  all.rotary.theta = theta;
  std::vector<float> frequencies;
  const std::int64_t half = bias.size(1) / 2;
  for (std::int64_t i = 0; i < half; ++i)
    frequencies.push_back(static_cast<float>(std::pow(theta, -static_cast<double>(i) / static_cast<double>(half))));
  all.frequencies = at::tensor(frequencies);
  return std::make_shared<const KeyBias>(std::move(all));
}

inline KvShape biased_shape(std::int64_t layers, const at::Tensor& bias, double theta = 10000.0) {
  KvShape shape = test_support::kv_shape(layers, bias.size(0), bias.size(1));
  shape.rotary.theta = theta;
  shape.storage = KvStorage::kInt8;
  shape.key_bias = key_bias_of(layers, bias, theta);
  return shape;
}

// 300 and -300 in the pair that turns least, of every head.
inline at::Tensor slow_bias(std::int64_t kv_heads, std::int64_t head_dim) {
  at::Tensor bias = at::zeros({kv_heads, head_dim});
  bias.select(1, head_dim / 2 - 1).fill_(300.0);
  bias.select(1, head_dim - 1).fill_(-300.0);
  return bias;
}

// keys [kv_heads, n, head_dim] with the bias added and all rotated by positions [1, n], as a model does it; in fp64 between.
inline at::Tensor with_bias(const at::Tensor& keys, const KeyBias& bias, const at::Tensor& positions) {
  const at::Tensor sum = (keys + bias.of(LayerId(0)).unsqueeze(1)).to(at::kDouble);
  const at::Tensor angles = positions.to(at::kDouble).t() * bias.frequencies.to(at::kDouble);  // [n, half]
  const auto halves = sum.chunk(2, 2);
  return at::cat({halves[0] * angles.cos() - halves[1] * angles.sin(), halves[1] * angles.cos() + halves[0] * angles.sin()}, 2)
      .to(at::kFloat);
}

}  // namespace winnow::testing
