// Against the papers' formulas written apart (tests/golden/thinning, rebuilt by tests/golden/make/make_thinning_golden.py), and by hand.
#include "engine/compression/token_thinning.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/base/json_document.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

const std::string kGoldenThinning = source_folder() + "/tests/golden/thinning";

std::vector<int> indices(const std::vector<bool>& stays) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i]) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

BeforeDecoder before(const std::string& text) { return before_of(text).value(); }

TEST(TokenThinning, KeepsWhatTheFormulasKeep) {
  const c10::InferenceMode inference;
  const test_support::GoldenTensors golden(kGoldenThinning + "/golden.safetensors");
  std::set<std::string> methods;
  for (const Json& entry : load_json(kGoldenThinning + "/cases.json")) {
    SCOPED_TRACE(entry.dump());
    const at::Tensor features = golden.load(entry["input"]);
    const std::int64_t each = features.size(1);
    PatchesToThin patches{features, std::vector<bool>(static_cast<std::size_t>(features.size(0) * each), false)};
    PatchCount count{features.size(0) * each, features.size(0), 0};
    for (const std::int64_t frame : entry["pinned_frames"]) {
      for (std::int64_t patch = 0; patch < each; ++patch) patches.pinned[static_cast<std::size_t>(frame * each + patch)] = true;
      count.pinned += each;
    }
    const BeforeDecoder asked = before(entry["method"].get<std::string>() + ":" + entry["share"].dump());
    const std::vector<int> kept = indices(patches_kept(patches, asked, entry["seed"], {}));
    EXPECT_EQ(kept, entry["kept"].get<std::vector<int>>());
    const FewerPatches foreseen = patches_that_stay(asked, count);
    if (foreseen.exact) {
      EXPECT_EQ(foreseen.patches, std::ssize(kept));
    }
    methods.insert(entry["method"]);
  }
  EXPECT_EQ(methods, (std::set<std::string>{"vidcom2", "evs", "divpruned", "random"}));
}

// Two frames of two patches. The second frame's first patch points as before, its second has turned by a right angle.
TEST(TokenThinning, EvsKeepsTheFirstFrameAndWhatHasChanged) {
  const at::Tensor features = at::tensor({1.0F, 0.0F, 0.0F, 1.0F, 2.0F, 0.0F, 3.0F, 0.0F}).view({2, 2, 2});
  EXPECT_EQ(indices(patches_kept({features, {}}, before("evs:0.75"), 0, {})), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(indices(patches_kept({features, {}}, before("evs:0.01"), 0, {})), (std::vector<int>{0, 1})) << "never less than a frame";
  EXPECT_EQ(indices(patches_kept({features, {false, false, true, true}}, before("evs:0.01"), 0, {})), (std::vector<int>{2, 3}));
  const at::Tensor image = features.view({1, 4, 2});
  EXPECT_EQ(indices(patches_kept({image, {}}, before("evs:0.5"), 0, {})), (std::vector<int>{0, 1, 2, 3})) << "it has no frame before";
}

// Of three directions that are at 0, 10 and 90 degrees the last is farthest from its nearest, and the first farthest from that.
TEST(TokenThinning, DivPrunedTakesWhatIsFarApart) {
  const at::Tensor features = at::tensor({1.0F, 0.0F, 0.985F, 0.174F, 0.0F, 1.0F}).view({1, 3, 2});
  EXPECT_EQ(indices(patches_kept({features, {}}, before("divpruned:0.3"), 0, {})), (std::vector<int>{2}));
  EXPECT_EQ(indices(patches_kept({features, {}}, before("divpruned:0.6"), 0, {})), (std::vector<int>{0, 2}));
}

TEST(TokenThinning, StopsWhereItIsAskedTo) {
  InterruptSource source;
  source.request_cancel();
  EXPECT_THROW(patches_kept({at::rand({4, 9, 8}), {}}, before("divpruned:0.5"), 0, source.token()), Interrupted);
}

TEST(BeforeDecoder, IsWrittenAndReadInWords) {
  for (const char* text : {"none", "vidcom2:0.3", "evs:0.25", "divpruned:1", "random:0.05", "pixelprune:0", "pixelprune:0.02"})
    EXPECT_EQ(text_of(before(text)), text);
  EXPECT_EQ(before("pixelprune"), before("pixelprune:0"));
  for (const char* text : {"", "evs", "evs:", "evs:0", "evs:1.1", "evs:nan", "evs:0.3x", "none:0.3", "pixelprune:-0.1", "fastv:0.3"})
    EXPECT_FALSE(before_of(text)) << text;
}

}  // namespace
}  // namespace winnow
