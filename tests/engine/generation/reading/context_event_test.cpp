// Events between the media and the question, on a tiny random model: what stays does not depend on what is asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/generation/context/loaded_model.h"
#include "engine/generation/prefill/segment_prefill.h"
#include "engine/generation/reading/context_probe.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/generation/asking.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

using ContextEvent = TinyModel;
using Kept = std::vector<std::vector<std::vector<std::int32_t>>>;

std::vector<std::string> context_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& method : list_methods()) {
    if (method.phase == MethodPhase::kContext) names.push_back(method.name);
  }
  return names;
}

// First and one after the last visual token.
std::pair<std::int32_t, std::int32_t> context_of(const CacheReport& report) {
  std::int32_t first = -1;
  std::int32_t last = -1;
  for (std::int32_t i = 0; i < std::ssize(report.tokens); ++i) {
    if (report.tokens[static_cast<std::size_t>(i)].modality != Modality::kVisual) continue;
    if (first < 0) first = i;
    last = i;
  }
  return {first, last + 1};
}

Kept within(const CacheReport& report, bool context) {
  const auto [first, end] = context_of(report);
  Kept kept = report.kept;
  for (auto& layer : kept) {
    for (auto& head : layer) {
      std::erase_if(head, [&, begin = first, limit = end](std::int32_t token) { return (token >= begin && token < limit) != context; });
    }
  }
  return kept;
}

TEST_F(ContextEvent, WhatStaysDoesNotDependOnTheQuestion) {
  ASSERT_GE(context_methods().size(), 5U);
  for (const std::string& method : context_methods()) {
    SCOPED_TRACE(method);
    run(ForgetConversation{7});
    const EventRecorder one = run(asking(ask("video", method, 0.3), "Which color?"));
    run(ForgetConversation{7});
    const EventRecorder other = run(asking(ask("video", method, 0.3), "How many squares are there, and what does the last card say?"));
    ASSERT_TRUE(one.last<CacheReport>() && other.last<CacheReport>());
    EXPECT_EQ(within(*one.last<CacheReport>(), true), within(*other.last<CacheReport>(), true));
  }
}

TEST_F(ContextEvent, TextAroundTheMediaStaysAndTheShareIsThatOfTheContext) {
  for (const std::string& method : context_methods()) {
    SCOPED_TRACE(method);
    run(ForgetConversation{7});
    const EventRecorder events = run(ask("video", method, 0.3));
    const CacheReport report = events.last<CacheReport>().value();
    const auto [first, end] = context_of(report);
    std::int64_t pairs = 0;
    for (const auto& layer : within(report, true)) {
      for (const auto& head : layer) pairs += std::ssize(head);
    }
    const auto heads = static_cast<double>(report.kept.size() * report.kept.front().size());
    const bool whole_heads = method == "kvzip-head";
    const double wanted = whole_heads ? std::floor(0.3 * heads + 0.5) * (end - first) : std::floor(0.3 * heads * (end - first) + 0.5);
    const bool ragged = method == "self-study" || method.starts_with("kvzip");
    EXPECT_NEAR(static_cast<double>(pairs), wanted, ragged ? 0.0 : heads) << "other methods round per layer";
    for (const auto& layer : within(report, false)) {
      for (const auto& head : layer) EXPECT_EQ(std::ssize(head), std::ssize(report.tokens) - (end - first));
    }
  }
}

TEST_F(ContextEvent, WhatIsAskedInsteadOfADescriptionVotes) {
  const auto kept = [&](std::map<std::string, std::string> options) {
    run(ForgetConversation{7});
    Turn turn = ask("video", "self-study", 0.3);
    turn.recipe.options = std::move(options);
    turn.recipe.options["with"] = "nothing";
    return run(turn).last<CacheReport>().value().kept;
  };
  const auto described = kept({});
  EXPECT_EQ(kept({{"ask", "Describe the video."}}), described);
  EXPECT_NE(kept({{"ask", "Which color?"}}), described);
  const auto both = kept({{"ask", "Which color?|How many squares are there?"}});
  EXPECT_EQ(kept({{"ask", "How many squares are there? | Which color?"}}), both) << "the larger vote counts, whichever comes first";
  EXPECT_NE(kept({{"ask", "Which color?"}}), both);
  EXPECT_NE(kept({{"ask", "How many squares are there?"}}), both);
  EXPECT_NE(kept({{"ask", "Which color?"}, {"words", "request"}}), kept({{"ask", "Which color?"}}));
}

// No row goes through the model for a repetition of what was read, nor does it vote as one that does.
TEST_F(ContextEvent, RowsAsTheyWereReadNeedNoSecondPass) {
  const auto prepared = [&](const std::string& method, std::map<std::string, std::string> options) {
    run(ForgetConversation{7});
    Turn turn = ask("video", method, 0.3);
    turn.recipe.options = std::move(options);
    return run(turn);
  };
  const auto probes = [](const EventRecorder& events) {
    return std::ranges::count_if(events.events, [](const Event& event) {
      const auto* progress = std::get_if<Progress>(&event.body);
      return progress != nullptr && progress->phase == Phase::kProbe;
    });
  };
  for (const std::string method : {"kvzip", "kvzip+"}) {
    const EventRecorder reading = prepared(method, {{"rows", "reading"}});
    const EventRecorder again = prepared(method, {});
    EXPECT_EQ(probes(reading), 0);
    EXPECT_GT(probes(again), 0);
    EXPECT_NE(reading.last<CacheReport>()->kept, again.last<CacheReport>()->kept);
  }
  EXPECT_NE(prepared("self-study", {{"with", "reading"}}).last<CacheReport>()->kept,
            prepared("self-study", {{"with", "nothing"}}).last<CacheReport>()->kept);
}

TEST_F(ContextEvent, AFollowUpQuestionTriggersNoEvent) {
  for (const std::string& method : context_methods()) {
    SCOPED_TRACE(method);
    run(ForgetConversation{7});
    const Turn first = ask("video", method, 0.3);
    const EventRecorder before = run(first);
    const EventRecorder after = run(follow_up(first, finished(before).answer, "And then?"));
    const CacheReport report = after.last<CacheReport>().value();
    EXPECT_EQ(within(report, true), within(*before.last<CacheReport>(), true));
    EXPECT_TRUE(report.notes.empty()) << "text is never what this method is about";
    for (const LayerFigures& layer : report.layers) EXPECT_EQ(layer.budget, std::llround(layer.kept)) << "all that is there";
    for (const auto& layer : within(report, false)) {
      for (const auto& head : layer) EXPECT_EQ(head, within(report, false).front().front()) << "text stays in every head";
    }
  }
}

TEST_F(ContextEvent, TheAnswerDependsOnTheSlotsThatStayed) {
  const Finished full = finished(run(ask("video", "full", 1.0, 16)));
  run(ForgetConversation{7});
  const Finished few = finished(run(ask("video", "random-context", 0.02, 16)));
  EXPECT_NE(full.answer, few.answer) << "a random model of which 98 % of the video are gone";
}

TEST_F(ContextEvent, AColumnOfItsOwnInAComparisonAnswersAsATurnDoes) {
  const Finished alone = finished(run(ask("video", "kvzip", 0.3)));
  run(ForgetConversation{7});
  const Turn full = ask("video", "full", 1.0);
  const EventRecorder events = run(compare_of(full, {full.recipe, ask("video", "kvzip", 0.3).recipe, ask("video", "snapkv", 0.3).recipe}));
  ASSERT_TRUE(events.last<Compared>());
  EXPECT_EQ(events.last<Compared>()->prefills, 2);
  for (const Event& event : events.events) {
    const auto* done = std::get_if<Finished>(&event.body);
    if (done == nullptr || event.column != 1) continue;
    EXPECT_EQ(done->answer, alone.answer);
  }
}

TEST_F(ContextEvent, ACancelledProbeLeavesTheConversationAsItWas) {
  InterruptSource source;
  source.request_cancel();
  EXPECT_TRUE(finished(run(ask("video", "self-study", 0.3), source.token())).restored);
  EXPECT_FALSE(finished(run(ask("video", "self-study", 0.3))).answer.empty());
}

TEST_F(ContextEvent, AThreadWithoutMediaIsNotCompressed) {
  for (const std::string& method : context_methods()) {
    run(ForgetConversation{7});
    const Finished done = finished(run(ask("text", method, 0.1)));
    EXPECT_EQ(done.figures.kv_bytes.after_event, done.figures.kv_bytes.full) << method;
  }
}

// Every probe, on a conversation whose cache is looked at before and after.
TEST(ContextProbe, LeavesNoTrace) {
  const c10::InferenceMode inference;
  const GoldenFolder golden("gqa_tied");
  MemoryMediaOpener opener;
  Turn turn{.messages = {golden.message("video", opener)}, .recipe = {.method = "self-study", .retention = 0.3}};
  LoadModel load{.folder = golden.model_folder(), .format = WeightFormat::kFp32};
  const std::unique_ptr<LoadedModel> model = load_folder(load, {}, InterruptToken());
  EventRecorder events;
  const RequestContext context{*model, &opener, EmitEvent(events, 1), InterruptToken()};
  const Recipe recipe = Recipe::from_spec(turn.recipe);
  Conversation state(model->network->text().kv_shape());
  TurnSegment segment = prepare_segment(context, turn, &recipe, state);
  const at::Tensor embeddings = segment.hidden.clone();
  prefill_segment(context, segment, state, PrefillHooks(), LogitRows::kLast);

  const auto snapshot = [&] {
    std::vector<at::Tensor> all;
    const KvShape shape = state.cache.shape();
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      for (KvHead head{0}; head < shape.kv_heads; ++head) {
        all.push_back(state.cache.gather_keys(layer, head));
        all.push_back(state.cache.gather_values(layer, head));
      }
    }
    return all;
  };
  const std::vector<at::Tensor> before = snapshot();
  const std::int64_t position = state.next_position;
  const std::size_t tokens = state.origins.size();
  const ByAttention norms{true};
  for (const ProbeNeed& need : {ProbeNeed(RepetitionProbe{20}), ProbeNeed(DescriptionProbe{{}, 12, {}, norms}),
                                ProbeNeed(DescriptionProbe{{}, 12, Repetition::kRunAgain, norms})}) {
    std::int64_t told = 0;
    const ProbedContext probed{state, embeddings, state.origins, segment.probe};
    probe_context(context, probed, need, [&](LayerId, const HeadScores& votes) {
      ++told;
      EXPECT_TRUE(std::all_of(votes.values.begin(), votes.values.end(), [](float vote) { return std::isfinite(vote) && vote >= 0.0F; }));
    });
    EXPECT_EQ(told, state.cache.shape().layers);
    const std::vector<at::Tensor> after = snapshot();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(at::equal(before[i], after[i]));
    EXPECT_EQ(state.next_position, position);
    EXPECT_EQ(state.origins.size(), tokens);
  }
}

std::vector<TokenOrigin> video_of(int frames, int tokens) {
  std::vector<TokenOrigin> origins;
  for (int frame = 0; frame < frames; ++frame) {
    for (int token = 0; token < tokens; ++token) {
      origins.push_back({Modality::kVisual, 0, frame, static_cast<std::int16_t>(token), 0});
    }
  }
  origins.push_back({Modality::kVisual, 0, -1, -1, -1});
  return origins;
}

TEST(ContextChunks, EndAtTheBordersOfFrames) {
  using Chunks = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const std::vector<TokenOrigin> origins = video_of(64, 9);
  EXPECT_EQ(context_chunks(origins, 100), (Chunks{{0, 99}, {99, 99}, {198, 99}, {297, 99}, {396, 99}, {495, 82}}));
  EXPECT_EQ(context_chunks(origins, 577), (Chunks{{0, 577}}));
  EXPECT_EQ(context_chunks(origins, 0), (Chunks{{0, 577}}));
  EXPECT_EQ(context_chunks(video_of(2, 9), 4), (Chunks{{0, 9}, {9, 9}, {18, 1}})) << "a frame is never parted";
}

}  // namespace
}  // namespace winnow::testing
