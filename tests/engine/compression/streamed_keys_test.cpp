// Keys and values of media that come in clips, numbers computed by hand in double precision.
#include "engine/compression/statistics/streamed_keys.h"

#include <gtest/gtest.h>

#include "engine/recipes/scorers/temporal_change.h"
#include "engine/recipes/select.h"
#include "tests/engine/compression/layer_fixture.h"

namespace winnow {
namespace {

using Numbers = std::vector<double>;

at::Tensor rows_of(const Numbers& numbers) { return at::tensor(numbers).to(at::kFloat).view({-1, 2}); }

std::vector<StreamedPlace> whole_frames(std::int32_t frames) {
  std::vector<StreamedPlace> places;
  for (std::int32_t frame = 0; frame < frames; ++frame) {
    for (std::int32_t cell = 0; cell < 2; ++cell) places.push_back({frame, cell});
  }
  return places;
}

const Numbers kKeys = {1, 0, 0, 1, 1, 1, 0, 2, 0, 1, 1, 0, 1, 0, 1, 1};
const Numbers kValues = {1, 0, 0, 3, 2, 0, 0, 1, 0, 0.5, 1, 1, 1, 0, 0, 2};

StatisticsNeeds change_needs(bool by_rank) { return {.value_norms = true, .change = ChangeNeed{0.125, by_rank}}; }

TEST(StreamedKeys, ChangeIsAgainstTheSamePlaceInTheNewestFrame) {
  const StreamedSlots slots = streamed_slots(rows_of(kKeys), rows_of(kValues), whole_frames(4), 2, change_needs(false));
  testing::expect_near(std::span(slots.change).first(6), {-1, -0.707107, -0.707107, -0.707107, 0, -0.707107});
  EXPECT_EQ(slots.recent, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 1, 1}));
  testing::expect_near(slots.value_norms, {1, 3, 2, 1, 0.5, 1.414214, 1, 2});
  const std::vector<float> scores = TemporalChangeScorer(0.5, {}).stream_scores(slots, 6);
  EXPECT_EQ(select_rows(scores, 6, {}), (std::vector<std::int32_t>{1, 2, 4, 5, 6, 7}));
}

// Two more frames behind what was left of the four.
struct LeftOver {
  std::vector<std::int32_t> tokens = {1, 2, 4, 5, 6, 7, 8, 9, 10, 11};
  at::Tensor keys, values;
  std::vector<StreamedPlace> places;

  LeftOver() {
    Numbers all_keys = kKeys;
    Numbers all_values = kValues;
    for (const double number : {1, 0, 0, 1, 1, 0, 0, 1}) all_keys.push_back(number);
    for (const double number : {1.0, 1.0, 0.5, 0.0, 0.0, 1.0, 3.0, 0.0}) all_values.push_back(number);
    const at::Tensor index = at::tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end()), at::kLong);
    keys = rows_of(all_keys).index_select(0, index);
    values = rows_of(all_values).index_select(0, index);
    for (const std::int32_t token : tokens) places.push_back({token / 2, token % 2});
  }
  std::vector<std::int32_t> kept(bool by_rank) const {
    const StreamedSlots slots = streamed_slots(keys, values, places, 2, change_needs(by_rank));
    std::vector<std::int32_t> left;
    for (const std::int32_t slot : select_rows(TemporalChangeScorer(0.5, {}).stream_scores(slots, 6), 6, {}))
      left.push_back(tokens[static_cast<std::size_t>(slot)]);
    return left;
  }
};

TEST(StreamedKeys, AfterACompressionASlotKeepsItsPlace) {
  const LeftOver left;
  const StreamedSlots slots = streamed_slots(left.keys, left.values, left.places, 2, change_needs(false));
  testing::expect_near(std::span(slots.change).first(8), {-1, -0.707107, 0, 0, -1, -0.707107, -1, -1});
  EXPECT_EQ(left.kept(false), (std::vector<std::int32_t>{1, 2, 4, 7, 10, 11}));
}

TEST(StreamedKeys, CountedOffByRankOtherPlacesAreCompared) {
  const LeftOver left;
  const StreamedSlots slots = streamed_slots(left.keys, left.values, left.places, 2, change_needs(true));
  testing::expect_near(std::span(slots.change).first(8), {0, -0.707107, 0, 0, -1, -0.707107, -1, -1});
  EXPECT_EQ(left.kept(true), (std::vector<std::int32_t>{1, 2, 5, 7, 10, 11}));
}

TEST(StreamedKeys, APlaceThatTheNewestFramesDoNotShowHasNotChanged) {
  std::vector<StreamedPlace> places = whole_frames(2);
  places.pop_back();
  places.insert(places.begin(), StreamedPlace{});  // text before them
  const at::Tensor keys = rows_of({1, 1, 1, 0, 0, 1, 1, 0});
  const StreamedSlots slots = streamed_slots(keys, keys, places, 2, change_needs(false));
  testing::expect_near(slots.change, {0, -1, 0, -1});
  EXPECT_EQ(slots.recent, (std::vector<std::uint8_t>{0, 0, 0, 1}));
}

TEST(StreamedKeys, LikenessIsAgainstTheMeanDirection) {
  StatisticsNeeds needs{.key_likeness = true};
  const at::Tensor keys = rows_of({2, 0, 1, 1, 0, 1, 1, -1, 0, 2});
  const StreamedSlots slots = streamed_slots(keys, keys, std::vector<StreamedPlace>(5), 1, needs);
  testing::expect_near(slots.key_likeness, {0.770076, 0.995626, 0.637952, 0.093426, 0.637952});
}

}  // namespace
}  // namespace winnow
