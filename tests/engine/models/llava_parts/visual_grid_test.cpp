#include "engine/models/vision/visual_grid.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "engine/models/vision/llava_vision_config.h"
#include "tests/engine/models/llava_parts/golden_pictures.h"
#include "tests/support/expect_error.h"

namespace winnow::test::llava_parts_test {
namespace {

GridRules rules_of(const Json& entry) {
  GridRules rules;
  rules.side_px = entry["side"];
  rules.patches_per_side = rules.side_px / entry["patch"].get<std::int64_t>();
  rules.max_tiles = entry["max_tiles"];
  for (const Json& pair : entry["pinpoints"]) rules.pinpoints.push_back({pair[0], pair[1]});
  return rules;
}

GridRules small_rules() {
  GridRules rules{.pinpoints = {{84, 84}, {84, 168}, {168, 84}, {168, 168}}, .side_px = 84, .patches_per_side = 3, .max_tiles = 9};
  return rules;
}

TEST(VisualGrid, AgreesWithTransformersOnEveryGoldenSize) {
  const Json golden = load_json(test::kProcessorGolden + "/counts.json");
  std::size_t checked = 0;
  for (const Json& entry : golden) {
    const GridRules rules = rules_of(entry);
    for (const Json& row : entry["rows"]) {
      const PixelSize source{row[0], row[1]};
      SCOPED_TRACE(entry["name"].get<std::string>() + " " + row.dump() + "; " + test::kRebuildHint);
      ++checked;
      const PackedGrid grid = packed_grid(source, rules);
      EXPECT_EQ(grid.tile_rows, row[2]);
      EXPECT_EQ(grid.tile_columns, row[3]);
      EXPECT_EQ(grid.rows, row[6]);
      EXPECT_EQ(grid.columns, row[7]);
      if (row[4] != -1) {
        EXPECT_EQ(grid.first_row, row[4]);
        EXPECT_EQ(grid.first_column, row[5]);
        EXPECT_FALSE(grid.scaled());
      }
      const std::vector<TokenOrigin> origins = anyres_image_origins(source, rules);
      EXPECT_EQ(static_cast<std::int64_t>(origins.size()), row[8]);
    }
  }
  EXPECT_GE(checked, 1000U);
}

TEST(VisualGrid, BestResolutionPrefersDetailThenLessWaste) {
  const std::vector<PixelSize> pinpoints = {{100, 100}, {100, 200}, {200, 100}, {200, 200}};
  EXPECT_EQ(best_resolution({90, 90}, pinpoints), (PixelSize{100, 100}));   // all keep it whole, the first wastes least
  EXPECT_EQ(best_resolution({90, 180}, pinpoints), (PixelSize{100, 200}));  // 200 x 200 keeps as much and wastes more
  EXPECT_EQ(best_resolution({500, 400}, pinpoints), (PixelSize{200, 200}));
}

TEST(VisualGrid, FittedSizeRoundsUpInsideTheTarget) {
  EXPECT_EQ(fitted_size({50, 150}, {75, 75}), (PixelSize{25, 75}));
  EXPECT_EQ(fitted_size({101, 300}, {84, 84}), (PixelSize{29, 84}));  // 28.28 rounded up
  EXPECT_EQ(fitted_size({300, 100}, {84, 84}), (PixelSize{84, 29}));
  EXPECT_EQ(fitted_size({1, 1000}, {84, 84}), (PixelSize{1, 84}));
}

TEST(VisualGrid, OriginsNameTileRowColumnAndNewlines) {
  // 84 x 168: one row of two tiles, 3 x 6 cells, nothing to unpad.
  const std::vector<TokenOrigin> origins = anyres_image_origins({84, 168}, small_rules());
  ASSERT_EQ(origins.size(), 9U + 3U * 7U);
  EXPECT_EQ(origins[0].frame, 0);
  EXPECT_EQ(origins[5].row, 1);
  EXPECT_EQ(origins[5].column, 2);
  const TokenOrigin& second_tile = origins[9 + 3];
  EXPECT_EQ(second_tile.frame, 2);
  EXPECT_EQ(second_tile.row, 0);
  EXPECT_EQ(second_tile.column, 3);
  const TokenOrigin& newline = origins[9 + 6];
  EXPECT_EQ(newline.row, -1);
  EXPECT_EQ(newline.column, -1);
  EXPECT_EQ(newline.frame, 2);
  for (const TokenOrigin& origin : origins) {
    EXPECT_EQ(origin.modality, Modality::kVisual);
    EXPECT_EQ(origin.media, -1);
  }
}

// 500 x 300 in 672 x 672 of 24 x 24 patches a tile: 48 x 48 stitched, of which 300 / 500 are the picture, 28.8 rows: 10 of padding above
// and below leave 28. A limit on the tiles would reduce them; without one they stay.
TEST(VisualGrid, CutsThePaddingOffAndReducesNothingWithoutALimit) {
  GridRules rules{.pinpoints = {{672, 672}}, .side_px = 336, .patches_per_side = 24};
  const PackedGrid grid = packed_grid({300, 500}, rules);
  EXPECT_EQ(grid.first_row, 10);
  EXPECT_EQ(grid.first_column, 0);
  EXPECT_EQ(grid.rows, 28);
  EXPECT_EQ(grid.columns, 48);
  EXPECT_FALSE(grid.scaled());
  EXPECT_EQ(anyres_image_origins({300, 500}, rules).size(), 576U + 28U * 49U);
  rules.max_tiles = 1;
  EXPECT_TRUE(packed_grid({300, 500}, rules).scaled());
}

TEST(VisualGrid, FramesAreSquaresInARow) {
  const std::vector<TokenOrigin> origins = frame_origins(2, 3);
  ASSERT_EQ(origins.size(), 18U);
  EXPECT_EQ(origins[8].frame, 0);
  EXPECT_EQ(origins[8].row, 2);
  EXPECT_EQ(origins[8].column, 2);
  EXPECT_EQ(origins[9].frame, 1);
  EXPECT_EQ(origins[9].row, 0);
  EXPECT_EQ(origin_beside_patches(1).row, -1);
}

TEST(VisualGrid, DroppingAPatchLeavesNothingToStitch) {
  GridRules rules = small_rules();
  rules.drop_first_feature = true;
  expect_error(ErrorCode::kUnsupportedModel, "vision_feature_select_strategy", [&] { packed_grid({50, 50}, rules); });
}

TEST(VisualGrid, RefusesAGridThatScalesToNothing) {
  // One row of twelve single-patch tiles scaled to nine: sqrt(12 / 9) = 1.15 leaves no row. transformers fails in interpolate() here.
  GridRules rules{.pinpoints = {{32, 384}}, .side_px = 32, .patches_per_side = 1, .max_tiles = 9};
  expect_error(ErrorCode::kInvalidArgument, "too narrow", [&] { packed_grid({32, 384}, rules); });
}

TEST(VisualGrid, RefusesSourcesWithoutAreaAndForeignPinpoints) {
  GridRules rules = small_rules();
  for (const PixelSize source : {PixelSize{0, 5}, PixelSize{5, 0}, PixelSize{-1, 5}, PixelSize{5, std::int64_t{1} << 40}}) {
    expect_error(ErrorCode::kInvalidArgument, "no area", [&] { packed_grid(source, rules); });
  }
  rules.pinpoints = {{84, 100}};
  expect_error(ErrorCode::kUnsupportedModel, "multiple of the tile", [&] { packed_grid({50, 50}, rules); });
  rules.side_px = 1;
  rules.pinpoints = {{4096, 4096}};
  expect_error(ErrorCode::kLimitExceeded, "1024 tiles", [&] { packed_grid({50, 50}, rules); });
}

std::string canonical(std::string_view stored) { return canonical_weight_name(stored, llava_weight_name_rules()); }

TEST(LlavaWeightNames, BothLayoutsMeetInOne) {
  EXPECT_EQ(canonical("model.language_model.layers.0.mlp.up_proj.weight"), "language_model.model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(canonical("model.vision_tower.vision_model.post_layernorm.bias"), "vision_tower.vision_model.post_layernorm.bias");
  for (const char* prefix : {"vision_tower.", "vision_tower.vision_model.", "model.vision_tower."})
    EXPECT_EQ(canonical(std::string(prefix) + "encoder.layers.1.mlp.fc1.bias"), "vision_tower.vision_model.encoder.layers.1.mlp.fc1.bias");
  EXPECT_EQ(canonical("model.multi_modal_projector.linear_1.weight"), "multi_modal_projector.linear_1.weight");
  EXPECT_EQ(canonical("model.image_newline"), "image_newline");
  EXPECT_EQ(canonical("lm_head.weight"), "language_model.lm_head.weight");
}

TEST(LlavaWeightNames, CanonicalAndUnknownNamesStay) {
  for (const char* name :
       {"language_model.model.norm.weight", "image_newline", "model.image_newline_x", "lm_headx", "model.language_modelx.a", ""}) {
    EXPECT_EQ(canonical(name), name);
  }
}

}  // namespace
}  // namespace winnow::test::llava_parts_test
