// What a layer's event costs on a GPU beside its arithmetic: every statistic is brought to the host by one copy, whatever it consists of,
// heads that merge are asked, answered, read and written together, and blocks are taken together. How often the host waits, what it sends
// and how often it takes blocks does not depend on how many heads a layer has.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/compression/compression_event.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/emulated_gpu/layer_there.h"
#include "tests/support/kv_shape.h"
#include "tests/support/measured_options.h"

namespace winnow::testing {
namespace {

class EventCost : public OnEmulatedGpu {
 protected:
  static constexpr std::int64_t kTokens = 700;

  struct Cost {
    EmulatedGpuCounts statistics;
    EmulatedGpuCounts event;
  };

  void SetUp() override {
    OnEmulatedGpu::SetUp();
    modality_.assign(kTokens, Modality::kVisual);
    std::fill_n(modality_.begin(), 14, Modality::kSystem);
    std::fill_n(modality_.rbegin(), 50, Modality::kText);
  }

  static Recipe recipe_of(const std::string& method, std::int64_t kv_heads) {
    RecipeSpec spec{.method = method, .retention = 0.3};
    return Recipe::from_spec(test_support::as_measured(spec, 1, kv_heads));
  }

  // Of one layer of `kv_heads` with three query heads each.
  Cost cost(const Recipe& recipe, std::int64_t kv_heads) {
    LayerView view = random_view(LayerId(0), 3 * kv_heads, kv_heads, kTokens, 16, {}, 2.0);
    set_log_sum_exp(view);
    view = winnow::testing::there(std::move(view));
    SegmentInfo segment{.tokens = kTokens, .modality = modality_, .layers = 1, .heads = 3 * kv_heads, .kv_heads = kv_heads};
    KvShape shape = test_support::kv_shape(1, kv_heads, 16);
    shape.device = kEmulatedGpu;
    shape.rotary = view.rotary;
    KvCache cache(shape);
    std::vector<std::int32_t> original(kTokens);
    std::iota(original.begin(), original.end(), 0);
    cache.append(LayerId(0), view.key, view.value, original);
    SegmentCompressor compressor(recipe, segment);
    MergeState state;
    Cost cost;
    if (compressor.wants_views()) cost.statistics = cost_of([&] { compressor.on_layer(view); });
    cost.event = cost_of([&] { apply_plan(cache, compressor, LayerId(0), state); });
    return cost;
  }

 private:
  std::vector<Modality> modality_;
  c10::InferenceMode inference_;
};

TEST_F(EventCost, IsOneWaitForEveryStatisticAndOneForWhatMerges) {
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    const Recipe recipe = recipe_of(method.name, 2);
    if (!recipe.compresses() || !recipe.shares_prefill()) continue;
    const Cost two = cost(recipe, 2);
    const StatisticsNeeds& needs = recipe.needs();
    const std::ptrdiff_t each = std::ssize(needs.attention) + (needs.cross_modal ? 1 : 0);
    EXPECT_EQ(two.statistics.waits, each + (needs.elite ? 3 : 0));
    const Reducer& reducer = *recipe.composition().reducer;
    if (reducer.sharing() != nullptr) continue;  // waits in every head
    EXPECT_EQ(two.event.waits, reducer.needs_similarity() ? 1 : 0);
    const Cost four = cost(recipe_of(method.name, 4), 4);
    EXPECT_EQ(four.statistics.waits, two.statistics.waits);
    EXPECT_EQ(four.statistics.launches, two.statistics.launches);
    EXPECT_EQ(four.event.waits, two.event.waits);
    EXPECT_EQ(four.event.copies_to_device, two.event.copies_to_device);
    if (reducer.merges_at_event()) {
      EXPECT_LE(four.event.copies_to_device, 6)
          << "whom it resembles, what flows, what is read, moved and written, and the table of blocks";
      const std::int64_t compared = reducer.needs_similarity() ? 1 : 0;
      EXPECT_EQ(four.event.launches - two.event.launches, 2 * (2 + 3 * compared))
          << "of a head: what flows in K and V, and whom it resembles";
      EXPECT_EQ(four.event.allocations - two.event.allocations, 2 * (2 + compared)) << "what they come to";
    } else {
      EXPECT_EQ(four.event.launches, 1);
      EXPECT_LE(four.event.copies_to_device, 2) << "where kept slots come from, and the table of blocks";
      EXPECT_LE(four.event.allocations, 3) << "for both, and for all blocks";
    }
  }
}

}  // namespace
}  // namespace winnow::testing
