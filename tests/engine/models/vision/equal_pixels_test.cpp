// PixelPrune's rule on cells of one value, by hand.
#include "engine/models/vision/equal_pixels.h"

#include <gtest/gtest.h>

#include <string>

namespace winnow {
namespace {

// A picture of so many columns, its cells row by row; each is three equal values.
PixelValues picture(const std::vector<float>& cells, std::int64_t columns) {
  PixelValues pixels{.pixels = at::tensor(cells).unsqueeze(1).repeat({1, 3}),
                     .cells = PixelCells{std::ssize(cells) / columns, columns, 3, 1, {1.0, 1.0, 0.5}}};
  return pixels;
}

std::string marks(const std::vector<bool>& kept) {
  std::string text;
  for (const bool stays : kept) text += stays ? 'x' : '.';
  return text;
}

TEST(EqualPixels, LeaveWhereTheirNeighboursPredictThem) {
  // The sixth cell's corner equals its left and not what is above: it is predicted by what is above. The last one's left predicts it
  // wrongly.
  EXPECT_EQ(marks(EqualPixels(0.0).kept(picture({1, 1, 2, 1, 1, 2, 3, 3, 2}, 3), {})), "x.x...x.x");
  // Corner and above are equal, too: it is predicted by its left.
  EXPECT_EQ(marks(EqualPixels(0.0).kept(picture({1, 1, 1, 2}, 2), {})), "x..x");
  EXPECT_EQ(marks(EqualPixels(0.0).kept(picture({1, 1, 2, 1}, 2), {})), "x.xx") << "its left is another";
  EXPECT_EQ(marks(EqualPixels(0.0).kept(picture({1, 1, 1, 1}, 2), {true})), "xxxx") << "pinned";
}

// Two values that are within the threshold of their neighbour, but not of the first: what left stands for what predicted it.
TEST(EqualPixels, DoNotDrift) {
  EXPECT_EQ(marks(EqualPixels(0.15).kept(picture({0.0F, 0.1F, 0.2F, 0.3F}, 4), {})), "x.x.");
  // The third colour was divided by a half: its values differ by half as much.
  PixelValues blue = picture({0.0F, 0.0F}, 2);
  blue.pixels[1][2] = 0.25F;
  EXPECT_EQ(marks(EqualPixels(0.15).kept(blue, {})), "x.");
  blue.pixels[1][2] = 0.35F;
  EXPECT_EQ(marks(EqualPixels(0.15).kept(blue, {})), "xx");
}

TEST(EqualPixels, LeaveWhereThePictureBeforeHasThem) {
  EqualPixels video(0.0);
  PixelValues two = picture({1, 2, 3, 4, 1, 2, 5, 4}, 2);
  two.cells->rows = 2;
  EXPECT_EQ(marks(video.kept(two, {})), "xxxx..x.") << "two pictures at once";
  EXPECT_EQ(marks(video.kept(picture({1, 2, 3, 4}, 2), {})), "..x.") << "the next call goes on";
  EXPECT_EQ(marks(video.kept(picture({1, 2, 3, 4}, 2), {true})), "xxxx");
}

}  // namespace
}  // namespace winnow
