// Visual tokens that a recipe leaves unread (RecipeSpec::before), on tiny random models of several families: whatever the cache method,
// what is read is what the plan says, stands where the whole picture has it, and is what a verdict's full cache has read.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/generation/requests/run_turn.h"
#include "tests/engine/generation/asking.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

constexpr const char* kByFeatures[] = {"evs:0.6", "vidcom2:0.5", "divpruned:0.5", "random:0.4"};

const char* video_of(const GoldenFolder& golden) { return golden.cases().contains("video") ? "video" : "even_video"; }

class UnreadTokens : public EveryFamily {
 protected:
  Turn under(const std::string& before, const std::string& method) {
    Turn turn = ask(video_of(golden_), method, method == "full" ? 1.0 : 0.5);
    turn.recipe.before = before_of(before).value();
    return turn;
  }
  EventRecorder anew(const RequestBody& body) {
    run(ForgetConversation{7});
    return run(body);
  }
};

TEST_P(UnreadTokens, AShareOfOneIsTheSameToTheBit) {
  for (const char* method : {"full", "snapkv", "self-study"}) {
    const EventRecorder none = anew(under("none", method));
    for (const char* before : {"evs:1", "vidcom2:1", "divpruned:1", "random:1"}) {
      SCOPED_TRACE(std::string(method) + ", " + before);
      const EventRecorder all = anew(under(before, method));
      EXPECT_EQ(finished(all).answer, finished(none).answer);
      EXPECT_EQ(all.last<CacheReport>()->kept, none.last<CacheReport>()->kept);
      EXPECT_EQ(all.last<CacheReport>()->tokens, none.last<CacheReport>()->tokens);
      EXPECT_EQ(finished(all).figures.tokens.unread, 0);
    }
  }
}

TEST_P(UnreadTokens, EveryMethodReadsWhatItsPlanSays) {
  const std::int64_t visual = finished(anew(under("none", "full"))).figures.tokens.visual;
  std::size_t at = 0;
  for (const MethodInfo& method : legal_methods()) {
    const Turn turn = under(kByFeatures[at++ % std::size(kByFeatures)], method.name);
    if (recipe_problem(turn.recipe, info_.traits)) continue;
    SCOPED_TRACE(method.name + ", " + text_of(turn.recipe.before));
    run(ForgetConversation{7});
    const Planned planned = run(Plan{turn}).last<Planned>().value();
    const EventRecorder events = run(turn);
    const TokenCounts tokens = finished(events).figures.tokens;
    EXPECT_GT(tokens.unread, 0);
    EXPECT_EQ(tokens.visual + tokens.unread, visual);
    EXPECT_EQ(tokens.thread_visual, visual);
    EXPECT_EQ(planned.estimated, false) << "the features are known from the first turn";
    EXPECT_EQ(planned.tokens.prompt, tokens.prompt);
    EXPECT_EQ(planned.tokens.visual, tokens.visual);
    EXPECT_EQ(planned.tokens.unread, tokens.unread);
    EXPECT_EQ(planned.kv_bytes_full, finished(events).figures.kv_bytes.full);
    EXPECT_EQ(planned.kv_bytes_after_event, finished(events).figures.kv_bytes.after_event);
  }
}

TEST_P(UnreadTokens, AQuestionAboutPreparedMediaIsTheTurn) {
  const Turn turn = under("random:0.4", "self-study");
  const EventRecorder at_once = anew(turn);
  run(ForgetConversation{7});
  Turn media = turn;
  std::erase_if(media.messages.back().items, [](const Item& item) { return std::holds_alternative<TextItem>(item); });
  ASSERT_TRUE(run(Prepare{media}).last<Prepared>().value().compressed);
  const EventRecorder later = run(turn);
  EXPECT_EQ(finished(later).answer, finished(at_once).answer);
  EXPECT_EQ(later.last<CacheReport>()->kept, at_once.last<CacheReport>()->kept);
}

// The yardstick is the full cache of what was read: a column that keeps everything agrees with itself, whatever the first column read.
TEST_P(UnreadTokens, ColumnsAreTheirTurnsAndAreJudgedByWhatTheyHaveRead) {
  std::vector<RecipeSpec> recipes;
  for (const char* before : {"none", "evs:0.6", "random:0.4"}) {
    recipes.push_back(under(before, "full").recipe);
    recipes.push_back(under(before, "snapkv").recipe);
  }
  const EventRecorder events = anew(compare_of(under("none", "full"), recipes));
  ASSERT_TRUE(events.last<Compared>()) << events.last<Failed>()->error.reason;
  EXPECT_EQ(events.last<Compared>()->prefills, 5) << "two columns read the same as the first";
  for (std::size_t column = 0; column < recipes.size(); ++column) {
    SCOPED_TRACE(column);
    Turn turn = under("none", "full");
    turn.recipe = recipes[column];
    const Finished alone = finished(anew(turn));
    const Scored verdict = run(Score{turn, alone.answer, alone.thought, alone.reason}).last<Scored>().value();
    for (const Event& event : events.events) {
      if (event.column != static_cast<std::int32_t>(column)) continue;
      if (const auto* said = std::get_if<Finished>(&event.body)) {
        EXPECT_EQ(said->answer, alone.answer);
        EXPECT_EQ(said->figures.tokens.unread, alone.figures.tokens.unread);
      }
      if (const auto* scored = std::get_if<Scored>(&event.body)) {
        EXPECT_EQ(scored->agreement.top1, verdict.agreement.top1);
        if (keeps_everything(turn.recipe)) {
          EXPECT_EQ(scored->agreement.top1, 1.0);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, UnreadTokens,
                         ::testing::Values("gqa_tied", "qwen2_vl/published", "qwen2_5_vl/saved", "qwen3_vl/published", "qwen3_5/published",
                                           "internvl/qwen2_saved", "smolvlm/smolvlm2_split", "minicpmv4_7/published"),
                         folder_info_name);

using UnreadTokensOfOne = UnreadTokens;

TEST_P(UnreadTokensOfOne, PinnedFramesAreReadWhole) {
  Turn turn = under("none", "full");
  const CacheReport all = anew(turn).last<CacheReport>().value();
  const auto of_frame = [](const CacheReport& report, std::int32_t frame) {
    return std::ranges::count_if(report.tokens, [&](const TokenOrigin& token) { return token.frame == frame && token.row >= 0; });
  };
  const std::int32_t last = std::ranges::max(all.tokens, {}, &TokenOrigin::frame).frame;
  for (const char* before : {"evs:0.2", "vidcom2:0.1", "divpruned:0.1", "random:0.1"}) {
    SCOPED_TRACE(before);
    turn.recipe.before = before_of(before).value();
    EXPECT_LT(of_frame(anew(turn).last<CacheReport>().value(), last), of_frame(all, last));
    turn.pins = {{0, 0.9 * last, 1e6}};
    const EventRecorder events = anew(turn);
    ASSERT_TRUE(events.last<CacheReport>()) << events.last<Failed>()->error.reason;
    EXPECT_EQ(of_frame(*events.last<CacheReport>(), last), of_frame(all, last));
    turn.pins.clear();
  }
}

TEST_P(UnreadTokensOfOne, APlanSaysWhereOnlyThePicturesTell) {
  const Turn turn = under("vidcom2:0.5", "full");
  engine_ = make_engine(&opener_);
  SetUp();
  EXPECT_TRUE(run(Plan{turn}).last<Planned>()->estimated) << "nothing is decoded yet";
  Turn counted = turn;
  counted.recipe.before = before_of("evs:0.5").value();
  EXPECT_FALSE(run(Plan{counted}).last<Planned>()->estimated);
  run(turn);
  run(ForgetConversation{7});
  EXPECT_FALSE(run(Plan{turn}).last<Planned>()->estimated);
}

INSTANTIATE_TEST_SUITE_P(Families, UnreadTokensOfOne, ::testing::Values("gqa_tied", "qwen2_vl/published"), folder_info_name);

// Positions with three axes are those of the whole picture, and what follows it goes on behind all of it.
TEST(UnreadPositions, AreThoseOfTheWholePicture) {
  const c10::InferenceMode inference;
  for (const char* folder : {"qwen2_vl/published", "qwen3_vl/published", "minicpmv4_7/published"}) {
    const GoldenFolder golden{folder};
    MemoryMediaOpener opener;
    const std::unique_ptr<LoadedModel> model = load_folder(golden.in_fp32(), {}, InterruptToken());
    EventRecorder events;
    const RequestContext context{*model, &opener, EmitEvent(events, 1), InterruptToken()};
    for (const char* method : {"full", "self-study"}) {
      const auto read = [&](const char* before) {
        Turn turn;
        turn.messages = {golden.message(video_of(golden), opener)};
        turn.recipe.method = method;
        turn.recipe.before = before_of(before).value();
        turn.sampling.max_new_tokens = 1;
        ConversationStates states;
        run_turn(context, turn, states);
        return std::move(*states.current);
      };
      const Conversation whole = read("none");
      const Conversation thinned = read("random:0.3");
      SCOPED_TRACE(std::string(folder) + ", " + method);
      EXPECT_EQ(thinned.next_position, whole.next_position);
      EXPECT_LT(thinned.origins.size(), whole.origins.size());
      std::size_t at = 0;
      for (std::size_t token = 0; token < thinned.origins.size(); ++token, ++at) {
        while (whole.origins[at] != thinned.origins[token]) ++at;
        const auto position_of = [](const Conversation& of, std::size_t index) {
          return of.positions.slice(static_cast<std::int64_t>(index), 1);
        };
        ASSERT_TRUE(at::equal(position_of(whole, at), position_of(thinned, token))) << token;
      }
    }
  }
}

}  // namespace
}  // namespace winnow::testing
