#include "engine/generation/reading/newest_frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace winnow {
namespace {

// Frames 0, 1 and 2 of two tokens each; a time stands before each of the last two, a word behind all.
const std::vector<StreamedPlace> kPlaces = {{0, 0}, {0, 1}, {}, {1, 0}, {1, 1}, {}, {2, 0}, {2, 1}, {}};
constexpr float kBest = std::numeric_limits<float>::infinity();

TEST(NewestFrames, ComeBeforeAllOthersWithTheTextThatBelongsToThem) {
  const NewestFrames newest(kPlaces, 2);
  for (std::int64_t token = 2; token < 9; ++token) {
    EXPECT_GT(newest.score(token, -1.0F), newest.score(0, kBest)) << token;
    if (token >= 5) {
      EXPECT_GT(newest.score(token, -1.0F), newest.score(4, kBest)) << "a newer frame before an older one";
    }
  }
  EXPECT_EQ(newest.score(5, 0.0F), newest.score(8, 0.0F));
  EXPECT_EQ(newest.score(1, 0.25F), 0.25F);
}

TEST(NewestFrames, NoneLeavesScoresInTheirOrder) {
  const NewestFrames none(kPlaces, 0);
  EXPECT_EQ(none.score(8, 0.5F), 0.5F);
  EXPECT_TRUE(std::isnan(none.score(8, std::nanf("")))) << "ranks last";
}

TEST(NewestFrames, MoreThanThereAreAreAll) {
  const NewestFrames all(kPlaces, 1024);
  EXPECT_GT(all.score(0, 0.0F), std::numeric_limits<float>::max() * 0.5F);
  EXPECT_GT(all.score(3, 0.0F), all.score(0, 0.0F));
}

}  // namespace
}  // namespace winnow
