// The probabilities of an answer's tokens: the model's own, told only where somebody asks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/generation/requests/run_turn.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

class Probabilities : public TinyModel {
 protected:
  Turn asked(int likeliest, const std::string& method = "full") {
    Turn turn = ask("image", method, method == "full" ? 1.0 : 0.5, 12);
    turn.sampling.told_probabilities = likeliest;
    return turn;
  }
  static std::vector<double> first_likeliest(const EventRecorder& events) {
    std::vector<double> values;
    const std::vector<TokenSampled> told = events.all<TokenSampled>();
    for (const TokenProbability& each : told.empty() ? std::vector<TokenProbability>() : told.front().likeliest)
      values.push_back(each.log_probability);
    return values;
  }
};

TEST_F(Probabilities, AreToldOnlyWhereTheyAreAskedFor) {
  EXPECT_TRUE(run(asked(Sampling::kNoProbabilities)).all<TokenSampled>().empty());
  run(ForgetConversation{7});
  const EventRecorder events = run(asked(0));
  EXPECT_EQ(std::ssize(events.all<TokenSampled>()), finished(events).figures.tokens.generated);
  EXPECT_TRUE(events.all<TokenSampled>().front().likeliest.empty());
}

TEST_F(Probabilities, OfTheFirstTokenAreTheSoftmaxOfTheTracedLogits) {
  const c10::InferenceMode inference;
  const std::unique_ptr<LoadedModel> model = load_folder(golden_.in_fp32(), {}, InterruptToken());
  EventRecorder events;
  TurnTrace trace;
  ConversationStates states;
  run_turn({*model, &opener_, EmitEvent(events, 1), InterruptToken(), &trace}, asked(5), states);
  const at::Tensor expected = trace.logits[-1].to(at::kDouble).log_softmax(-1);
  ASSERT_FALSE(events.all<TokenSampled>().empty());
  const TokenSampled first = events.all<TokenSampled>().front();
  ASSERT_EQ(first.likeliest.size(), 5U);
  EXPECT_NEAR(first.sampled.log_probability, expected[first.sampled.token].item<double>(), 1e-9);
  const auto [values, ids] = expected.topk(5);
  for (int i = 0; i < 5; ++i) {
    const TokenProbability& each = first.likeliest.at(static_cast<std::size_t>(i));
    EXPECT_EQ(each.token, ids[i].item<std::int64_t>());
    EXPECT_NEAR(each.log_probability, values[i].item<double>(), 1e-9);
  }
}

// Of every step, whatever was compressed: the logits of the token before would have others at their top.
TEST_F(Probabilities, AGreedyAnswerIsMadeOfTheLikeliest) {
  for (const char* method : {"full", "snapkv", "self-study", "h2o", "meda"}) {
    const EventRecorder events = run(asked(2, method));
    const std::vector<TokenSampled> told = events.all<TokenSampled>();
    EXPECT_GT(told.size(), 3U) << method;
    for (const TokenSampled& each : told) {
      EXPECT_EQ(each.sampled.token, each.likeliest.at(0).token) << method;
      EXPECT_EQ(each.sampled.log_probability, each.likeliest.at(0).log_probability) << method;
      EXPECT_GE(each.likeliest.at(0).log_probability, each.likeliest.at(1).log_probability) << method;
      EXPECT_LT(each.likeliest.at(0).log_probability, 0.0) << method;
    }
    run(ForgetConversation{7});
  }
}

TEST_F(Probabilities, AreTheModelsWhateverTheSamplingIs) {
  const std::vector<double> greedy = first_likeliest(run(asked(4)));
  run(ForgetConversation{7});
  Turn turn = asked(4);
  turn.sampling.temperature = 3.0;
  turn.sampling.top_k = 2;
  turn.sampling.repetition_penalty = 1.5;
  EXPECT_EQ(first_likeliest(run(turn)), greedy);
}

TEST_F(Probabilities, ComeBeforeTheTextAndTheirBytesAreIt) {
  Turn turn = asked(0);
  turn.messages = {golden_.message("text", opener_)};
  turn.sampling.temperature = 1.0;
  turn.sampling.seed = 3;
  turn.sampling.max_new_tokens = 30;
  const EventRecorder events = run(turn);
  std::string bytes, text;
  for (const Event& event : events.events) {
    if (const auto* told = std::get_if<TokenSampled>(&event.body)) bytes += told->sampled.bytes;
    if (const auto* delta = std::get_if<TextDelta>(&event.body)) text += delta->text;
    EXPECT_GE(bytes.size(), text.empty() ? 0U : 1U);
  }
  // This model's words are mostly broken characters, which are told as U+FFFD: what is whole must agree.
  std::string ascii_of_bytes, ascii_of_text;
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) < 0x80) ascii_of_bytes += c;
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80) ascii_of_text += c;
  }
  EXPECT_FALSE(ascii_of_text.empty());
  EXPECT_EQ(ascii_of_bytes, ascii_of_text);
}

}  // namespace
}  // namespace winnow::testing
