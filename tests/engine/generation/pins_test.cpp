// Pins on a tiny random model: every preset keeps a pinned frame's tokens at two percent, whatever way the question is asked.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

class Pins : public TinyModel {
 protected:
  // A video of as many pictures, taken one a second from 0 s on.
  Turn ask_video(const std::string& method, double retention, int pictures = 12, int tokens = 8) {
    Turn turn = ask("text", method, retention, tokens);
    turn.messages.back().items.insert(turn.messages.back().items.begin(), video("clip", pictures));
    return turn;
  }
  MediaItem video(const std::string& path, int pictures) {
    std::vector<RgbImage> frames;
    for (int i = 0; i < pictures; ++i) {
      RgbImage frame{8, 8, std::vector<std::uint8_t>(192)};
      for (std::size_t at = 0; at < frame.rgb.size(); ++at)
        frame.rgb[at] = static_cast<std::uint8_t>((at * 7 + static_cast<std::size_t>(i) * 31) % 251);
      frames.push_back(std::move(frame));
    }
    opener_.add(path, std::move(frames));
    MediaItem item;
    item.media.path = path;
    item.media.kind = MediaKind::kVideo;
    item.media.plan.frame_count = pictures;
    return item;
  }

  static std::vector<std::int32_t> tokens_of(const CacheReport& report, std::int32_t media, const std::vector<std::int32_t>& frames) {
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < report.tokens.size(); ++i) {
      const TokenOrigin& origin = report.tokens[i];
      const bool frame = frames.empty() || std::find(frames.begin(), frames.end(), origin.frame) != frames.end();
      if (origin.media == media && frame) tokens.push_back(static_cast<std::int32_t>(i));
    }
    return tokens;
  }

  static void expect_kept(const CacheReport& report, const std::vector<std::int32_t>& tokens) {
    EXPECT_EQ(report.pinned, tokens);
    for (std::size_t layer = 0; layer < report.kept.size(); ++layer) {
      for (std::size_t head = 0; head < report.kept[layer].size(); ++head) {
        const auto& kept = report.kept[layer][head];
        for (const std::int32_t token : tokens) {
          ASSERT_TRUE(std::binary_search(kept.begin(), kept.end(), token))
              << "token " << token << " left layer " << layer << ", head " << head;
        }
      }
    }
  }
};

TEST_F(Pins, OfFramesHoldInEveryMethodAtTwoPercent) {
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    run(ForgetConversation{7});
    Turn turn = ask_video(method.name, 0.02, 12, 40);
    turn.sampling.stop_strings.clear();
    if (method.name == "ivtp" || method.name == "fastv") turn.recipe.options["layer"] = "1";
    turn.pins = {{0, 2.0, 3.5}, {0, 9.0, 9.0}};
    const EventRecorder events = run(turn);
    const Finished one = finished(events);
    const CacheReport report = events.last<CacheReport>().value();
    const std::vector<std::int32_t> pinned = tokens_of(report, 0, {2, 3, 9});
    ASSERT_EQ(pinned.size() % 3, 0U);
    ASSERT_GT(pinned.size(), 0U);
    expect_kept(report, pinned);
    const bool drops = method.name != "full";
    const bool told = std::count(report.notes.begin(), report.notes.end(), CompressionNote::kPinsAboveBudget) == 1;
    EXPECT_EQ(told, drops) << "three of twelve frames are more than two percent";
    EXPECT_EQ(one.figures.notes, report.notes);

    // A later turn with a medium of its own: the earlier pins have survived the answer, the new ones hold beside them.
    Turn later = follow_up(turn, one.answer, "And here?");
    later.messages.back().items.insert(later.messages.back().items.begin(), video("other", 8));
    later.pins.push_back({1, 5.0, 5.0});
    const EventRecorder next = run(later);
    finished(next);
    const CacheReport second = next.last<CacheReport>().value();
    std::vector<std::int32_t> both = tokens_of(second, 0, {2, 3, 9});
    EXPECT_EQ(both, pinned);
    const std::vector<std::int32_t> added = tokens_of(second, 1, {5});
    both.insert(both.end(), added.begin(), added.end());
    expect_kept(second, both);
  }
}

// Where everything that the cache holds competes again at the second question (turn policy whole, or the full cache kept beside it), what
// was pinned at the first stays too.
TEST_F(Pins, HoldWhereEverythingCompetesAgain) {
  for (const bool from_full : {false, true}) {
    for (const MethodInfo& method : list_methods()) {
      SCOPED_TRACE(method.name + (from_full ? ", guard ram" : ", whole"));
      run(ForgetConversation{7});
      Turn turn = ask_video(method.name, 0.05, 12, 12);
      turn.sampling.stop_strings.clear();
      if (method.name == "ivtp" || method.name == "fastv") turn.recipe.options["layer"] = "1";
      if (from_full) turn.guard = Guard::kRam;
      turn.recipe.turn_policy = from_full ? TurnPolicy::kSegment : TurnPolicy::kWhole;
      turn.pins = {{0, 4.0, 5.0}};
      const EventRecorder first = run(turn);
      if (first.last<Failed>()) {
        // Token pruning has no event that could take place again.
        EXPECT_TRUE(method.phase == MethodPhase::kPrefill || phase_facts(method.phase).before_question)
            << first.last<Failed>()->error.reason;
        continue;
      }
      const Finished one = finished(first);
      const std::vector<std::int32_t> pinned = tokens_of(first.last<CacheReport>().value(), 0, {4, 5});
      expect_kept(first.last<CacheReport>().value(), pinned);
      Turn later = follow_up(turn, one.answer, "And here?");
      later.messages.back().items.insert(later.messages.back().items.begin(), video("other", 8));
      later.pins.push_back({1, 2.0, 2.0});
      const EventRecorder next = run(later);
      finished(next);
      const CacheReport second = next.last<CacheReport>().value();
      std::vector<std::int32_t> both = pinned;
      const std::vector<std::int32_t> added = tokens_of(second, 1, {2});
      both.insert(both.end(), added.begin(), added.end());
      expect_kept(second, both);
    }
  }
}

TEST_F(Pins, OfAnImageHoldAllOfItsTiles) {
  for (const std::string method : {"snapkv", "aircache", "ems", "fastervlm"}) {
    SCOPED_TRACE(method);
    run(ForgetConversation{7});
    Turn turn = ask("image", method, 0.02);
    turn.pins = {{0}};
    const EventRecorder events = run(turn);
    finished(events);
    const CacheReport report = events.last<CacheReport>().value();
    expect_kept(report, tokens_of(report, 0, {}));
    EXPECT_EQ(std::ssize(report.pinned), finished(events).figures.tokens.visual);
  }
}

TEST_F(Pins, NothingPinnedIsNothingChanged) {
  const EventRecorder plain = run(ask_video("snapkv", 0.2));
  run(ForgetConversation{7});
  Turn turn = ask_video("snapkv", 0.2);
  const EventRecorder again = run(turn);
  EXPECT_EQ(plain.last<CacheReport>()->kept, again.last<CacheReport>()->kept);
  EXPECT_TRUE(plain.last<CacheReport>()->pinned.empty());
  // And what is pinned changes what is kept, within the same bytes.
  run(ForgetConversation{7});
  turn.pins = {{0, 4.0, 4.0}};
  const EventRecorder pinned = run(turn);
  EXPECT_NE(plain.last<CacheReport>()->kept, pinned.last<CacheReport>()->kept);
}

TEST_F(Pins, AColumnOfAComparisonIsTheTurn) {
  Turn turn = ask_video("vl-cache", 0.05);
  turn.pins = {{0, 6.0, 7.0}};
  RecipeSpec pruning = turn.recipe;
  pruning.method = "fastv";
  pruning.options["layer"] = "1";
  const Compare compare = compare_of(turn, {turn.recipe, pruning});
  const EventRecorder events = run(compare);
  ASSERT_TRUE(events.last<Compared>());
  for (std::size_t i = 0; i < compare.recipes.size(); ++i) {
    run(ForgetConversation{7});
    turn.recipe = compare.recipes[i];
    const EventRecorder alone = run(turn);
    const CacheReport expected = alone.last<CacheReport>().value();
    expect_kept(expected, tokens_of(expected, 0, {6, 7}));
    const std::vector<CacheReport> reports = events.all<CacheReport>();
    EXPECT_EQ(reports.at(i).kept, expected.kept);
    EXPECT_EQ(reports.at(i).pinned, expected.pinned);
  }
}

TEST_F(Pins, AnAnswerIsScoredWithThem) {
  Turn turn = ask_video("random", 0.05, 12, 20);
  turn.pins = {{0, 1.0, 2.0}};
  const Finished answer = finished(run(turn));
  const EventRecorder compared = run(compare_of(turn, {turn.recipe}));
  ASSERT_TRUE(compared.last<Scored>());
  run(ForgetConversation{7});
  finished(run(turn));
  const EventRecorder scored = run(Score{turn, answer.answer, answer.thought, answer.reason});
  ASSERT_TRUE(scored.last<Scored>());
  EXPECT_EQ(scored.last<Scored>()->agreement.mean_kl, compared.last<Scored>()->agreement.mean_kl);
}

// Asked again with the question's own medium pinned otherwise: what came before it is not read again.
TEST_F(Pins, OfTheLastQuestionsMediumChangeWhereItIsAskedAgain) {
  Turn first = ask_video("snapkv", 0.3);
  first.pins = {{0, 2.0, 2.0}};
  Turn second = follow_up(first, finished(run(first)).answer, "And here?");
  second.messages.back().items.insert(second.messages.back().items.begin(), video("other", 8));
  const Finished one = finished(run(second));
  second.pins.push_back({1, 5.0, 5.0});
  const EventRecorder again = run(second);
  EXPECT_EQ(finished(again).figures.tokens.prompt, one.figures.tokens.prompt);
  const CacheReport report = again.last<CacheReport>().value();
  std::vector<std::int32_t> both = tokens_of(report, 0, {2});
  const std::vector<std::int32_t> added = tokens_of(report, 1, {5});
  both.insert(both.end(), added.begin(), added.end());
  expect_kept(report, both);
}

TEST_F(Pins, ThatNameNothingAreRefused) {
  const auto reason_of = [&](std::vector<Pin> pins) {
    run(ForgetConversation{7});
    Turn turn = ask_video("snapkv", 0.2);
    turn.pins = std::move(pins);
    const EventRecorder events = run(turn);
    EXPECT_TRUE(events.last<Failed>());
    if (!events.last<Failed>()) return std::string();
    EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kInvalidArgument);
    return events.last<Failed>()->error.reason;
  };
  EXPECT_EQ(reason_of({{1}}), "number 2 is pinned, but the conversation has one thing attached");
  EXPECT_EQ(reason_of({{-1}}), "number 0 is pinned, but the conversation has one thing attached");
  EXPECT_EQ(reason_of({{0, 3.2, 3.8}}), "no frame was taken between 3.20 s and 3.80 s; the nearest one shows 3.00 s");
  EXPECT_EQ(reason_of({{0, 5.0, 4.0}}), "a pinned range must not end before it begins");
  EXPECT_EQ(reason_of({{0, std::nan(""), 4.0}}), "a pinned range must not end before it begins");
}

}  // namespace
}  // namespace winnow::testing
