// Pictures of which equal cells left before the vision encoder, against transformers run on the cells that stay (tests/golden/pixelprune,
// rebuilt by tests/golden/make/make_pixelprune_golden.py); and what a turn says of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "engine/base/json_document.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/golden_cases.h"
#include "tests/support/source_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

using test_support::GoldenTensors;

const std::string kPixelGolden = source_folder() + "/tests/golden/pixelprune";

std::vector<RgbImage> pictures_of(const at::Tensor& stored) {
  std::vector<RgbImage> pictures;
  for (std::int64_t i = 0; i < stored.size(0); ++i) {
    const at::Tensor one = stored[i].contiguous();
    const auto* const bytes = one.const_data_ptr<std::uint8_t>();
    pictures.push_back({static_cast<int>(one.size(1)), static_cast<int>(one.size(0)), {bytes, bytes + one.numel()}});
  }
  return pictures;
}

class PixelPrune : public EveryFamily {
 protected:
  Turn question(const std::string& name, const Json& entry) {
    opener_.add(name, pictures_of(tensors_.load(entry["case"].get<std::string>() + ".pictures")));
    Turn turn{.conversation = 7};
    const MediaKind kind = entry["kind"] == "video" ? MediaKind::kVideo : MediaKind::kImage;
    turn.messages = {{Role::kUser, {MediaItem{{name, kind, {}}}, TextItem{entry["question"]}}}};
    turn.recipe.method = "full";
    turn.recipe.retention = 1.0;
    turn.recipe.before = {BeforeMethod::kPixelPrune, entry["threshold"]};
    turn.sampling.max_new_tokens = 4;
    return turn;
  }
  Json cases() {
    Json own;
    const Json all = load_json(kPixelGolden + "/cases.json");
    for (const auto& [name, entry] : all.items()) {
      if (entry["folder"] == GetParam()) own[name] = entry;
    }
    return own;
  }

  const GoldenTensors tensors_{kPixelGolden + "/golden.safetensors"};
};

TEST_P(PixelPrune, EncodesAndReadsWhatTransformersReads) {
  const Json all = cases();
  ASSERT_EQ(all.size(), 3U);
  for (const auto& [name, entry] : all.items()) {
    SCOPED_TRACE(name);
    ExportTurn request{.turn = question(name, entry),
                       .path = (std::filesystem::temp_directory_path() / ("winnow_pixelprune_" + name + ".safetensors")).string()};
    const EventRecorder events = run(request);
    const TokenCounts tokens = finished(events).figures.tokens;
    EXPECT_EQ(tokens.unread, entry["cells"].get<std::int64_t>() - entry["kept"].get<std::int64_t>());
    const GoldenTensors ours(request.path);
    EXPECT_TRUE(at::equal(ours.load("input_ids"), tensors_.load(name + ".input_ids")));
    EXPECT_TRUE(at::equal(ours.load("position_ids"), tensors_.load(name + ".position_ids")));
    const at::Tensor logits = tensors_.load(name + ".logits").view({1, -1});
    EXPECT_LE(test_support::relative_distance(ours.load("logits"), logits), kTolerance);
    // Of words among a video's tokens nothing was recorded.
    std::vector<std::int64_t> cells;
    const std::vector<TokenOrigin> origins = events.last<CacheReport>()->tokens;
    for (std::int64_t row = 0; const TokenOrigin& origin : origins) {
      if (origin.modality != Modality::kVisual) continue;
      if (origin.row >= 0) cells.push_back(row);
      ++row;
    }
    const at::Tensor theirs = tensors_.load(name + ".features");
    const at::Tensor features = ours.load("visual_features").index_select(0, at::tensor(cells));
    EXPECT_LE(test_support::relative_distance(test_support::kept_columns(features, theirs), theirs), kTolerance);
    std::filesystem::remove(request.path);
  }
}

// Before its pictures are read a plan counts all of them; afterwards it is exact. A pinned frame is read whole.
TEST_P(PixelPrune, IsPlannedAndHeedsPins) {
  const std::string name = std::string(GetParam()).substr(0, std::string(GetParam()).find('/')) + ".clip";
  Turn turn = question("clip", cases()[name]);
  const Planned before = run(Plan{turn}).last<Planned>().value();
  EXPECT_TRUE(before.estimated);
  EXPECT_EQ(before.tokens.unread, 0);
  const TokenCounts tokens = finished(run(turn)).figures.tokens;
  run(ForgetConversation{7});
  const Planned after = run(Plan{turn}).last<Planned>().value();
  EXPECT_FALSE(after.estimated);
  EXPECT_EQ(after.tokens.prompt, tokens.prompt);
  EXPECT_EQ(after.tokens.unread, tokens.unread);

  const auto of_frame = [](const EventRecorder& events, std::int32_t frame) {
    const CacheReport report = events.last<CacheReport>().value_or(CacheReport());
    return std::ranges::count_if(report.tokens, [&](const TokenOrigin& token) { return token.frame == frame && token.row >= 0; });
  };
  turn.recipe.before = {};
  const auto all = of_frame(run(turn), 2);
  turn.recipe.before = {BeforeMethod::kPixelPrune, 0.0};
  EXPECT_EQ(of_frame(run(turn), 2), 0) << "nothing moves from the first two frames to the next";
  turn.pins = {{0, 2.0, 2.5}};
  const EventRecorder pinned = run(turn);
  ASSERT_TRUE(pinned.last<Finished>()) << pinned.last<Failed>()->error.reason;
  EXPECT_EQ(of_frame(pinned, 2), all);
}

INSTANTIATE_TEST_SUITE_P(Families, PixelPrune, ::testing::Values("qwen2_vl/published", "qwen3_vl/published", "qwen3_5/published"),
                         folder_info_name);

using PixelPruneElsewhere = EveryFamily;

TEST_P(PixelPruneElsewhere, IsRefusedWhereAnEncoderNeedsWholePictures) {
  Turn turn = ask("image", "full", 1.0);
  turn.recipe.before = {BeforeMethod::kPixelPrune, 0.0};
  const Error error = run(turn).last<Failed>().value().error;
  EXPECT_EQ(error.code, ErrorCode::kIllegalRecipe);
  EXPECT_EQ(error.subject, "before");
}

INSTANTIATE_TEST_SUITE_P(Families, PixelPruneElsewhere, ::testing::Values("gqa_tied", "qwen2_5_vl/saved", "internvl/qwen2_saved"),
                         folder_info_name);

}  // namespace
}  // namespace winnow::testing
