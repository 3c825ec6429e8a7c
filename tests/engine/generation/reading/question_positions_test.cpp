// A question that is read behind its media, by methods that read these first, has the positions of a prompt that is read at once.
#include <gtest/gtest.h>

#include "engine/generation/requests/run_turn.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_phase.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/measured_options.h"

namespace winnow::testing {
namespace {

class QuestionPositions : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { model_ = load_folder(golden_.in_fp32(), {}, InterruptToken()); }

  Turn ask(const std::string& name, const std::string& method) {
    Turn turn{.conversation = 7,
              .messages = {golden_.message(name, opener_)},
              .recipe = {.method = method, .retention = method == "full" ? 1.0 : 0.5, .min_event_tokens = 0}};
    const ModelInfo& info = model_->network->info();
    turn.recipe = test_support::as_measured(turn.recipe, info.layers, info.kv_heads);
    turn.sampling.max_new_tokens = 2;
    return turn;
  }
  at::Tensor positions(const Turn& turn) {
    const RequestContext context{*model_, &opener_, emit_, InterruptToken()};
    ConversationStates states;
    const std::int64_t prompt = run_turn(context, turn, states).figures.tokens.prompt;
    return states.current->positions.slice(0, prompt);
  }

  GoldenFolder golden_{GetParam()};
  MemoryMediaOpener opener_;
  EventRecorder recorder_;
  EmitEvent emit_{recorder_, 1};
  std::unique_ptr<LoadedModel> model_;
  const c10::InferenceMode inference_;
};

TEST_P(QuestionPositions, AreThoseOfAPromptThatIsReadAtOnce) {
  int compared = 0;
  for (const char* name : {"two_images", "video_and_image"}) {
    const at::Tensor at_once = positions(ask(name, "full"));
    EXPECT_TRUE(at::equal(at_once, golden_.tensors().load(std::string(name) + ".position_ids")));
    for (const MethodInfo& method : list_methods()) {
      const Turn turn = ask(name, method.name);
      if (!phase_facts(method.phase).before_question || recipe_problem(turn.recipe, model_->network->info().traits)) continue;
      ++compared;
      EXPECT_TRUE(at::equal(positions(turn), at_once)) << name << " " << method.name;
    }
  }
  EXPECT_GT(compared, 4);
}

INSTANTIATE_TEST_SUITE_P(Folders, QuestionPositions,
                         ::testing::Values("qwen2_vl/published", "qwen3_5/published", "minicpmv/published", "minicpmv4_7/published",
                                           "minicpmv4_7/fine"),
                         folder_info_name);

}  // namespace
}  // namespace winnow::testing
