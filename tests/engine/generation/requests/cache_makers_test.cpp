// What made a cache is told with it: by reports and plans, over method changes, comparisons, used answers, restarts.
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/generation/tiny_model.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

class CacheMakersTest : public TinyModel {
 protected:
  CacheMaker maker(const std::string& method, double share, bool attached) { return {ask("image", method, share).recipe, attached}; }
  static CacheMakers told(const EventRecorder& events) {
    EXPECT_TRUE(events.last<CacheReport>());
    return events.last<CacheReport>() ? events.last<CacheReport>()->makers : CacheMakers();
  }
  // The second question of a thread, going on from what its first answer said of itself.
  static Turn next(const Turn& first, const EventRecorder& answered, const std::string& question) {
    Turn turn = follow_up(first, finished(answered).answer, question);
    turn.goes_on_from = told(answered);
    return turn;
  }
  CacheMakers planned(const Turn& turn) {
    const EventRecorder events = run(Plan{turn});
    EXPECT_TRUE(events.last<Planned>());
    return events.last<Planned>() ? events.last<Planned>()->goes_on_from : CacheMakers();
  }
};

TEST_F(CacheMakersTest, AMethodThatChoosesAmongAllSlotsHasASayInWhatIsAttached) {
  const Turn first = ask("video", "self-study", 0.3, 12);
  const EventRecorder one = run(first);
  Turn second = next(first, one, "How many squares are there?");
  second.recipe = ask("image", "h2o", 0.5).recipe;
  const EventRecorder two = run(second);
  ASSERT_EQ(told(two).size(), 2U);
  EXPECT_TRUE(told(two).back().attached) << "it removes what the first one kept";
}

TEST_F(CacheMakersTest, WhatIsPreparedSaysWho) {
  const Turn turn = ask("image", "self-study", 0.3);
  EXPECT_EQ(told(run(Prepare{turn})), (CacheMakers{maker("self-study", 0.3, true)}));
  EXPECT_EQ(planned(turn), (CacheMakers{maker("self-study", 0.3, true)}));
  EXPECT_EQ(told(run(turn)), (CacheMakers{maker("self-study", 0.3, true)}));
}

TEST_F(CacheMakersTest, TheFirstWordIsCountedFromWhenItWasAsked) {
  Turn turn = ask("image", "full", 1.0);
  const Finished at_once = finished(run(turn));
  EXPECT_EQ(at_once.figures.timings_ms.waited, 0.0);
  turn.asked = std::chrono::steady_clock::now() - std::chrono::seconds(9);
  const Finished waited = finished(run(turn));
  EXPECT_GE(waited.figures.timings_ms.waited, 9000.0);
  EXPECT_GT(waited.figures.timings_ms.ttft, waited.figures.timings_ms.waited);
}

// Whatever is done with a thread: no figure of a cache comes from another cache than the one that is named. The cause is known here by
// what was really read: a turn that reads the image is made by its own recipe.
TEST_F(CacheMakersTest, AnySequenceTellsItsCause) {
  const std::pair<const char*, double> methods[] = {{"self-study", 0.3}, {"snapkv", 0.5}, {"streaming-llm", 0.5}, {"full", 1.0}};
  const test::ScratchFolder folder;
  const std::string path = folder.file("7.safetensors");
  std::mt19937 random(48);
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    run(ForgetConversation{7});
    auto pick = [&] { return methods[random() % std::size(methods)]; };
    auto [method, share] = pick();
    Turn turn = ask("image", method, share, 4);
    EventRecorder last = run(turn);
    CacheMakers cause = {{turn.recipe, true}};
    ASSERT_EQ(told(last), cause);
    for (int step = 0; step < 6; ++step) {
      const int what = static_cast<int>(random() % 4);
      std::tie(method, share) = pick();
      SCOPED_TRACE(::testing::Message() << step << ": " << what << " " << method);
      if (what == 1) {  // another answer to the last question, compared and used
        const RecipeSpec other = ask("image", method, share).recipe;
        const EventRecorder columns = run(compare_of(turn, {ask("image", "full", 1.0).recipe, other}));
        last = {};
        for (const Event& event : columns.events) {
          if (event.column == 1) last.on_event(event);
        }
        cause = {{other, true}};
        ASSERT_EQ(told(last), cause);
        turn.recipe = other;
      } else if (what == 2) {  // a restart; what cannot be kept is read again
        const std::int64_t kept = run(SaveConversation{7, path, "m"}).last<Saved>()->kv_bytes;
        run(ForgetConversation{7});
        if (kept > 0) run(LoadConversation{7, path, "m"});
      } else if (what == 3) {
        turn.recipe = ask("image", method, share).recipe;
      }
      turn = next(turn, last, "And then?");
      const CacheMakers goes_on_from = planned(turn);
      last = run(turn);
      const bool read_again = finished(last).figures.tokens.visual > 0;
      EXPECT_EQ(goes_on_from, read_again ? CacheMakers() : cause);
      if (read_again) cause.clear();
      note_maker(cause, turn.recipe, read_again || turn.recipe.method == "streaming-llm");
      ASSERT_EQ(told(last), cause);
    }
  }
}

}  // namespace
}  // namespace winnow::testing
