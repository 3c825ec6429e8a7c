// Layers that a recipe keeps whole: at the event, while decoding, in the next turn.
#include <algorithm>

#include "engine/recipes/method_info.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow {
namespace {

class WholeLayers : public testing::TinyModel {
 protected:
  // Slots per kv head of a layer when the answer has ended.
  static double end_of(const Finished& done, std::size_t layer) { return done.figures.layers.at(layer).end.total(); }
};

// The tiny model has two layers, and D2O leaves out 0, 1 and the last.
TEST_F(WholeLayers, ThoseThatD2oLeavesOutLoseNothingWhileDecodingEither) {
  Turn turn = ask("image", "d2o", 0.5);
  turn.recipe.options["skip_layers"] = "true";
  const Finished done = finished(run(turn));
  EXPECT_EQ(done.figures.kv_bytes.end, done.figures.kv_bytes.full_end);
  turn.recipe.budget_tokens = 4;  // a cap on every layer, were it not for the option
  run(ForgetConversation{7});
  EXPECT_EQ(finished(run(turn)).figures.kv_bytes.end, done.figures.kv_bytes.full_end);
}

// Every method: the first layer holds all tokens of the thread, answers included, the second does not; the plan has said so.
TEST_F(WholeLayers, FullLayersHoldAllTokensOfEveryTurn) {
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    run(ForgetConversation{7});
    const double share = method.name == "full" ? 1.0 : method.name == "kvzip-head" ? 0.6 : 0.8;  // of the model's two heads 0.8 are both
    Turn turn = ask("image", method.name, share, 12);
    if (method.name == "fastv" || method.name == "ivtp") turn.recipe.options["layer"] = "1";
    turn.recipe.full_layers = 1;
    if (method.name == "fastervlm") {
      EXPECT_EQ(recipe_problem(turn.recipe)->subject, "full_layers") << "no layer sees the tokens that it takes out";
      continue;
    }
    const Planned planned = *run(Plan{turn}).last<Planned>();
    const testing::EventRecorder first = run(turn);
    Finished done = finished(first);
    // What leaves before the decoder (ivtp) is in no layer.
    const std::int64_t pruned = first.last<CacheReport>()->pruned_tokens;
    const auto all = [&done, pruned] {
      const TokenCounts& tokens = done.figures.tokens;
      return static_cast<double>(tokens.thread_visual - pruned + tokens.thread_text + tokens.generated);
    };
    EXPECT_EQ(planned.kv_bytes_after_event, done.figures.kv_bytes.after_event);
    EXPECT_NEAR(end_of(done, 0), all(), 1.0) << "the last token of an answer is not read";
    if (method.name != "full") {
      EXPECT_LT(end_of(done, 1), end_of(done, 0));
    }
    const double before = end_of(done, 0);
    done = finished(run(testing::follow_up(turn, done.answer, "And now?")));
    if (method.phase == MethodPhase::kRetrieve) {
      EXPECT_NEAR(end_of(done, 0), all(), 1.0) << "frames are fetched anew, and the text since then is part of the prompt again";
      continue;
    }
    EXPECT_GE(end_of(done, 0), before + static_cast<double>(done.figures.tokens.prompt));
  }
}

}  // namespace
}  // namespace winnow
