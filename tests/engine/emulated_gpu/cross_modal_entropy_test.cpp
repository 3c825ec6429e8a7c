// Cross-modal entropies on a GPU: the CPU's, with a kernel of our own that does not become more launches where there are more rows.
#include "engine/compression/statistics/cross_modal_entropy.h"

#include <vector>

#include "tests/engine/emulated_gpu/layer_there.h"

namespace winnow::testing {
namespace {

class CrossModalEntropyOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  using Heads = CrossModalNeed::Heads;

  // Two pictures with words behind each; the first picture has no words before it.
  static std::vector<Modality> pictures(std::int64_t tokens) {
    std::vector<Modality> modality(static_cast<std::size_t>(tokens), Modality::kText);
    for (std::int64_t row = 0; row < tokens; ++row) {
      if (row % (tokens / 2) < tokens / 3) modality[static_cast<std::size_t>(row)] = Modality::kVisual;
    }
    return modality;
  }

  static CrossModalEntropy entropy(const LayerView& view, const std::vector<Modality>& modality, const CrossModalNeed& need) {
    SegmentInfo segment = segment_of(modality, 1, 6, 2);
    segment.first_row = view.key.size(1) - view.query.size(1);
    return cross_modal_entropy(view, segment, need);
  }

  EmulatedGpuCounts cost(std::int64_t tokens, at::ScalarType type = at::kFloat) const {
    const LayerView view = there(layer_of(type, tokens));
    const std::vector<Modality> modality = pictures(tokens);
    return cost_of([&] { entropy(view, modality, {}); });
  }

  static void expect_same(const LayerView& view, const std::vector<Modality>& modality) {
    for (const Heads heads : {Heads::kMeanFirst, Heads::kEntropyFirst}) {
      for (const bool causal : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "heads " << static_cast<int>(heads) << (causal ? " causal" : ""));
        const CrossModalEntropy cpu = entropy(view, modality, {heads, causal});
        const CrossModalEntropy gpu = entropy(there(view), modality, {heads, causal});
        ASSERT_TRUE(cpu.defined);
        ASSERT_TRUE(gpu.defined);
        EXPECT_GT(cpu.text_to_visual, 0.5);
        EXPECT_NEAR(gpu.text_to_visual, cpu.text_to_visual, 1e-4);
        EXPECT_NEAR(gpu.visual_to_text, cpu.visual_to_text, 1e-4);
      }
    }
  }

  c10::InferenceMode inference_;
};

TEST_F(CrossModalEntropyOnEmulatedGpu, IsThatOfTheCpu) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    SCOPED_TRACE(at::toString(type));
    expect_same(layer_of(type, 150), pictures(150));
  }
}

TEST_F(CrossModalEntropyOnEmulatedGpu, RetainedRowsAreKeysOfTheSegment) {
  LayerView view = layer_of(at::kFloat, 150);
  view.query = view.query.narrow(1, 40, 110);
  expect_same(view, pictures(150));
}

TEST_F(CrossModalEntropyOnEmulatedGpu, RowsWithoutKeysAreLeftOut) {
  using enum Modality;
  std::vector<Modality> modality(20, kVisual);  // no picture sees a word, and the words see all of it
  modality.resize(25, kText);
  const LayerView view = layer_of(at::kFloat, 25);
  const CrossModalNeed causal{Heads::kMeanFirst, true};
  const CrossModalEntropy found = entropy(there(view), modality, causal);
  EXPECT_NEAR(found.text_to_visual, entropy(view, modality, causal).text_to_visual, 1e-4);
  EXPECT_EQ(found.visual_to_text, 0.0);
  EXPECT_FALSE(entropy(there(view), std::vector<Modality>(25, kText), causal).defined);
}

TEST_F(CrossModalEntropyOnEmulatedGpu, TakesAsManyLaunchesForManyRowsAsForFew) {
  const EmulatedGpuCounts few = cost(20);
  const EmulatedGpuCounts many = cost(700);
  EXPECT_EQ(many.launches, few.launches);
  EXPECT_LE(many.launches, 10) << "four each way, and where both begin";
  EXPECT_EQ(many.waits, 1) << "for both entropies";
  EXPECT_EQ(many.copies_to_device, 2) << "the lists of rows and keys each way";
  EXPECT_GT(cost(700, at::kDouble).launches, 10 * many.launches) << "a type without a kernel goes in tiles";
}

}  // namespace
}  // namespace winnow::testing
