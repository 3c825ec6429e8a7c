// Layer views for tests: the eight-token fixture with hand-checked numbers, random layers, and dense attention to compare with.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/compression/decode_policy.h"
#include "engine/layers/layer_view.h"
#include "engine/recipes/random_hash.h"
#include "engine/recipes/segment_info.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow::testing {

inline void expect_near(std::span<const float> found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

inline void expect_near(const at::Tensor& found, const std::vector<double>& expected) {
  const at::Tensor flat = found.to(at::kFloat).contiguous();
  expect_near({flat.const_data_ptr<float>(), static_cast<std::size_t>(flat.numel())}, expected);
}

inline std::vector<Modality> image_then_text(std::int64_t before, std::int64_t visual, std::int64_t after) {
  std::vector<Modality> modality(static_cast<std::size_t>(before), Modality::kSystem);
  modality.insert(modality.end(), static_cast<std::size_t>(visual), Modality::kVisual);
  modality.insert(modality.end(), static_cast<std::size_t>(after), Modality::kText);
  return modality;
}

// Dense logits [H, n, m + n] in double over retained slots, then segment keys; -inf of what a row does not see.
inline std::vector<at::Tensor> dense_logits(const LayerView& view) {
  const std::int64_t heads = view.query.size(0);
  const std::int64_t n = view.query.size(1);
  const std::int64_t group = heads / view.key.size(0);
  at::Tensor future = at::ones({n, n}, at::kBool).triu(1);
  for (const RowSpan& span : view.bidirectional) future.narrow(0, span.first, span.count).narrow(1, span.first, span.count).fill_(false);
  std::vector<at::Tensor> logits;
  for (std::int64_t q = 0; q < heads; ++q) {
    const std::int64_t kv = q / group;
    const at::Tensor query = view.query[q].to(at::kDouble) * view.scale;
    const at::Tensor own = at::mm(query, view.key[kv].to(at::kDouble).t()).masked_fill(future, -std::numeric_limits<double>::infinity());
    const at::Tensor past = view.past_keys.empty() ? at::zeros({n, 0}, at::kDouble)
                                                   : at::mm(query, view.past_keys[static_cast<std::size_t>(kv)].to(at::kDouble).t());
    logits.push_back(at::cat({past, own}, 1));
  }
  return logits;
}

inline void set_log_sum_exp(LayerView& view) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& logits : dense_logits(view)) rows.push_back(at::logsumexp(logits, {1}));
  view.log_sum_exp = at::stack(rows).to(at::kFloat);
}

inline LayerView random_view(LayerId layer, std::int64_t heads, std::int64_t kv_heads, std::int64_t n, std::int64_t head_dim,
                             const std::vector<std::int64_t>& past = {}, double spread = 1.0) {
  at::manual_seed(static_cast<std::uint64_t>(1000 + layer * 7 + n));
  LayerView view;
  view.layer = layer;
  view.query = at::randn({heads, n, head_dim}) * spread;
  view.key = at::randn({kv_heads, n, head_dim});
  view.value = at::randn({kv_heads, n, head_dim});
  for (const std::int64_t slots : past) view.past_keys.push_back(at::randn({slots, head_dim}));
  view.scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  view.positions = (at::arange(n, at::kLong) + (past.empty() ? 0 : *std::max_element(past.begin(), past.end()))).unsqueeze(0);
  view.rotary.theta = 10000.0;
  return view;
}

// A decoded token's attention of one layer, as a policy gets it on a CPU.
inline void after_layer(DecodePolicy& policy, KvCache& cache, LayerId layer, const DecodeRow& row, MergeState& state) {
  policy.after_layers(cache, layer, {&row, 1}, state);
}

// One layer, n = 8, H = 2, Hkv = 1, d = 2, modalities S V V V V T T T.
inline LayerView att8_view(LayerId layer = {}) {
  LayerView view;
  view.layer = layer;
  view.key = at::tensor({2., 0., 1., 1., 0., 1., 1., -1., 0., 2., 1., 0., -1., 1., 0., 1.}).to(at::kFloat).view({1, 8, 2});
  view.query = at::tensor({1., 0., 0., 1., 1., 1., 1., 0., 0., 1., 1., 1., 2., 0., 0., 1.,   // head 0
                           0., 1., 1., 0., 1., 0., 0., 1., 1., 1., 0., 2., 1., 0., 1., 1.})  // head 1
                   .to(at::kFloat)
                   .view({2, 8, 2});
  view.value = at::zeros({1, 8, 2});
  view.scale = 1.0 / std::sqrt(2.0);
  set_log_sum_exp(view);
  return view;
}

inline const std::vector<Modality>& att8_modality() {
  using enum Modality;
  static const std::vector<Modality> modality = {kSystem, kVisual, kVisual, kVisual, kVisual, kText, kText, kText};
  return modality;
}

inline SegmentInfo segment_of(const std::vector<Modality>& modality, std::int64_t layers, std::int64_t heads, std::int64_t kv_heads,
                              std::int32_t first_original = 0) {
  return SegmentInfo{.tokens = static_cast<std::int64_t>(modality.size()),
                     .modality = modality,
                     .first_original = first_original,
                     .layers = layers,
                     .heads = heads,
                     .kv_heads = kv_heads};
}

// What a probe might say of every row of the segment; different for every layer, head and row.
inline HeadScores random_votes(LayerId layer, const SegmentInfo& segment) {
  HeadScores votes{segment.kv_heads, segment.tokens, {}};
  for (std::int64_t i = 0; i < votes.heads * votes.columns; ++i)
    votes.values.push_back(random_hash_uniform(11, layer, KvHead(i / votes.columns), static_cast<std::int32_t>(i % votes.columns)));
  return votes;
}

inline SegmentInfo att8_segment(std::int64_t layers = 1) { return segment_of(att8_modality(), layers, 2, 1); }

}  // namespace winnow::testing
