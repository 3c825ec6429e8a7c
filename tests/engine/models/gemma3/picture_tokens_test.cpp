#include "engine/models/families/gemma3_folder.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::gemma3_test {
namespace {

std::unique_ptr<Tokenizer> tokenizer(const std::string& folder = "gemma3/published") {
  return Tokenizer::from(read_tokenizer_file(source_folder() + "/tests/golden/" + folder + "/model/tokenizer.json"));
}

Gemma3Tokens tokens_of_side(std::int64_t side) { return {tokenizer(), side, "tokenizer.json"}; }

std::string text_of(const MediumTokens& tokens) {
  std::string text = tokenizer()->decode(tokens.ids, SpecialTokens::kKeep);
  for (const auto& [written, shown] : {std::pair{"<start_of_image>", "<"}, {"<image_soft_token>", "."}, {"<end_of_image>", ">"}}) {
    for (std::size_t at = text.find(written); at != std::string::npos; at = text.find(written, at + 1))
      text.replace(at, std::string_view(written).size(), shown);
  }
  return text;
}

constexpr CropGrid kTwoBeside{1, 2, {300, 300}};
constexpr CropGrid kThreeBelow{3, 1, {300, 300}};

TEST(Gemma3Tokens, APictureStandsBetweenItsMarkersAndEmptyLines) {
  const Gemma3Tokens tokens = tokens_of_side(2);
  EXPECT_EQ(text_of(tokens.image({})), "<....>");
  EXPECT_EQ(tokens.around({}).before, "\n\n");
  EXPECT_EQ(tokens.around({}).after, "\n\n");
  EXPECT_EQ(tokenizer()->token_bytes(tokens.begin_token_id()), "<start_of_image>");
}

TEST(Gemma3Tokens, CropsComeWithWords) {
  const Gemma3Tokens tokens = tokens_of_side(1);
  EXPECT_EQ(text_of(tokens.image(kTwoBeside)), "<.>\n\n and here are some crops to help you see better \n\n<.>\n\n \n\n<.>");
  EXPECT_EQ(tokens.around(kTwoBeside).before, "Here is the original image \n\n");
  EXPECT_EQ(tokens.around(kTwoBeside).after, "\n\n");
}

// The map's grid: tokens of crops side by side, or below each other, are one picture again.
TEST(Gemma3Tokens, RowsAndColumnsCountOverAllCrops) {
  for (const CropGrid& grid : {kTwoBeside, kThreeBelow}) {
    const MediumTokens tokens = tokens_of_side(2).image(grid);
    ASSERT_EQ(tokens.origins.size(), tokens.ids.size());
    std::vector<std::vector<int>> crop(static_cast<std::size_t>(2 * grid.rows),
                                       std::vector<int>(static_cast<std::size_t>(2 * grid.columns), -1));
    int whole = 0;
    for (const TokenOrigin& origin : tokens.origins) {
      EXPECT_EQ(origin.modality, Modality::kVisual);
      if (origin.row >= 0 && origin.frame == 0) ++whole;
      if (origin.row >= 0 && origin.frame > 0)
        crop.at(static_cast<std::size_t>(origin.row)).at(static_cast<std::size_t>(origin.column)) = origin.frame;
    }
    EXPECT_EQ(whole, 4);
    for (std::int64_t row = 0; row < 2 * grid.rows; ++row) {
      for (std::int64_t column = 0; column < 2 * grid.columns; ++column)
        EXPECT_EQ(crop[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)], 1 + row / 2 * grid.columns + column / 2);
    }
  }
}

TEST(Gemma3Tokens, ATokenizerWithoutTheTokensIsRefused) {
  test::expect_error(ErrorCode::kDamagedFile, "tokenizer.json",
                     [] { Gemma3Tokens(tokenizer("internvl/qwen2_saved"), 2, "tokenizer.json"); });
}

constexpr CropRules kRules{.wanted = true};

TEST(CropChoice, ALongPictureIsCutAlongItsLongerSide) {
  // 1,920 / 1,080 = 1.78, rounded 2.
  const CropGrid lying = crops_of({1080, 1920}, kRules);
  EXPECT_EQ(lying.rows, 1);
  EXPECT_EQ(lying.columns, 2);
  EXPECT_EQ(lying.crop, (PixelSize{1080, 960}));
  const CropGrid standing = crops_of({2500, 601}, kRules);
  EXPECT_EQ(standing.rows, 4) << "4.16, rounded";
  EXPECT_EQ(standing.columns, 1);
  EXPECT_EQ(standing.crop, (PixelSize{625, 601}));
}

TEST(CropChoice, NothingIsCutOfAPictureThatIsHardlyLongerOrSmall) {
  EXPECT_EQ(crops_of({600, 719}, kRules).crops(), 0);
  EXPECT_EQ(crops_of({600, 720}, kRules).crops(), 2);
  EXPECT_EQ(crops_of({255, 1000}, kRules).crops(), 0) << "crops of 255 px";
  EXPECT_EQ(crops_of({300, 500}, kRules).crops(), 0) << "two crops of 250 px";
  EXPECT_EQ(crops_of({1080, 1920}, {}).crops(), 0) << "nobody asked for it";
  EXPECT_EQ(crops_of({0, 0}, kRules).crops(), 0);
}

// Where transformers cuts crops without a pixel, they are left out.
TEST(CropChoice, EveryCropHasPixels) {
  const CropGrid grid = crops_of({5, 9}, {.wanted = true, .least_px = 1, .most = 64, .least_ratio = 1.0});
  EXPECT_EQ(grid.columns, 2);
  const CropGrid many = crops_of({1, 9}, {.wanted = true, .least_px = 1, .most = 7, .least_ratio = 1.0});
  EXPECT_EQ(many.crop.width_px, 2);
  EXPECT_EQ(many.columns, 5);
}

// Rows of tests/golden/make/make_gemma3_golden.py.
TEST(CropChoice, EqualsTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/gemma3/sizes.json");
  ASSERT_GE(golden["crops"].size(), 300U);
  for (const Json& row : golden["crops"]) {
    const CropGrid grid = crops_of({row[3], row[4]}, {true, row[0], row[1], row[2]});
    EXPECT_EQ(grid.rows, row[5].get<std::int64_t>()) << row.dump();
    EXPECT_EQ(grid.columns, row[6].get<std::int64_t>()) << row.dump();
  }
}

}  // namespace
}  // namespace winnow::gemma3_test
