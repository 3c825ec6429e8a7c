// What a conversation holds after a stop string ended its answer: exactly what was said, and no beginning of the stop string. The next
// question is then answered as behind the same tokens of an answer that was cut there.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/generation/requests/run_turn.h"
#include "engine/text/utf8.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/folder_test_name.h"

namespace winnow::testing {
namespace {

class StopString : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { model_ = load_folder(golden_.in_fp32(), {}, InterruptToken()); }

  Finished ask(const std::vector<Message>& messages, int tokens, const std::vector<std::string>& stop = {}) {
    Turn turn;
    turn.messages = messages;
    turn.recipe.method = method_;
    turn.recipe.retention = method_ == "full" ? 1.0 : 0.5;
    turn.recipe.min_event_tokens = 0;
    turn.sampling.max_new_tokens = tokens;
    turn.sampling.stop_strings = stop;
    trace_ = {};
    return run_turn({*model_, &opener_, emit_, InterruptToken(), &trace_}, turn, states_);
  }

  // Of the first turn's answer, those that the conversation holds.
  std::vector<std::int64_t> held_ids(std::size_t prompt) const {
    const std::vector<std::int64_t>& ids = states_.current->token_ids;
    return {ids.begin() + static_cast<std::ptrdiff_t>(prompt), ids.end()};
  }

  static std::vector<std::string> characters_of(const std::string& text) {
    std::vector<std::string> characters;
    for (std::size_t at = 0; at < text.size(); at += characters.back().size())
      characters.push_back(text.substr(at, utf8::decode(text, at).bytes));
    return characters;
  }

  GoldenFolder golden_{GetParam()};
  MemoryMediaOpener opener_;
  EventRecorder recorder_;
  EmitEvent emit_{recorder_, 1};
  std::unique_ptr<LoadedModel> model_;
  ConversationStates states_;
  TurnTrace trace_;
  std::string method_ = "full";
  const c10::InferenceMode inference_;
};

TEST_P(StopString, LeavesWhatWasSaidAndTheNextTurnGoesOnFromThere) {
  constexpr int kTokens = 20;
  const Message first = golden_.message("image", opener_);
  for (const std::string method : {"full", "h2o"}) {
    method_ = method;
    states_ = {};
    const Finished whole = ask({first}, kTokens);
    const auto prompt = static_cast<std::size_t>(whole.figures.tokens.prompt);
    const std::vector<std::int64_t> generated = trace_.generated;
    const std::vector<std::string> characters = characters_of(whole.answer);
    int ended_within = 0;  // a token, or behind tokens that held a beginning
    int compared = 0;
    for (std::size_t at = 1; at + 3 <= characters.size(); at += 2) {
      for (const std::size_t length : {1U, 3U}) {
        std::string stop;
        for (std::size_t i = at; i < at + length; ++i) stop += characters[i];
        SCOPED_TRACE(method + ", stop string \"" + stop + "\"");
        states_ = {};
        const Finished ended = ask({first}, kTokens, {stop});
        ASSERT_EQ(ended.reason, StopReason::kStopString);
        ASSERT_EQ(ended.answer, whole.answer.substr(0, whole.answer.find(stop)));
        const std::vector<std::int64_t> held = held_ids(prompt);
        EXPECT_EQ(model_->tokenizer->decode(held, SpecialTokens::kSkip), ended.answer);
        EXPECT_EQ(states_.current->positions.size(), std::ssize(states_.current->origins));
        const bool as_generated = held.size() <= generated.size() && std::equal(held.begin(), held.end(), generated.begin());
        if (!as_generated || held.size() + 1 < trace_.generated.size()) ++ended_within;
        if (!as_generated || held.empty()) continue;

        ++compared;
        const std::vector<Message> next = {first, {Role::kAssistant, {TextItem{ended.answer}}}, {Role::kUser, {TextItem{"And now?"}}}};
        ask(next, 4);
        const std::vector<std::int64_t> ids = states_.current->token_ids;
        const TurnTrace stopped = trace_;
        states_ = {};
        const Finished cut = ask({first}, static_cast<int>(held.size()));
        ASSERT_EQ(cut.answer, ended.answer);
        ask(next, 4);
        EXPECT_EQ(states_.current->token_ids, ids);
        EXPECT_TRUE(at::equal(trace_.position_ids, stopped.position_ids));
        EXPECT_TRUE(at::equal(trace_.logits, stopped.logits));
        EXPECT_EQ(trace_.kept, stopped.kept);
      }
    }
    EXPECT_GT(compared, 0);
    EXPECT_GT(ended_within, 0) << "no stop string was spread over tokens";
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, StopString,
                         ::testing::Values("llava/llava_llama", "llava/next_window", "gemma3/published", "gemma4/published",
                                           "gemma4_unified/published", "qwen3_5/published"),
                         folder_info_name);

}  // namespace
}  // namespace winnow::testing
