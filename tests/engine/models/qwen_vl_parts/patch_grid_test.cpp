#include "engine/models/vision/patch_grid.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/json_document.h"
#include "engine/models/vision/qwen_vision_config.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::qwen_vl_parts_test {
namespace {

// Cells of 28 px, 4 to 16,384 of them, as the published folders have it.
PatchProcessorConfig published() { return {.min_pixels = 3136, .max_pixels = 12'845'056}; }

TEST(SmartResize, RoundsEachSideToWholeCells) {
  EXPECT_EQ(smart_resize({480, 640}, published()), (PixelSize{476, 644}));      // 17.1 and 22.9 cells
  EXPECT_EQ(smart_resize({1080, 1920}, published()), (PixelSize{1092, 1932}));  // 38.6 and 68.6
}

TEST(SmartResize, RoundsHalvesToTheEvenCell) {
  EXPECT_EQ(smart_resize({70, 98}, published()), (PixelSize{56, 112}));  // 2.5 and 3.5 cells
}

TEST(SmartResize, ShrinksWhatHasTooManyPixels) {
  PatchProcessorConfig config = published();
  config.max_pixels = 10 * 28 * 28;
  // 200 x 400 px are 7 x 14 cells; sqrt(80,000 / 7,840) = 3.19 times smaller 62.6 x 125.2 px, 2 x 4 whole cells.
  EXPECT_EQ(smart_resize({200, 400}, config), (PixelSize{56, 112}));
  // A narrow one keeps a cell: 28 x 2800 px would be 100 cells, and a tenth of its height none.
  EXPECT_EQ(smart_resize({28, 2800}, config), (PixelSize{28, 868}));
}

TEST(SmartResize, GrowsWhatHasTooFew) {
  // 10 x 20 px round to no cell; sqrt(3,136 / 200) = 3.96 times larger 39.6 x 79.2 px, 2 x 3 cells that cover it.
  EXPECT_EQ(smart_resize({10, 20}, published()), (PixelSize{56, 84}));
}

// The sizes are those of transformers' smart_resize under the bounds that are expected here.
TEST(PatchGrid, APictureOf4000PixelsBecomesAsManyCellsAsItMay) {
  const auto cells = [](std::int64_t most) { return cell_grid({4000, 4000}, of_at_most(most, published())).cells(); };
  EXPECT_EQ(cells(0), 16'384) << "as the published folders have it";
  EXPECT_EQ(cells(4096), 4096);
  EXPECT_EQ(cells(1024), 1024);
  EXPECT_EQ(cells(1000), 961) << "31 a side";
  EXPECT_EQ(cells(256), 256);
  const PatchProcessorConfig small = of_at_most(8, published());
  EXPECT_EQ(small.max_pixels, 8 * 28 * 28);
  EXPECT_EQ(small.min_pixels, 2 * 28 * 28) << "four cells would be more than a quarter";
  EXPECT_EQ(of_at_most(100, published()).min_pixels, 3136) << "as it was";
}

// All frames together have so many times more, and never more than the folder allows them.
TEST(PatchGrid, FramesThatCountTogetherAreBoundedByTheirNumber) {
  PatchProcessorConfig config = published();
  config.counted = CountedPixels::kOfVideo;
  EXPECT_EQ(of_at_most(64, config, 16).max_pixels, 16 * 64 * 28 * 28);
  EXPECT_EQ(of_at_most(768, config, 64).max_pixels, config.max_pixels);
  for (const std::int64_t frames : {1, 2, 7, 16, 64})
    EXPECT_LE(cell_grid({1080, 1920}, of_at_most(64, config, frames), frames).cells(), 64);
  // A picture of GLM-4V counts for a set of two.
  config.counted = CountedPixels::kOfSets;
  EXPECT_EQ(of_at_most(64, config).max_pixels, 2 * 64 * 28 * 28);
  EXPECT_EQ(cell_grid({2000, 2000}, of_at_most(64, config)).cells(), 64);
}

// By transformers' smart_resize of Qwen3-VL's videos, temporal_factor 2, factor 28, 4 and 40 cells.
TEST(SmartResize, CountsThePixelsOfAllFramesTogetherWhereTheConfigurationSaysSo) {
  PatchProcessorConfig config{.min_pixels = 4 * 28 * 28, .max_pixels = 40 * 28 * 28};
  EXPECT_EQ(smart_resize({84, 112}, config, 9), (PixelSize{84, 112})) << "each picture has 12 cells";
  config.counted = CountedPixels::kOfVideo;
  EXPECT_EQ(smart_resize({84, 112}, config, 2), (PixelSize{84, 112}));
  // A third frame counts for two, which makes 48 cells, but three frames are divided by sqrt(36 / 40): nothing is lost.
  EXPECT_EQ(smart_resize({84, 112}, config, 3), (PixelSize{84, 112}));
  // sqrt(9 * 12 / 40) = 1.64 times smaller: 51.1 x 68.2 px, a cell by two.
  EXPECT_EQ(smart_resize({84, 112}, config, 9), (PixelSize{28, 56}));
  // One frame of 1 x 2 cells counts for two, which are enough; one of a cell alone is not: sqrt(4 / 1) times larger.
  EXPECT_EQ(smart_resize({28, 56}, config, 1), (PixelSize{28, 56}));
  EXPECT_EQ(smart_resize({28, 28}, config, 1), (PixelSize{56, 56}));
}

// Both processors of GLM-4V (tests/golden/glm4v/sizes.json).
TEST(SmartResize, CountsWholeSetsAsTheReference) {
  const Json golden = load_json(source_folder() + "/tests/golden/glm4v/sizes.json");
  ASSERT_GE(golden.at("rows").size(), 150U);
  for (const Json& row : golden.at("rows")) {
    PatchProcessorConfig config;
    config.counted = CountedPixels::kOfSets;
    config.min_pixels = row[0];
    config.max_pixels = row[1];
    config.patches = {row[2], 1, 2};
    const std::int64_t frames = row[3];
    EXPECT_EQ(smart_resize({row[4], row[5]}, config, frames == 0 ? 1 : frames), (PixelSize{row[6], row[7]})) << row.dump();
  }
}

// By which the program says what a model needs before it is fetched: a full-HD video of 64 frames, two of which are a row of tokens.
TEST(CellGrid, TheTableOfKnownModelsSaysWhatAFrameTakes) {
  constexpr std::int64_t kFrames = 64;
  PatchProcessorConfig qwen2{.max_pixels = std::int64_t{768} * 28 * 28};
  PatchProcessorConfig qwen3{.max_pixels = std::int64_t{24'576} * 32 * 32, .counted = CountedPixels::kOfVideo, .patches = {.patch_px = 16}};
  const Json table = load_json(source_folder() + "/resources/models.json");
  int rows = 0;
  for (const Json& row : table.at("models")) {
    const auto family = row.at("family").get<std::string>();
    if (!family.starts_with("qwen") || row.at("sees") == "nothing") continue;
    const PatchProcessorConfig& config = family.starts_with("qwen3") ? qwen3 : qwen2;
    const std::int64_t tokens = cell_grid({1080, 1920}, config, kFrames).cells() / config.patches.joined_frames;
    const auto told = row.at("tokens_per_frame").get<std::int64_t>();
    EXPECT_LE(tokens, told) << row.at("repository");
    EXPECT_GT(tokens, told * 9 / 10) << row.at("repository");
    ++rows;
  }
  EXPECT_GE(rows, 9);
}

TEST(SmartResize, WantsAnArea) {
  test::expect_error(ErrorCode::kInvalidArgument, "area", [] { smart_resize({0, 20}, published()); });
}

TEST(PatchGrid, NamesCellsRowByRowAndFramesByTheFirstOfTheirSet) {
  const CellGrid grid = cell_grid({60, 80}, published());
  EXPECT_EQ(grid, (CellGrid{2, 3}));
  const std::vector<TokenOrigin> origins = cell_origins(grid, 3, 2);
  ASSERT_EQ(origins.size(), 2U * 6U) << "an odd last frame is a set of its own";
  EXPECT_EQ(origins[4].frame, 0);
  EXPECT_EQ(origins[4].row, 1);
  EXPECT_EQ(origins[4].column, 1);
  EXPECT_EQ(origins[6].frame, 2);
  EXPECT_EQ(origins[6].row, 0);
  for (const TokenOrigin& origin : origins) EXPECT_EQ(origin.modality, Modality::kVisual);
  EXPECT_EQ(cell_origins(grid, 1, 2).size(), 6U);
}

std::string canonical(std::string_view stored) { return canonical_weight_name(stored, qwen_vl_weight_name_rules()); }

TEST(QwenVlWeightNames, BothTransformersVersionsGiveTheSameNames) {
  EXPECT_EQ(canonical("model.language_model.layers.0.mlp.up_proj.weight"), "model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(canonical("model.layers.0.mlp.up_proj.weight"), "model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(canonical("model.visual.blocks.0.attn.qkv.bias"), "visual.blocks.0.attn.qkv.bias");
  EXPECT_EQ(canonical("visual.blocks.0.attn.qkv.bias"), "visual.blocks.0.attn.qkv.bias");
  EXPECT_EQ(canonical("lm_head.weight"), "lm_head.weight");
}

using Cells = std::vector<std::int64_t>;

TEST(WindowOrder, WholeWindowsComeFirstThenThoseThatAreCut) {
  // 3 rows of 5 cells in windows of 2 x 2:
  //    0  1 |  2  3 |  4
  //    5  6 |  7  8 |  9
  //   10 11 | 12 13 | 14
  const WindowOrder order = window_order({3, 5}, 2);
  EXPECT_EQ(order.cells, (Cells{0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(order.groups, (std::vector<WindowGroup>{{0, 2, 4}, {8, 1, 2}, {10, 2, 2}, {14, 1, 1}}));
}

TEST(WindowOrder, WindowsThatFitLeaveNoRest) {
  const WindowOrder order = window_order({2, 4}, 2);
  EXPECT_EQ(order.cells, (Cells{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(order.groups, (std::vector<WindowGroup>{{0, 2, 4}}));
}

TEST(WindowOrder, AWindowLargerThanThePictureIsThePicture) {
  const WindowOrder order = window_order({2, 3}, 8);
  EXPECT_EQ(order.cells, (Cells{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(order.groups, (std::vector<WindowGroup>{{0, 1, 6}}));
}

TEST(WindowOrder, HasEveryCellOnce) {
  for (std::int64_t rows = 1; rows < 9; ++rows) {
    for (std::int64_t columns = 1; columns < 9; ++columns) {
      for (std::int64_t side = 1; side < 6; ++side) {
        WindowOrder order = window_order({rows, columns}, side);
        std::int64_t grouped = 0;
        for (const WindowGroup& group : order.groups) {
          EXPECT_EQ(group.first, grouped);
          grouped += group.windows * group.cells;
        }
        EXPECT_EQ(grouped, rows * columns);
        std::ranges::sort(order.cells);
        for (std::int64_t cell = 0; cell < rows * columns; ++cell) EXPECT_EQ(order.cells[static_cast<std::size_t>(cell)], cell);
      }
    }
  }
}

}  // namespace
}  // namespace winnow::qwen_vl_parts_test
