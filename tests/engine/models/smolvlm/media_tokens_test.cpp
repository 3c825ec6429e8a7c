#include "engine/models/families/smolvlm_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/json_document.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::smolvlm_test {
namespace {

constexpr std::int64_t kImage = 334;
constexpr const char* kFolder = "/tests/golden/smolvlm/smolvlm2_split/model/tokenizer.json";

std::unique_ptr<Tokenizer> tokenizer() { return Tokenizer::from(read_tokenizer_file(source_folder() + kFolder)); }

MediaTokens tokens_of_side(std::int64_t side) { return {tokenizer(), kImage, side}; }

std::string text_of(const MediumTokens& tokens) {
  std::string text = tokenizer()->decode(tokens.ids, SpecialTokens::kKeep);
  for (std::size_t at = text.find("<image>"); at != std::string::npos; at = text.find("<image>", at + 1)) text.replace(at, 7, ".");
  return text;
}

MediaFacts video(std::vector<double> times_s, std::int64_t frames_before = 0) {
  const std::int64_t frames = std::ssize(times_s);
  return {MediaKind::kVideo, {}, frames, 0.0, true, std::move(times_s), frames_before};
}

TEST(MediaTokens, AnImageInTilesIsWrittenRowByRowAndWholeAtTheEnd) {
  const MediumTokens tokens = tokens_of_side(1).image({{}, {}, 2, 2});
  EXPECT_EQ(text_of(tokens),
            "<fake_token_around_image><row_1_col_1>.<fake_token_around_image><row_1_col_2>.\n"
            "<fake_token_around_image><row_2_col_1>.<fake_token_around_image><row_2_col_2>.\n\n"
            "<fake_token_around_image><global-img>.<fake_token_around_image>");
}

TEST(MediaTokens, OfOneSquareOnlyTheWholePictureIsWritten) {
  EXPECT_EQ(text_of(tokens_of_side(2).image({})), "<fake_token_around_image><global-img>....<fake_token_around_image>");
}

// Two by three tiles of 2 x 2 tokens are a grid of 4 x 6.
TEST(MediaTokens, RowsAndColumnsCountOverAllTiles) {
  const MediumTokens tokens = tokens_of_side(2).image({{}, {}, 2, 3});
  ASSERT_EQ(tokens.origins.size(), tokens.ids.size());
  std::vector<std::vector<int>> tile(4, std::vector<int>(6, -1));
  int whole = 0, words = 0;
  for (std::size_t i = 0; i < tokens.origins.size(); ++i) {
    const TokenOrigin& origin = tokens.origins[i];
    EXPECT_EQ(origin.modality, Modality::kVisual);
    EXPECT_EQ(origin.row >= 0, tokens.ids[i] == kImage);
    if (origin.row < 0) {
      ++words;
    } else if (origin.frame == 0) {
      ++whole;
    } else {
      tile.at(static_cast<std::size_t>(origin.row)).at(static_cast<std::size_t>(origin.column)) = origin.frame;
    }
  }
  EXPECT_EQ(tile, (std::vector<std::vector<int>>{{1, 1, 2, 2, 3, 3}, {1, 1, 2, 2, 3, 3}, {4, 4, 5, 5, 6, 6}, {4, 4, 5, 5, 6, 6}}));
  EXPECT_EQ(whole, 4);
  EXPECT_EQ(words, 6 * 2 + 1 + 2 + 3) << "two for each tile, a line end between the rows, two before the whole picture and its three";
  EXPECT_EQ(tokens.origins.front().frame, 1) << "a word is its tile's";
  EXPECT_EQ(tokens.origins.back().frame, 0);
}

TEST(MediaTokens, FramesComeAfterTheirTimes) {
  const MediumTokens tokens = tokens_of_side(1).frames(video({0.5, 59.99, 60.0, 754.2}));
  EXPECT_EQ(text_of(tokens),
            "<fake_token_around_image><global-img>.<fake_token_around_image>\nFrame from 00:59:"
            "<fake_token_around_image><global-img>.<fake_token_around_image>\nFrame from 01:00:"
            "<fake_token_around_image><global-img>.<fake_token_around_image>\nFrame from 12:34:"
            "<fake_token_around_image><global-img>.<fake_token_around_image>");
  EXPECT_EQ(tokens.origins[4].frame, 1) << "a time is its frame's";
  EXPECT_EQ(tokens.origins.back().frame, 3);
}

TEST(MediaTokens, FramesOfASourceGoOnAfterEarlierOnes) {
  const MediaTokens tokens = tokens_of_side(1);
  EXPECT_EQ(text_of(tokens.frames(video({6000.0}, 8))),
            "\nFrame from 100:00:<fake_token_around_image><global-img>.<fake_token_around_image>");
  EXPECT_EQ(std::ssize(tokens.frames(video({59.0}, 8)).ids), tokens.frame_tokens());
  EXPECT_EQ(std::ssize(tokens.frames(video({59.0})).ids), tokens.picture_tokens());
}

TEST(MediaTokens, AVideoIsIntroducedByItsLengthAndItsFirstTime) {
  const MediaTokens tokens = tokens_of_side(1);
  const TextAround around = tokens.around({3725.9, 64, {61.0}});
  EXPECT_EQ(around.before,
            "You are provided the following series of sixty-four frames from a 1:02:05 [H:MM:SS] video.\n\nFrame from 01:01:");
  EXPECT_EQ(around.after, "\n\n");
  EXPECT_EQ(tokens.around({90'061.0, 1, {0.0}}).before,
            "You are provided the following series of one frames from a 1 day, 1:01:01 [H:MM:SS] video.\n\nFrame from 00:00:");
}

TEST(MediaTokens, ASourceWithoutAnEndHasNoLengthToTell) {
  EXPECT_EQ(tokens_of_side(1).around({5.0, 5, {2.0}, true}).before, "\nFrame from 00:02:");
}

TEST(SpokenNumber, EqualsNum2words) {
  const Json golden = load_json(source_folder() + "/tests/golden/smolvlm/sizes.json");
  ASSERT_GE(golden["words"].size(), 20U);
  for (const auto& [number, words] : golden["words"].items()) EXPECT_EQ(spoken_number(std::stoll(number)), words) << number;
}

// SmolVLM-256M: 2,048 px, tiles of 512.
constexpr TileRules kRules{2048, 512, true};

TEST(TileGrid, AScreenIsFourByThreeTiles) {
  // 1920 x 1080 becomes 2048 x 1152, and 1152 is three tiles of 512 px.
  const TileGrid grid = tile_grid({1080, 1920}, kRules);
  EXPECT_EQ(grid.first, (PixelSize{1152, 2048}));
  EXPECT_EQ(grid.whole, (PixelSize{1536, 2048}));
  EXPECT_EQ(grid.rows, 3);
  EXPECT_EQ(grid.columns, 4);
}

TEST(TileGrid, TheShorterEdgeIsEven) {
  EXPECT_EQ(tile_grid({1000, 333}, {100, 10, true}).first, (PixelSize{100, 34}));  // 33.3, 33, 34
  EXPECT_EQ(tile_grid({333, 1000}, {100, 10, true}).first, (PixelSize{34, 100}));
  EXPECT_EQ(tile_grid({1, 900}, {100, 10, true}).first, (PixelSize{1, 100})) << "nothing is left of it; it is one pixel";
}

TEST(TileGrid, WhatFitsOneTileIsNotCut) {
  const TileGrid grid = tile_grid({30, 40}, {512, 512, true});
  EXPECT_EQ(grid.whole, (PixelSize{512, 512}));
  EXPECT_EQ(grid.rows, 0);
  EXPECT_EQ(grid.columns, 0);
}

TEST(TileGrid, WithoutSplittingEveryPictureIsOneSquare) {
  const TileGrid grid = tile_grid({1080, 1920}, {2048, 512, false});
  EXPECT_EQ(grid.first, (PixelSize{1152, 2048}));
  EXPECT_EQ(grid.whole, (PixelSize{512, 512}));
  EXPECT_EQ(grid.rows, 0);
}

TEST(TileGrid, SizesEqualTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/smolvlm/sizes.json");
  ASSERT_GE(golden["sizes"].size(), 500U);
  for (const Json& row : golden["sizes"]) {
    const TileGrid grid = tile_grid({row[2], row[3]}, {row[0], row[1], true});
    EXPECT_EQ(grid.first, (PixelSize{row[4], row[5]})) << row;
    EXPECT_EQ(grid.whole, (PixelSize{row[6], row[7]})) << row;
    EXPECT_EQ(grid.rows, row[8]) << row;
    EXPECT_EQ(grid.columns, row[9]) << row;
  }
}

TEST(TileGrid, MoreThanAThousandTilesAreRefused) {
  test::expect_error(ErrorCode::kLimitExceeded, "tiles", [] { tile_grid({100, 100}, {4096, 16, true}); });
}

}  // namespace
}  // namespace winnow::smolvlm_test
