// Hundreds of frames in the width of a bar.
#include "ui/watch/watch_strip.h"

#include <gtest/gtest.h>

#include <QImage>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

using Values = std::vector<double>;

TEST(BinnedMeans, LeaveValuesAloneWhereThereIsRoom) {
  EXPECT_EQ(binnedMeans({1.0, 0.5, 0.0}, 3), (Values{1.0, 0.5, 0.0}));
  EXPECT_EQ(binnedMeans({1.0, 0.5}, 100), (Values{1.0, 0.5}));
  EXPECT_EQ(binnedMeans({}, 10), Values{});
  EXPECT_EQ(binnedMeans({1.0}, 0), Values{});
}

TEST(BinnedMeans, AreOfNeighboursInOrderAndOfAllOfThem) {
  EXPECT_EQ(binnedMeans({0.0, 0.5, 1.0, 1.0, 0.25, 0.75}, 3), (Values{0.25, 1.0, 0.5}));
  // Five in two groups: two and three.
  EXPECT_EQ(binnedMeans({1.0, 0.0, 0.0, 0.0, 0.75}, 2), (Values{0.5, 0.25}));
  Values rising(1000);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<double>(i);
  const Values means = binnedMeans(rising, 7);
  ASSERT_EQ(means.size(), 7U);
  EXPECT_TRUE(std::is_sorted(means.begin(), means.end()));
  EXPECT_LT(means.front(), 80.0);
  EXPECT_GT(means.back(), 920.0);
}

TEST(WatchStrip, HasAsManyBarsAsFitAndDrawsNothingOfWhatIsForgotten) {
  WatchStrip strip;
  strip.resize(400, 22);
  strip.setShares(Values(5000, 0.2));
  EXPECT_EQ(strip.bars().size(), static_cast<std::size_t>(400 / theme().px(4)));
  EXPECT_NEAR(strip.bars().front(), 0.2, 1e-9);
  strip.setShares({0.0, 1.0});
  EXPECT_TRUE(strip.accessibleDescription().contains(QStringLiteral("1 forgotten"))) << strip.accessibleDescription().toStdString();
  const QImage picture = strip.grab().toImage();
  const int low = picture.height() - 2;
  const int first = 1, second = static_cast<int>(picture.width() * (2.0 * theme().px(4) + 2) / 400);
  EXPECT_EQ(picture.pixelColor(first, low).rgb(), theme().colors().chartTrack.rgb());
  EXPECT_EQ(picture.pixelColor(second, low).rgb(), theme().colors().chartVisual.rgb());
}

}  // namespace
}  // namespace winnow::ui
