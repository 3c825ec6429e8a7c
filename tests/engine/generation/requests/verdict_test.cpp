// "What changed?" says the same of an answer whatever happened to its cache since: it is what a fresh run of `full` says.
#include <gtest/gtest.h>

#include <sstream>

#include "engine/recipes/method_info.h"
#include "tests/engine/generation/demo_question.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

class Verdicts : public TinyModel {
 protected:
  void SetUp() override {
    question_ = demo_question(opener_);
    begin_anew();
  }
  // The engine has ended: nothing is remembered.
  void begin_anew() {
    engine_ = make_engine(&opener_);
    LoadModel load;
    load.folder = source_folder() + "/resources/demo/model";
    load.format = WeightFormat::kFp32;
    info_ = run(load).last<ModelLoaded>().value().info;
  }
  Turn first(const std::string& method, double share) {
    Turn turn;
    turn.conversation = 7;
    turn.messages = {question_};
    turn.recipe.method = method;
    turn.recipe.retention = share;
    turn.recipe.min_event_tokens = 0;
    turn.recipe = test_support::as_measured(turn.recipe, info_.layers, info_.kv_heads);
    turn.sampling.max_new_tokens = 40;
    return turn;
  }

  struct Answered {
    Turn turn;
    Finished said;
  };
  Answered answer(const Turn& turn) { return {turn, finished(run(turn))}; }
  Agreement verdict(const Answered& asked) {
    const EventRecorder events = run(Score{asked.turn, asked.said.answer, asked.said.thought, asked.said.reason});
    EXPECT_TRUE(events.last<Scored>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no outcome");
    return events.last<Scored>().value_or(Scored{}).agreement;
  }
  // What the full cache of all that was attached says to the same thread.
  std::string fresh_full(const Answered& asked) {
    begin_anew();
    Turn turn = asked.turn;
    turn.recipe = RecipeSpec();
    turn.recipe.method = "full";
    turn.guard = Guard::kPrefill;
    return finished(run(turn)).answer;
  }
  // After a restart with what was kept on disk, and after one without.
  void expect_to_last(const Answered& asked, const Agreement& before);

  static std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
  }
  static void expect_same(const Agreement& now, const Agreement& before) {
    EXPECT_EQ(now.tokens, before.tokens);
    EXPECT_EQ(now.same, before.same);
    EXPECT_EQ(now.top1, before.top1);
    EXPECT_EQ(now.full_loss, before.full_loss);
    ASSERT_EQ(now.differences.size(), before.differences.size());
    for (std::size_t i = 0; i < now.differences.size(); ++i) {
      EXPECT_EQ(now.differences[i].word, before.differences[i].word);
      EXPECT_EQ(now.differences[i].full_text, before.differences[i].full_text);
      EXPECT_EQ(now.differences[i].full_probability, before.differences[i].full_probability);
    }
  }

  const test::ScratchFolder folder_;
  Message question_;
  int wrong_ = 0;  // answers that are not the full cache's
};

void Verdicts::expect_to_last(const Answered& asked, const Agreement& before) {
  const std::string path = folder_.file("7.safetensors");
  const bool kept = run(SaveConversation{7, path, "demo"}).last<Saved>().value_or(Saved{}).kv_bytes > 0;
  if (kept) {
    begin_anew();
    ASSERT_TRUE(run(LoadConversation{7, path, "demo"}).last<Restored>());
    SCOPED_TRACE("restored from disk");
    expect_same(verdict(asked), before);
  }
  const std::vector<std::string> full = words(fresh_full(asked));
  const std::vector<std::string> said = words(asked.said.answer);
  EXPECT_EQ(before.top1 == 1.0, full == said) << asked.said.answer;
  if (full != said) {
    ++wrong_;
    const WordDifference& difference = before.differences.at(0);
    const auto at = static_cast<std::size_t>(difference.word);
    EXPECT_TRUE(std::equal(said.begin(), said.begin() + difference.word, full.begin())) << "up to the first difference both are the same";
    // A word that ends where the answer's goes on is told with the next one.
    EXPECT_EQ(difference.full_text.substr(0, difference.full_text.find(' ')), at < full.size() ? full[at] : "");
  }
  begin_anew();
  SCOPED_TRACE("nothing is left");
  const Agreement later = verdict(asked);
  expect_same(later, before);
  if (asked.turn.messages.size() > 1) {
    EXPECT_FALSE(later.mean_kl) << "a cache that is read again is not the one that wrote the answer";
  }
}

TEST_F(Verdicts, OfALaterAnswerLast) {
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    begin_anew();
    const Turn turn = first(method.name, 0.05);
    if (recipe_problem(turn.recipe, info_.traits)) continue;
    const Answered one = answer(turn);
    const Answered two = answer(follow_up(turn, one.said.answer, "What comes last?"));
    expect_to_last(two, verdict(two));
  }
  EXPECT_GT(wrong_, 5) << "5 % of the cache must cost something, or this test shows nothing";
}

TEST_F(Verdicts, OfAnAnswerThatWasUsedLast) {
  for (const char* method : {"snapkv", "h2o", "self-study", "streaming-llm"}) {
    SCOPED_TRACE(method);
    begin_anew();
    const Turn turn = first(method, 0.05);
    const Answered one = answer(turn);
    const Turn asked = follow_up(turn, one.said.answer, "What comes last?");
    const EventRecorder events = run(compare_of(asked, {first("full", 1.0).recipe, turn.recipe}));
    ASSERT_TRUE(events.last<Compared>());
    const Answered used{asked, events.all<Finished>().at(1)};
    const Agreement before = verdict(used);
    expect_same(before, events.all<Scored>().at(1).agreement);
    // Another question goes on from the column; then the engine ends.
    const Answered next = answer(follow_up(asked, used.said.answer, "How many squares are there?"));
    const Agreement of_next = verdict(next);
    expect_same(verdict(used), before);
    expect_to_last(used, before);
    begin_anew();
    expect_same(verdict(next), of_next);
  }
}

// Under `full` as well, a chat can go on from a cache that another method has compressed.
TEST_F(Verdicts, OfAnAnswerUnderFullBehindACompressedCacheLast) {
  const Turn turn = first("snapkv", 0.02);
  const Answered one = answer(turn);
  Turn next = follow_up(turn, one.said.answer, "What comes last?");
  next.recipe = first("full", 1.0).recipe;
  const Answered two = answer(next);
  expect_to_last(two, verdict(two));
}

// A drawn token is compared with the one that the full cache draws by the same number.
TEST_F(Verdicts, OfASampledAnswerLast) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const char* method : {"full", "snapkv"}) {
      SCOPED_TRACE(::testing::Message() << method << ", " << seed);
      begin_anew();
      Turn turn = first(method, method == std::string("full") ? 1.0 : 0.05);
      turn.sampling.temperature = 1.5;
      turn.sampling.repetition_penalty = 1.1;
      turn.sampling.seed = seed;
      const Answered one = answer(turn);
      const Answered two = answer(follow_up(turn, one.said.answer, "What comes last?"));
      const Agreement before = verdict(two);
      if (turn.recipe.method == "full") {
        EXPECT_EQ(before.top1, 1.0) << "whatever is drawn, the full cache draws the same";
      }
      begin_anew();
      expect_same(verdict(two), before);
    }
  }
}

}  // namespace
}  // namespace winnow::testing
