// Frames fetched for a question, on a tiny random model: every question chooses anew from all of them.
#include <gtest/gtest.h>

#include "tests/engine/generation/asking.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

using Retrieval = TinyModel;

// Visual tokens that a layer has fetched; all of its heads the same.
std::vector<std::vector<std::int32_t>> fetched(const EventRecorder& events) {
  const CacheReport report = events.last<CacheReport>().value();
  std::vector<std::vector<std::int32_t>> layers;
  for (const auto& heads : report.kept) {
    std::vector<std::int32_t>& layer = layers.emplace_back();
    for (const std::int32_t token : heads.front()) {
      if (report.tokens[static_cast<std::size_t>(token)].modality == Modality::kVisual) layer.push_back(token);
    }
    for (const auto& head : heads) EXPECT_EQ(head, heads.front());
  }
  return layers;
}

TEST_F(Retrieval, WholeFramesAreFetchedTheLastPerhapsInPart) {
  const EventRecorder events = run(ask("video", "rekv", 0.4));
  finished(events);
  const CacheReport report = events.last<CacheReport>().value();
  for (const auto& layer : fetched(events)) {
    std::map<std::int32_t, std::int64_t> of_frame;
    std::map<std::int32_t, std::int64_t> all;
    for (const TokenOrigin& origin : report.tokens) all[origin.frame] += origin.row >= 0 ? 1 : 0;
    for (const std::int32_t token : layer) {
      const TokenOrigin& origin = report.tokens[static_cast<std::size_t>(token)];
      of_frame[origin.frame] += origin.row >= 0 ? 1 : 0;
    }
    std::int64_t cut = 0;
    for (const auto& [frame, tokens] : of_frame) cut += frame >= 0 && tokens < all[frame] ? 1 : 0;
    EXPECT_LE(cut, 1);
  }
}

TEST_F(Retrieval, EveryQuestionFetchesAnewFromAllFrames) {
  const Turn turn = asking(ask("video", "rekv", 0.3, 12), "Which color?");
  const EventRecorder first = run(turn);
  bool differs = false;
  for (const char* question :
       {"How many squares are there, and what does the last card say?", "?", "red red red red", "1 2 3 4 5 6 7 8 9"}) {
    SCOPED_TRACE(question);
    const Turn other = asking(turn, question);
    const EventRecorder next = run(other);
    EXPECT_EQ(finished(next).figures.tokens.visual, 0) << "nothing is read again";
    differs = differs || fetched(next) != fetched(first);
    Turn alone = other;
    alone.conversation = 8;
    const EventRecorder fresh = run(alone);
    EXPECT_EQ(fetched(fresh), fetched(next));
    EXPECT_EQ(finished(fresh).answer, finished(next).answer);
    run(ForgetConversation{8});
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(fetched(run(turn)), fetched(first)) << "the store is as it was";
}

TEST_F(Retrieval, TheTextOfAConversationStaysAndItsFramesAreExchanged) {
  const Turn turn = asking(ask("video", "rekv", 0.3, 12), "Which color?");
  const EventRecorder first = run(turn);
  const Turn later = follow_up(turn, finished(first).answer, "How many squares are there, and what does the last card say?");
  const EventRecorder second = run(later);
  EXPECT_EQ(finished(second).figures.tokens.visual, 0);
  EXPECT_NE(fetched(second), fetched(first));
  std::size_t before = 0;
  std::size_t after = 0;
  for (const auto& layer : fetched(first)) before += layer.size();
  for (const auto& layer : fetched(second)) after += layer.size();
  EXPECT_EQ(after, before);
  EXPECT_EQ(second.last<CacheReport>()->kv_bytes.after_event - first.last<CacheReport>()->kv_bytes.after_event,
            info_.kv_bytes_per_token * (std::ssize(second.last<CacheReport>()->tokens) - std::ssize(first.last<CacheReport>()->tokens)))
      << "the text since then";
}

TEST_F(Retrieval, ByDirectionAloneIsAChoice) {
  Turn turn = ask("video", "rekv", 0.3);
  turn.recipe.options["sim"] = "cosine";
  EXPECT_FALSE(finished(run(turn)).answer.empty());
  turn.recipe.options["sim"] = "l2";
  EXPECT_TRUE(run(turn).last<Failed>());
}

}  // namespace
}  // namespace winnow::testing
