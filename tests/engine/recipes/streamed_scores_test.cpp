// Scores of media that come clip by clip, numbers computed by hand.
#include "engine/recipes/streamed_scores.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "engine/recipes/method_info.h"
#include "engine/recipes/scorers/context_scorer.h"
#include "engine/recipes/scorers/position_scores.h"
#include "engine/recipes/scorers/temporal_change.h"
#include "engine/recipes/select.h"

namespace winnow {
namespace {

using StreamSlots = std::vector<std::int32_t>;

StreamSlots best_two(const StreamedScores& scores) { return select_rows(scores.heads().front(), 2, {}); }

// Two slots for clips of three and two tokens.
TEST(StreamedScores, ASlotKeepsItsBestScore) {
  StreamedScores scores(1);
  scores.judge({{0.4F, 0.1F, 0.3F}}, true);
  ASSERT_EQ(best_two(scores), (StreamSlots{0, 2}));
  scores.keep(0, StreamSlots{0, 2});
  scores.judge({{0.1F, 0.35F, 0.2F, 0.3F}}, true);  // of tokens 0, 2, 3, 4
  EXPECT_EQ(scores.heads().front(), (std::vector<float>{0.4F, 0.35F, 0.2F, 0.3F}));
  EXPECT_EQ(best_two(scores), (StreamSlots{0, 1})) << "tokens 0 and 2";
}

TEST(StreamedScores, OrTheLastClipsAlone) {
  StreamedScores scores(1);
  scores.judge({{0.4F, 0.1F, 0.3F}}, false);
  scores.keep(0, StreamSlots{0, 2});
  scores.judge({{0.1F, 0.35F, 0.2F, 0.3F}}, false);
  EXPECT_EQ(best_two(scores), (StreamSlots{1, 3})) << "tokens 2 and 4";
}

StreamedSlots four_frames_of_two() {
  return {.value_norms = {1.0F, 3.0F, 2.0F, 1.0F, 0.5F, 1.414214F, 1.0F, 2.0F},
          .change = {-1.0F, -0.707107F, -0.707107F, -0.707107F, 0.0F, -0.707107F, -1.0F, -1.0F},
          .recent = {0, 0, 0, 0, 0, 0, 1, 1}};
}

// InfiniPot-V: of six slots three go to the newest frame and what changed most, three to the largest values.
TEST(TemporalChange, NewestAndChangedSlotsComeFirstThenLargeValues) {
  const TemporalChangeScorer scorer(0.5, {});
  const std::vector<float> scores = scorer.stream_scores(four_frames_of_two(), 6);
  const float first = std::numeric_limits<float>::infinity();
  EXPECT_EQ(scores, (std::vector<float>{1.0F, 3.0F, 2.0F, 1.0F, first, 1.414214F, first, first}));
  EXPECT_EQ(select_rows(scores, 6, {}), (StreamSlots{1, 2, 4, 5, 6, 7}));
}

TEST(TemporalChange, WithoutAShareForChangeValuesAloneCount) {
  const TemporalChangeScorer scorer(0.0, {});
  EXPECT_EQ(scorer.stream_scores(four_frames_of_two(), 6), four_frames_of_two().value_norms);
}

TEST(KeyDifference, OfAStreamIsMinusTheLikeness) {
  StreamedSlots slots{.key_likeness = {0.25F, -0.5F}};
  EXPECT_EQ(KeyDifferenceScorer().stream_scores(slots, 1), (std::vector<float>{-0.25F, 0.5F}));
}

TEST(Recency, OfAStreamTheNewestTokensComeFirstHoweverLongItIs) {
  StreamedSlots slots;
  slots.originals = {20'000'000, 20'000'001, 20'000'002};  // beyond what a float counts by ones
  EXPECT_EQ(RecencyScorer().stream_scores(slots, 1), (std::vector<float>{0.0F, 1.0F, 2.0F}));
}

std::string refused(const std::function<void(RecipeSpec&)>& change) {
  RecipeSpec spec{.method = "kvzip-stream"};
  change(spec);
  const auto problem = recipe_problem(spec);
  return problem ? problem->subject : "";
}

TEST(StreamRecipes, TakeOnlyPartsThatCanJudgeWhatIsStillComing) {
  EXPECT_EQ(refused([](RecipeSpec&) {}), "");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.allocator = "self-study"; }), "");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.scorer = "keydiff"; }), "");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.granularity = "head"; }), "");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.scorer = "recency"; }), "");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.scorer = "snapkv"; }), "scorer");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.scorer = "expected-attention"; }), "scorer");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.allocator = "vl-cache"; }), "allocator");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.reducer = "pivot"; }), "reducer");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.scope = "visual"; }), "scope");
  EXPECT_EQ(refused([](RecipeSpec& spec) { spec.turn_policy = TurnPolicy::kWhole; }), "turn_policy");
  EXPECT_EQ(refused([](RecipeSpec& spec) {
              spec.method = "kvzip";
              spec.scorer = "temporal-change";
            }),
            "scorer");
}

}  // namespace
}  // namespace winnow
