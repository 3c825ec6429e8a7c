// Recipes whose event comes after the first answer token: what a turn says and holds then.
#include "engine/generation/prefill/first_step.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

class FirstSteps : public TinyModel {
 protected:
  Turn late(const std::string& method, double retention, int tokens = 12) {
    Turn turn = ask("image", method, retention, tokens);
    turn.recipe.options["event_at_first_decode"] = "true";
    return turn;
  }
};

// Two tokens come from the uncompressed cache instead of one; the event then finds the first of them among its candidates.
TEST_F(FirstSteps, TwoTokensComeFromTheUncompressedCache) {
  const EventRecorder full = run(ask("image", "full", 1.0, 2));
  for (const std::string method : {"meda", "d2o"}) {
    run(ForgetConversation{7});
    EXPECT_EQ(finished(run(late(method, 0.05, 2))).answer, finished(full).answer) << method;
    run(ForgetConversation{7});
    const EventRecorder at_once = run(ask("image", method, 0.3));
    run(ForgetConversation{7});
    const EventRecorder events = run(late(method, 0.3));
    const CacheReport report = *events.last<CacheReport>();
    const CacheReport before = *at_once.last<CacheReport>();
    ASSERT_EQ(report.tokens.size(), before.tokens.size() + 1) << method;
    const auto newest = static_cast<std::int32_t>(before.tokens.size());
    for (std::size_t layer = 0; layer < report.layers.size(); ++layer) {
      EXPECT_EQ(report.layers[layer].budget, before.layers[layer].budget) << method << ": the prompt's budgets";
      EXPECT_EQ(report.layers[layer].kept, before.layers[layer].kept) << method;
      for (const std::vector<std::int32_t>& head : report.kept[layer]) EXPECT_EQ(head.back(), newest) << method;
    }
    EXPECT_EQ(report.texts.back().token, newest) << method;
    EXPECT_EQ(report.kv_bytes.full, before.kv_bytes.full + info_.kv_bytes_per_token) << method;
    // It counts as generated, not as a part of the prompt.
    const Finished done = finished(events);
    EXPECT_EQ(done.figures.tokens.prompt, finished(at_once).figures.tokens.prompt) << method;
    EXPECT_EQ(
        done.figures.layers.front().end.text + done.figures.layers.front().end.visual + done.figures.layers.front().end.generated,
        method == "d2o" ? report.layers.front().kept : report.layers.front().kept + static_cast<double>(done.figures.tokens.generated - 2))
        << method;
    EXPECT_GE(done.figures.layers.front().end.generated, 1.0) << method;
  }
}

TEST_F(FirstSteps, AnAnswerOfOneTokenIsTheEventOfThePrompt) {
  for (const std::string method : {"meda", "d2o"}) {
    run(ForgetConversation{7});
    const EventRecorder plain = run(ask("image", method, 0.3, 1));
    run(ForgetConversation{7});
    const EventRecorder events = run(late(method, 0.3, 1));
    EXPECT_EQ(events.last<CacheReport>()->kept, plain.last<CacheReport>()->kept) << method;
    EXPECT_EQ(finished(events).answer, finished(plain).answer) << method;
  }
}

TEST_F(FirstSteps, AShareOfOneIsBitIdenticalToFull) {
  const EventRecorder full = run(ask("image", "full", 1.0, 16));
  for (const std::string method : {"meda", "d2o"}) {
    run(ForgetConversation{7});
    const EventRecorder events = run(late(method, 1.0, 16));
    EXPECT_EQ(finished(events).answer, finished(full).answer) << method;
    EXPECT_EQ(events.last<CacheReport>()->kept, full.last<CacheReport>()->kept) << method;
  }
}

// Sampled answers too: the token that was read ahead is the one that the answer begins with, whatever was asked of the sampler.
TEST_F(FirstSteps, SampledAnswersBeginWithTheTokenThatWasRead) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Turn turn = late("d2o", 0.3, 10);
    turn.sampling.temperature = 1.5;
    turn.sampling.seed = seed;
    turn.sampling.repetition_penalty = 1.5;
    run(ForgetConversation{7});
    const std::string once = finished(run(turn)).answer;
    run(ForgetConversation{7});
    EXPECT_EQ(finished(run(turn)).answer, once);
  }
}

TEST_F(FirstSteps, AColumnOfAComparisonIsTheTurn) {
  for (const std::string method : {"meda", "d2o"}) {
    const Turn turn = late(method, 0.2, 16);
    const EventRecorder column = run(compare_of(turn, {turn.recipe}));
    run(ForgetConversation{7});
    const EventRecorder alone = run(turn);
    EXPECT_EQ(finished(column).answer, finished(alone).answer) << method;
    EXPECT_EQ(column.last<CacheReport>()->kept, alone.last<CacheReport>()->kept) << method;
    EXPECT_EQ(finished(column).figures.kv_bytes.end, finished(alone).figures.kv_bytes.end) << method;
    // The teacher-forced score of the turn is the column's.
    ASSERT_TRUE(column.last<Scored>()) << method;
    const EventRecorder scored = run(Score{turn, finished(alone).answer, {}, finished(alone).reason});
    ASSERT_TRUE(scored.last<Scored>()) << method;
    EXPECT_EQ(scored.last<Scored>()->agreement.mean_kl, column.last<Scored>()->agreement.mean_kl) << method;
    EXPECT_EQ(scored.last<Scored>()->agreement.top1, column.last<Scored>()->agreement.top1) << method;
  }
}

// Every later turn has its own event under every policy; D2O goes on following what the first ones saw.
TEST_F(FirstSteps, TurnsGoOn) {
  for (const std::string method : {"meda", "d2o"}) {
    for (const TurnPolicy policy : {TurnPolicy::kSegment, TurnPolicy::kWhole, TurnPolicy::kFirstOnly}) {
      for (const Guard guard : {Guard::kKeep, Guard::kPrefill, Guard::kRam}) {
        run(ForgetConversation{7});
        Turn turn = late(method, 0.3, 10);
        turn.recipe.turn_policy = policy;
        turn.guard = guard;
        for (int round = 0; round < 3; ++round) {
          const EventRecorder events = run(turn);
          const Finished done = finished(events);
          ASSERT_FALSE(done.answer.empty()) << method;
          const CacheReport report = *events.last<CacheReport>();
          for (const auto& layer : report.kept) {
            for (const auto& head : layer) {
              EXPECT_TRUE(std::is_sorted(head.begin(), head.end())) << method;
              EXPECT_TRUE(std::adjacent_find(head.begin(), head.end()) == head.end()) << method;
              EXPECT_LT(head.back(), std::ssize(report.tokens)) << method;
            }
          }
          turn = follow_up(turn, done.answer, "And now?");
          turn.messages.back().items.insert(turn.messages.back().items.begin(), golden_.message("image", opener_).items.front());
        }
      }
    }
  }
}

TEST_F(FirstSteps, ThePlanKnowsIt) {
  for (const std::string method : {"meda", "d2o"}) {
    run(ForgetConversation{7});
    const Turn turn = late(method, 0.3);
    const EventRecorder said = run(Plan{turn});
    ASSERT_TRUE(said.last<Planned>());
    const EventRecorder events = run(turn);
    EXPECT_EQ(said.last<Planned>()->kv_bytes_after_event, events.last<CacheReport>()->kv_bytes.after_event) << method;
    EXPECT_EQ(said.last<Planned>()->kv_bytes_full, events.last<CacheReport>()->kv_bytes.full) << method;
    EXPECT_EQ(said.last<Planned>()->peak_bytes, events.last<CacheReport>()->kv_bytes.peak) << method;
  }
}

}  // namespace
}  // namespace winnow::testing
