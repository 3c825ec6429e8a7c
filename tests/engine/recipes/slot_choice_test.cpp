// Which rows stay, on segments of a dozen rows.
#include "engine/recipes/slot_choice.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "tests/engine/compression/named_composition.h"

namespace winnow {
namespace {

using ChosenRows = std::vector<std::int32_t>;

// One letter per row: s(ystem), v(isual), t(ext); an upper-case letter is pinned.
class Segment {
 public:
  explicit Segment(const std::string& letters) {
    for (const char letter : letters) {
      const char small = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      if (letter != small) pins_.push_back(static_cast<std::int32_t>(rows.modality.size()));
      rows.modality.push_back(small == 'v' ? Modality::kVisual : small == 't' ? Modality::kText : Modality::kSystem);
    }
    rows.info.tokens = std::ssize(rows.modality);
    rows.info.modality = rows.modality;
    rows.info.pinned = pins_;
    rows.find_rows();
  }

  CandidateRows rows;

 private:
  ChosenRows pins_;
};

Composition with(const Protection& protection, Scope scope = Scope::kAll) { return {.scope = scope, .protection = protection}; }

TEST(SlotChoice, ABudgetForAllKeepsAll) {
  const Segment segment("svvt");
  const SlotChoice choice(with({}));
  EXPECT_EQ(choice.competing(segment.rows), 4);
  EXPECT_EQ(choice.choose(segment.rows, {}, {}, 4), (ChosenRows{0, 1, 2, 3}));
}

TEST(SlotChoice, ProtectsPinsSinksAndTheWindowBeforeScores) {
  const Segment segment("ssvVvvtttt");
  const SlotChoice choice(with({.sinks = 1, .window = 2}));
  EXPECT_EQ(choice.competing_pins(segment.rows), 1);
  EXPECT_EQ(choice.protected_slots(segment.rows), 5);  // pin, sink, window, and one for a vote
  const std::vector<float> scores = {0, 1, 9, 0, 8, 0, 0, 7, 0, 0};
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 6), (ChosenRows{0, 2, 3, 4, 8, 9}));
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 2), (ChosenRows{3, 9}));  // pins first, then the newest
}

// Pins among sinks or in the window take no slot beside these.
TEST(SlotChoice, CountsNoSlotTwice) {
  const SlotChoice choice(with({.sinks = 2, .window = 3}));
  EXPECT_EQ(choice.protected_slots(Segment("SsvvvvvttT").rows), 6);
  EXPECT_EQ(choice.protected_slots(Segment("ssvVvvvttt").rows), 7);
}

TEST(SlotChoice, AShareOfTheBudgetIsRecent) {
  const Segment segment("vvvvvvvvtt");
  const SlotChoice choice(with({.recent_share = 0.5}));
  const std::vector<float> scores = {9, 8, 7, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 4), (ChosenRows{0, 1, 8, 9}));
}

// Sharing has to leave two slots to compare.
TEST(SlotChoice, SharedSlotsNeedOneMore) {
  Composition parts = testing::composition_of("ems");
  parts.protection = {.window = 2};
  EXPECT_EQ(SlotChoice(parts).protected_slots(Segment("vvvvvvtt").rows), 4);
  parts.reducer = std::make_shared<DropReducer>();
  EXPECT_EQ(SlotChoice(parts).protected_slots(Segment("vvvvvvtt").rows), 3);
}

TEST(SlotChoice, TextIsNoCandidateInScopeVisual) {
  const Segment segment("svVvvtvT");
  const SlotChoice choice(with({.window = 4}, Scope::kVisual));
  EXPECT_EQ(choice.competing(segment.rows), 5);
  EXPECT_EQ(choice.competing_pins(segment.rows), 1);
  EXPECT_EQ(choice.protected_slots(segment.rows), 1);
  const std::vector<float> scores = {0, 5, 0, 1, 2, 9, 3, 9};
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 2), (ChosenRows{0, 1, 2, 5, 7}));
  EXPECT_EQ(choice.count(segment.rows, 2), 5);
}

// What text leaves of the budget goes to images; text alone may be more than the budget.
TEST(SlotChoice, AllTextStaysWhateverTheBudgetSays) {
  const Segment segment("tvvvvttt");
  const SlotChoice choice(with({.all_text = true}));
  const std::vector<float> scores = {0, 1, 3, 2, 0, 0, 0, 0};
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 6), (ChosenRows{0, 2, 3, 5, 6, 7}));
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 2), (ChosenRows{0, 5, 6, 7}));
  EXPECT_EQ(choice.count(segment.rows, 2), 4);
}

// Half of six slots and the sink are protected: sink and window first, then the highest second score.
TEST(SlotChoice, ASecondScoreCompletesTheProtectedShare) {
  const Segment segment("vvvvvvvvvv");
  const SlotChoice choice(with({.sinks = 1, .window = 2, .completed_share = 0.5}));
  const std::vector<float> scores = {0, 9, 8, 7, 0, 0, 0, 0, 0, 0};
  const std::vector<float> guarding = {0, 0, 0, 0, 0, 5, 0, 0, 0, 0};
  EXPECT_EQ(choice.choose(segment.rows, scores, guarding, 6), (ChosenRows{0, 1, 2, 5, 8, 9}));
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 6), (ChosenRows{0, 1, 2, 3, 8, 9}));
}

TEST(SlotChoice, AShortTextStaysAtTheEnd) {
  const Segment segment("vvvvvttt");
  const SlotChoice choice(with({.window = 1}), 3);
  EXPECT_EQ(choice.protected_slots(segment.rows), 4);
  const std::vector<float> scores = {1, 2, 3, 4, 5, 0, 0, 0};
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 4), (ChosenRows{4, 5, 6, 7}));
}

TEST(SlotChoice, OfTheContextTextBetweenThePicturesCompetesToo) {
  const Segment segment("stvVtvvtt");
  const SlotChoice choice(with({}, Scope::kContext));
  EXPECT_EQ(choice.competing(segment.rows), 5);
  EXPECT_EQ(choice.protected_slots(segment.rows), 1);  // the pin
  const std::vector<float> scores = {9, 9, 1, 0, 5, 2, 3, 9, 9};
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 3), (ChosenRows{0, 1, 3, 4, 6, 7, 8}));
  EXPECT_EQ(choice.choose(segment.rows, scores, {}, 5), (ChosenRows{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(SlotChoice, EvenlySpacedRowsAreEveryKthOfThoseThatCompete) {
  Composition parts = with({}, Scope::kContext);
  parts.evenly_spaced = true;
  const SlotChoice choice(parts);
  const Segment segment("svvvvvvvvvvt");
  const std::vector<float> alike(12, 0.0F);
  EXPECT_EQ(choice.choose(segment.rows, alike, {}, 4), (ChosenRows{0, 1, 3, 6, 8, 11})) << "0, 2, 5, 7 of ten";
  const Segment pinned("svvvvVvvvvvt");
  EXPECT_EQ(choice.choose(pinned.rows, alike, {}, 4), (ChosenRows{0, 1, 4, 5, 8, 11})) << "the pin, and 0, 3, 6 of the other nine";
}

}  // namespace
}  // namespace winnow
