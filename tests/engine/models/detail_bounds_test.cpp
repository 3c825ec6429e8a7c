// What every family promises about a bound on the tokens of a picture or a frame, asked of each golden folder. That pixels and ids are
// transformers' under it: generation/detail_golden_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/engine/models/golden_model.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/vision_folders.h"

namespace winnow::detail_bounds_test {
namespace {

constexpr PictureSize kPictures[] = {{320, 211}, {93, 240}, {12, 9}, {500, 500}, {34, 24}, {40, 300}};
constexpr std::int64_t kBounds[] = {8, 12, 21, 40, 63, 70, 100, 139, 140, 200, 400, 900, 2500, 16'384};

class DetailBounds : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    model_ = test_support::load_golden_model(GetParam());
    if (std::string(GetParam()) == test_support::kRefusesAnImage) GTEST_SKIP() << "it refuses a single image";
  }
  std::int64_t image_tokens(const PictureSize& size, std::int64_t most) const {
    MediaFacts facts{MediaKind::kImage, size, 1, 0.0, true};
    facts.most_tokens = most;
    const std::vector<TokenOrigin> origins = model_->origins_of(facts);
    // A budget is one of tokens that stand for pixels; the two marks around them come on top.
    if (model_->info().picture_detail.kind != DetailKind::kBudgets) return std::ssize(origins);
    return std::ranges::count_if(origins, [](const TokenOrigin& origin) { return origin.row >= 0; });
  }
  // Of a set of joined frames, without the words between sets.
  std::int64_t frame_tokens(const PictureSize& size, std::int64_t most) const {
    MediaFacts facts{MediaKind::kVideo, size, 4 * model_->info().traits.joined_frames, 4.0, true};
    for (std::int64_t frame = 0; frame < facts.frames; ++frame) facts.times_s.push_back(static_cast<double>(frame));
    facts.most_tokens = most;
    const std::vector<TokenOrigin> origins = model_->origins_of(facts);
    return std::ranges::count_if(origins, [](const TokenOrigin& origin) { return origin.row >= 0; }) / 4;
  }

  c10::InferenceMode inference_;
  std::unique_ptr<VisionLanguageModel> model_;
};

TEST_P(DetailBounds, NoPictureTakesMoreThanItsBound) {
  const DetailChoices& choices = model_->info().picture_detail;
  for (const PictureSize& size : kPictures) {
    const std::int64_t as_the_model = image_tokens(size, 0);
    std::int64_t before = 0;
    for (const std::int64_t most : kBounds) {
      SCOPED_TRACE(std::to_string(size.width_px) + " x " + std::to_string(size.height_px) + " px, at most " + std::to_string(most));
      const std::int64_t tokens = image_tokens(size, most);
      if (choices.kind == DetailKind::kFixed) {
        EXPECT_EQ(tokens, as_the_model) << "it has one number";
        continue;
      }
      // A picture that is cut has one tile at least, a budget is one of a few.
      const std::int64_t least = choices.kind == DetailKind::kAnySize   ? 0
                                 : choices.kind == DetailKind::kBudgets ? 70
                                                                        : image_tokens(size, 1);
      EXPECT_LE(tokens, std::max(most, least));
      if (choices.kind == DetailKind::kTiles) continue;  // another grid may fit a picture's shape in fewer tokens
      EXPECT_GE(tokens, before) << "more was allowed";
      before = tokens;
    }
  }
}

TEST_P(DetailBounds, NoFrameTakesMoreThanItsBound) {
  if (!model_->info().traits.reads_videos) GTEST_SKIP() << "it reads no videos";
  const DetailChoices& choices = model_->info().frame_detail;
  for (const PictureSize& size : kPictures) {
    std::int64_t before = 0;
    const std::int64_t as_the_model = frame_tokens(size, 0);
    for (const std::int64_t most : kBounds) {
      SCOPED_TRACE(std::to_string(size.width_px) + " x " + std::to_string(size.height_px) + " px, at most " + std::to_string(most));
      const std::int64_t tokens = frame_tokens(size, most);
      if (choices.kind == DetailKind::kFixed) {
        EXPECT_EQ(tokens, as_the_model);
        continue;
      }
      const std::int64_t least = choices.kind == DetailKind::kAnySize   ? 0
                                 : choices.kind == DetailKind::kBudgets ? 70
                                                                        : frame_tokens(size, 1);
      EXPECT_LE(tokens, std::max(most, least));
      EXPECT_GE(tokens, before);
      before = tokens;
    }
  }
}

TEST_P(DetailBounds, WordsStandForMoreAndMore) {
  for (const DetailChoices& choices : {model_->info().picture_detail, model_->info().frame_detail}) {
    if (choices.kind == DetailKind::kFixed) {
      EXPECT_EQ(most_tokens({DetailLevel::kLow}, choices), 0) << "as it has it";
      EXPECT_EQ(most_tokens({DetailLevel::kTokens, 7}, choices), 0);
      continue;
    }
    EXPECT_LT(0, choices.low);
    EXPECT_LE(choices.low, choices.medium);
    EXPECT_LE(choices.medium, choices.high);
    EXPECT_EQ(most_tokens({}, choices), 0);
    EXPECT_EQ(most_tokens({DetailLevel::kMedium}, choices), choices.medium);
    EXPECT_EQ(most_tokens({DetailLevel::kTokens, 7}, choices), 7);
  }
}

// Of several sizes the pixels become what was announced: a picture goes all the way under a bound.
TEST_P(DetailBounds, APictureIsPreparedAsItWasAnnounced) {
  const RgbImage picture = [] {
    RgbImage made{93, 140, {}};
    for (int i = 0; i < 93 * 140 * 3; ++i) made.rgb.push_back(static_cast<std::uint8_t>(i * 7 % 251));
    return made;
  }();
  for (const std::int64_t most : {30, 75, 300}) {
    MediaFacts facts{MediaKind::kImage, {picture.width_px, picture.height_px}, 1, 0.0, true};
    facts.most_tokens = most;
    const EncodedParts parts = model_->encode(facts, model_->preprocess(facts, {&picture, 1}), {}, {});
    EXPECT_EQ(std::ssize(model_->join(facts, parts).origins), std::ssize(model_->origins_of(facts))) << most;
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, DetailBounds, ::testing::ValuesIn(test_support::vision_folders()), testing::folder_info_name);

TEST(MediaDetail, IsAWordOrANumberOfTokens) {
  for (const char* word : {"auto", "low", "medium", "high", "1", "512", "16384"}) {
    const std::optional<MediaDetail> detail = detail_of(word);
    ASSERT_TRUE(detail) << word;
    EXPECT_TRUE(detail->valid());
    EXPECT_EQ(detail_word(*detail), word);
  }
  for (const char* word : {"", "0", "-1", "16385", "lots", "5x", "+5", " 5", "99999999999999999999", "Low"})
    EXPECT_FALSE(detail_of(word)) << word;
  EXPECT_FALSE((MediaDetail{DetailLevel::kTokens, 0}.valid()));
  EXPECT_FALSE((MediaDetail{DetailLevel::kLow, 5}.valid())) << "a word has no number";
}

}  // namespace
}  // namespace winnow::detail_bounds_test
