// How much frames are like a question, numbers computed by hand.
#include "engine/compression/statistics/frame_likeness.h"
#include "tests/engine/compression/layer_fixture.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

// Two query heads on one kv head, two rows; three frames of two slots each.
at::Tensor queries() { return at::tensor({1., 0., 0., 2., 2., 0., 0., 1.}).to(at::kFloat).view({2, 2, 2}); }
at::Tensor keys() { return at::tensor({1., 1., 0., 1., 1., -1., 0., 2., 1., 0., -1., 1.}).to(at::kFloat).view({1, 6, 2}); }
const std::vector<std::int64_t> kFrames = {0, 0, 1, 1, 2, 2};

TEST(FrameLikeness, ByDotProductTheFirstFrameIsBest) {
  testing::expect_near(frame_likeness(queries(), keys(), kFrames, false), {2.25, 1.5, 0.75});
}

TEST(FrameLikeness, ByCosineTheSecond) {
  testing::expect_near(frame_likeness(queries(), keys(), kFrames, true), {0.9, 0.948683, 0.670820});
}

TEST(FrameLikeness, KvHeadsAddUpEachWithItsOwnQueries) {
  const at::Tensor two_keys = at::cat({keys(), 2.0 * keys()}, 0);
  const at::Tensor four_queries = at::cat({queries(), queries()}, 0);
  testing::expect_near(frame_likeness(four_queries, two_keys, kFrames, false), {3 * 2.25, 3 * 1.5, 3 * 0.75});
}

TEST(FrameLikeness, AFramesSizeDoesNotCount) {
  const at::Tensor uneven = keys().index_select(1, at::tensor({0, 0, 0, 2, 3}, at::kLong));
  const std::vector<float> found = frame_likeness(queries(), uneven, std::vector<std::int64_t>{0, 0, 0, 1, 1}, false);
  testing::expect_near(found, {3.0, 1.5});
}

}  // namespace
}  // namespace winnow
