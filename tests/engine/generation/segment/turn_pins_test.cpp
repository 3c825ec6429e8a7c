#include "engine/generation/segment/turn_pins.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace winnow {
namespace {

TEST(TurnPins, APinReachesThePictureThatIsOnScreen) {
  const std::vector<double> actual{0.0, 2.0, 5.0};
  const std::vector<double> until{0.0, 3.0, 12.0};  // slides, looked at every three seconds
  const auto pinned = [&](double from_s, double to_s) {
    const std::vector<Pin> pins{{0, from_s, to_s}};
    return pinned_frames(pins, {0, MediaKind::kVideo, "slides.mp4", actual, until});
  };
  EXPECT_EQ(pinned(11.0, 11.5), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(pinned(2.5, 5.5), (std::vector<bool>{false, true, true}));
  EXPECT_THROW(pinned(13.0, 14.0), Exception) << "nobody looked whether it is still there";
  EXPECT_THROW(pinned(1.0, 1.5), Exception);
}

}  // namespace
}  // namespace winnow
