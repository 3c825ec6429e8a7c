// A conversation that goes on from its cache against transformers, which reads all of it at once: the first question, the tokens that
// answered it, and what follows (tests/golden/<family>, cases second_turn*). Whole threads as new ones are in engine_golden_test.cpp.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/generation/requests/run_turn.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

class SecondTurn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { model_ = load_folder(golden_.in_fp32(), {}, InterruptToken()); }

  Finished ask(const std::vector<Message>& messages, std::int64_t tokens) {
    Turn turn;
    turn.messages = messages;
    turn.recipe.method = "full";
    turn.recipe.retention = 1.0;
    turn.sampling.max_new_tokens = static_cast<int>(tokens);
    trace_ = {};
    return run_turn({*model_, &opener_, emit_, InterruptToken(), &trace_}, turn, states_);
  }

  void expect_greedy(const at::Tensor& greedy, const at::Tensor& margins) const {
    for (std::size_t i = 0; i < trace_.generated.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (margins[at].item<float>() <= kMargin && trace_.generated[i] != greedy[at].item<std::int64_t>())
        return;  // a tie, and all after it
      ASSERT_EQ(trace_.generated[i], greedy[at].item<std::int64_t>()) << "token " << i;
    }
  }

  GoldenFolder golden_{GetParam()};
  MemoryMediaOpener opener_;
  EventRecorder recorder_;
  EmitEvent emit_{recorder_, 1};
  std::unique_ptr<LoadedModel> model_;
  ConversationStates states_;
  TurnTrace trace_;
  const c10::InferenceMode inference_;
};

TEST_P(SecondTurn, GoesOnWhereTheAnswerWasCut) {
  int compared = 0;
  for (const auto& [name, entry] : golden_.cases().items()) {
    const test_support::GoldenTensors& theirs = golden_.tensors();
    const std::string case_name = name;
    if (!theirs.has(case_name + ".continued.input_ids")) continue;
    SCOPED_TRACE(case_name);
    ++compared;
    const auto continued = [&](const char* what) { return theirs.load(case_name + ".continued." + what); };
    states_ = {};
    std::vector<Message> thread = golden_.thread(case_name, opener_);
    ASSERT_EQ(thread.size(), 3U);
    const at::Tensor answer = theirs.load(case_name + ".answer");
    const Finished first = ask({thread.front()}, answer.numel());
    ASSERT_TRUE(at::equal(at::tensor(trace_.generated, at::kLong), answer)) << "another first answer";
    ASSERT_EQ(first.reason, StopReason::kLength);

    thread[1] = {Role::kAssistant, {TextItem{first.answer}}};
    ask(thread, 64);
    const at::Tensor ids = continued("input_ids");
    EXPECT_LT(trace_.input_ids.size(0), ids.size(0) - answer.numel()) << "everything was read again";
    const std::vector<std::int64_t>& read = states_.current->token_ids;
    ASSERT_GE(std::ssize(read), ids.size(0));
    EXPECT_TRUE(at::equal(at::tensor(read, at::kLong).narrow(0, 0, ids.size(0)), ids));
    if (theirs.has(case_name + ".continued.position_ids")) {
      EXPECT_TRUE(at::equal(states_.current->positions.slice(0, ids.size(0)), continued("position_ids")));
    }
    EXPECT_LE(test_support::relative_distance(trace_.logits.view({-1}), continued("logits")), kTolerance);
    expect_greedy(continued("greedy"), continued("margins"));
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Folders, SecondTurn,
                         ::testing::Values("gqa_tied", "llava/llava_llama", "llava/next_mistral", "llava/next_video", "qwen2_vl/published",
                                           "qwen2_vl/saved", "qwen2_vl/joined_three", "qwen2_5_vl/published", "qwen2_5_vl/saved",
                                           "qwen3_vl/published", "qwen3_vl/saved", "qwen3_5/published", "qwen3_5/saved",
                                           "qwen3_5_moe/published", "smolvlm/smolvlm2_split", "smolvlm/idefics3_plain",
                                           "smolvlm/other_tile", "smolvlm/saved_fast", "internvl/qwen2_saved", "internvl/llama_published",
                                           "internvl/other_size", "internvl/feature_layer", "internvl/chat_internlm2",
                                           "internvl/chat_qwen2", "gemma3/published", "gemma3/narrow_window", "gemma3/pan_and_scan",
                                           "gemma3/plain_pillow", "gemma4/published", "gemma4/saved", "gemma4_large/dense",
                                           "gemma4_experts/saved", "gemma4_unified/published", "glm4v/thinking", "lfm2_vl/published",
                                           "lfm2_vl/saved", "lfm2_vl/uncut", "lfm2_vl/defaults", "minicpmv/published", "minicpmv/fine",
                                           "minicpmv4_7/published", "minicpmv4_7/fine", "mistral3/published", "mistral3/ministral"),
                         folder_info_name);

}  // namespace
}  // namespace winnow::testing
