// Every preset that acts while decoding, as a conversation uses it: event, next_decode_policy(), ten thousand tokens of real attention.
// Caps (or shares) hold at every step, memory is flat where there is a cap, and what is kept beside the slots is what a program gets that
// stores every row of attention and adds them up from scratch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "engine/compression/compression_event.h"
#include "engine/compression/decode/attention_eviction.h"
#include "engine/compression/decode/ratio_removal.h"
#include "engine/compression/decode/shared_entry_merging.h"
#include "engine/compression/next_decode_policy.h"
#include "engine/compression/segment_compressor.h"
#include "engine/layers/shared_entry_attention.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/compression/layer_fixture.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

using Rows = std::vector<std::int32_t>;

constexpr std::int64_t kLongLayers = 2;
constexpr std::int64_t kLongHeads = 4;
constexpr std::int64_t kLongKvHeads = 2;
constexpr std::int64_t kLongGroup = kLongHeads / kLongKvHeads;
constexpr std::int64_t kLongHeadDim = 8;
constexpr std::int32_t kPrompt = 96;
constexpr std::int32_t kGenerated = 10000;
constexpr double kLongScale = 0.35355339059327373;

KvCache empty_cache() {
  KvShape shape = test_support::kv_shape(kLongLayers, kLongKvHeads, kLongHeadDim);
  shape.rotary.theta = 10000.0;
  return KvCache(shape);
}

std::vector<Modality> prompt() {
  std::vector<Modality> modality(kPrompt, Modality::kVisual);
  std::fill_n(modality.begin(), 4, Modality::kSystem);
  std::fill_n(modality.rbegin(), 16, Modality::kText);
  return modality;
}

// The tokens that a decoded row's probabilities belong to, in their order.
Rows tokens_of_row(const KvCache& cache, LayerId layer, KvHead head) {
  const std::span<const std::int32_t> original = cache.original(layer, head);
  const SharedEntries* shared = cache.shared_entries(layer, head);
  if (shared == nullptr) return {original.begin(), original.end()};
  Rows tokens = shared->original;
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    if (std::find(shared->slot.begin(), shared->slot.end(), static_cast<std::int32_t>(slot)) == shared->slot.end()) {
      tokens.push_back(original[slot]);
    }
  }
  return tokens;
}

struct Sums {
  double sum = 0.0;
  double square = 0.0;
  std::int32_t rows = 0;
};

// Every row of attention that a kv head has seen, kept whole.
class Ledger {
 public:
  // probabilities: [n, n] of the prompt, mean over the group.
  explicit Ledger(const at::Tensor& probabilities) {
    for (std::int32_t i = 0; i < probabilities.size(0); ++i) {
      Row row;
      for (std::int32_t j = 0; j <= i; ++j) row.emplace_back(j, probabilities[i][j].item<float>());
      rows_.push_back(std::move(row));
    }
  }

  void add(const Rows& tokens, std::span<const float> probabilities) {
    Row row;
    ASSERT_EQ(tokens.size(), probabilities.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) row.emplace_back(tokens[i], probabilities[i]);
    rows_.push_back(std::move(row));
  }

  std::map<std::int32_t, Sums> recompute() const {
    std::map<std::int32_t, Sums> all;
    for (const Row& row : rows_) {
      for (const auto& [token, p] : row) {
        Sums& sums = all[token];
        sums.sum += p;
        sums.square += static_cast<double>(p) * p;
        ++sums.rows;
      }
    }
    return all;
  }

 private:
  using Row = std::vector<std::pair<std::int32_t, float>>;
  std::vector<Row> rows_;
};

class DecodeEndurance : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    RecipeSpec spec{.method = GetParam(), .retention = 0.5, .seed = 11};
    recipe_ = std::make_unique<Recipe>(Recipe::from_spec(with_measured_options(spec, {{"profile", "0.5=0.5:0.5"}})));
    compressor_ = std::make_unique<SegmentCompressor>(*recipe_, testing::segment_of(modality_, kLongLayers, kLongHeads, kLongKvHeads));
    Rows original(kPrompt);
    std::iota(original.begin(), original.end(), 0);
    for (LayerId layer{0}; layer < kLongLayers; ++layer) {
      LayerView view = testing::random_view(layer, kLongHeads, kLongKvHeads, kPrompt, kLongHeadDim);
      testing::set_log_sum_exp(view);
      const std::vector<at::Tensor> logits = testing::dense_logits(view);
      for (KvHead head{0}; head < kLongKvHeads; ++head) {
        at::Tensor mean = at::zeros({kPrompt, kPrompt}, at::kDouble);
        for (std::int64_t q = head * kLongGroup; q < (head + 1) * kLongGroup; ++q)
          mean += at::softmax(logits[static_cast<std::size_t>(q)], 1) / kLongGroup;
        ledgers_.emplace_back(mean);
      }
      cache_.append(layer, view.key, view.value, original);
      if (compressor_->wants_views()) compressor_->on_layer(view);
    }
    for (LayerId layer{0}; layer < kLongLayers; ++layer) apply_plan(cache_, *compressor_, layer, state_);
    policy_ = next_decode_policy(nullptr, *recipe_, *compressor_, cache_);
    ASSERT_TRUE(policy_);
  }

  // One token through one layer: its slot, its attention, what the policy does then.
  void step(LayerId layer, std::int32_t token) {
    cache_.append(layer, at::randn({kLongKvHeads, 1, kLongHeadDim}), at::randn({kLongKvHeads, 1, kLongHeadDim}), Rows{token});
    DecodeRow row;
    if (policy_->wants_probabilities()) {
      for (KvHead head{0}; head < kLongKvHeads; ++head) {
        const at::Tensor query = at::randn({kLongGroup, kLongHeadDim});
        const at::Tensor each = cache_.shared_entries(layer, head) != nullptr
                                    ? shared_entry_attention(query, cache_, layer, head, kLongScale, true).probabilities
                                    : at::softmax(at::mm(query, cache_.gather_keys(layer, head).t()) * kLongScale, 1);
        const at::Tensor mean = each.mean(0).contiguous();
        row.probabilities.emplace_back(mean.const_data_ptr<float>(), mean.const_data_ptr<float>() + mean.numel());
        ledgers_[static_cast<std::size_t>(layer * kLongKvHeads + head)].add(tokens_of_row(cache_, layer, head), row.probabilities.back());
      }
    }
    testing::after_layer(*policy_, cache_, layer, row, state_);
  }

  void expect_budgets(std::int32_t token) const {
    for (LayerId layer{0}; layer < kLongLayers; ++layer) {
      const auto budget = compressor_->budgets()[static_cast<std::size_t>(layer)];
      for (KvHead head{0}; head < kLongKvHeads; ++head) {
        const std::int64_t slots = cache_.slots(layer, head);
        if (recipe_->composition().phase == MethodPhase::kRatioDecode) {
          const double share = static_cast<double>(budget) / kPrompt;
          const double over = static_cast<double>(slots) - share * (token + 1.0);
          ASSERT_LT(over, 1.0) << "token " << token;
          ASSERT_GT(over, -1e-6) << "token " << token;
        } else if (dynamic_cast<const SharedEntryMerging*>(policy_.get()) != nullptr) {
          ASSERT_LE(slots, budget) << "token " << token;
        } else {
          ASSERT_EQ(slots, budget) << "token " << token;
        }
      }
    }
  }

  void expect_sums() const {
    const auto near = [](double actual, double expected) { ASSERT_NEAR(actual, expected, 1e-5 + 1e-5 * expected); };
    for (LayerId layer{0}; layer < kLongLayers; ++layer) {
      for (KvHead head{0}; head < kLongKvHeads; ++head) {
        const auto all = ledgers_[static_cast<std::size_t>(layer * kLongKvHeads + head)].recompute();
        if (const auto* follows = dynamic_cast<const AttentionEviction*>(policy_.get())) {
          const SlotAttention& slots = follows->slots(layer, head);
          const std::span<const std::int32_t> original = cache_.original(layer, head);
          ASSERT_EQ(slots.sum.size(), original.size());
          for (std::size_t slot = 0; slot < original.size(); ++slot) {
            const Sums& expected = all.at(original[slot]);
            near(slots.sum[slot], expected.sum);
            ASSERT_EQ(slots.rows[slot], expected.rows);
            if (!slots.square.empty()) near(slots.square[slot], expected.square);
          }
        } else if (const auto* shares = dynamic_cast<const SharedEntryMerging*>(policy_.get())) {
          const SharedEntryMerging::Head& scores = shares->head(layer, head);
          const SharedEntries* table = cache_.shared_entries(layer, head);
          ASSERT_EQ(scores.table.size(), table == nullptr ? 0 : table->size());
          for (std::size_t i = 0; i < scores.table.size(); ++i) near(scores.table[i].global, all.at(table->original[i]).sum);
          for (const auto& token : scores.window) near(token.score.global, all.at(token.original).sum);
        }
      }
    }
  }

  const std::vector<Modality> modality_ = prompt();
  std::unique_ptr<Recipe> recipe_;
  std::unique_ptr<SegmentCompressor> compressor_;
  KvCache cache_ = empty_cache();
  MergeState state_;
  std::vector<Ledger> ledgers_;  // per layer and kv head
  std::unique_ptr<DecodePolicy> policy_;
};

TEST_P(DecodeEndurance, HoldsOverTenThousandTokens) {
  const c10::InferenceMode inference;
  at::manual_seed(17);
  expect_sums();
  const bool capped = recipe_->composition().phase == MethodPhase::kDecode;
  std::int64_t settled = 0;
  for (std::int32_t token = kPrompt; token < kPrompt + kGenerated; ++token) {
    for (LayerId layer{0}; layer < kLongLayers; ++layer) step(layer, token);
    expect_budgets(token);
    if (token == kPrompt + 500) settled = cache_.bytes_allocated();
    if (capped && token > kPrompt + 500) {
      ASSERT_EQ(cache_.bytes_allocated(), settled) << "token " << token;
    }
    if (token < kPrompt + 3 || (token - kPrompt) % 2500 == 2499) expect_sums();
    if (HasFatalFailure()) return;
  }
  for (LayerId layer{0}; layer < kLongLayers; ++layer) {
    EXPECT_TRUE(at::isfinite(cache_.gather_keys(layer, KvHead(0))).all().item<bool>());
    EXPECT_TRUE(at::isfinite(cache_.gather_values(layer, KvHead(0))).all().item<bool>());
  }
}

// What the tests run over is every preset with a decode phase, new ones included.
constexpr const char* kPresets[] = {"d2o",           "ems",      "ems-no-position",  "streaming-llm", "local-window", "h2o",
                                    "elastic-cache", "prefixkv", "prefixkv-profile", "cam",           "cam-expected", "roco"};

TEST(DecodeEndurancePresets, AreAllThatActWhileDecoding) {
  for (const MethodInfo& info : list_methods()) {
    if (!phase_facts(info.phase).evicts_while_decoding) continue;
    EXPECT_NE(std::find(std::begin(kPresets), std::end(kPresets), info.name), std::end(kPresets)) << info.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, DecodeEndurance, ::testing::ValuesIn(kPresets), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace winnow
