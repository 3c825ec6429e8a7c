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

}  // namespace
}  // namespace winnow
