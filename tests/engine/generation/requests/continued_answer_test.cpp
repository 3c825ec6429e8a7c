// An answer that was cut goes on as if it had been written in one piece, from the cache that it left or from its text.
#include <gtest/gtest.h>

#include <string>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

class ContinuedAnswer : public TinyModel {
 protected:
  using TinyModel::TinyModel;

  // Of another conversation's number.
  static Turn in(ConversationId conversation, Turn turn) {
    turn.conversation = conversation;
    return turn;
  }
  // The same question, going on from what was answered.
  static Turn continued(Turn turn, const std::string& answer, int tokens) {
    turn.answer_begun += answer;
    turn.sampling.max_new_tokens = tokens;
    return turn;
  }
  // In one piece, and in pieces of 5, 1 and 6 tokens.
  void expect_same_in_pieces(const Turn& turn) {
    SCOPED_TRACE(turn.recipe.method + " at " + std::to_string(turn.recipe.retention));
    const Finished whole = finished(run(in(8, turn)));
    ASSERT_EQ(whole.reason, StopReason::kLength) << "this question's answer is too short for the test";
    Turn piece = turn;
    piece.sampling.max_new_tokens = 5;
    std::string said = finished(run(piece)).answer;
    for (const int tokens : {1, 6}) {
      const EventRecorder events = run(continued(piece, said, tokens));
      const Finished more = finished(events);
      EXPECT_EQ(more.reason, StopReason::kLength);
      EXPECT_EQ(more.figures.tokens.prompt, 0) << "nothing is read again";
      EXPECT_FALSE(events.last<MediaSampled>());
      EXPECT_EQ(events.streamed(), more.answer);
      said += more.answer;
      whole_pieces_ = more;
    }
    EXPECT_EQ(said, whole.answer);
    EXPECT_EQ(whole_pieces_.figures.tokens.generated, 12);
    EXPECT_EQ(whole_pieces_.figures.kv_bytes.end, whole.figures.kv_bytes.end);
    EXPECT_EQ(whole_pieces_.figures.kv_bytes.full_end, whole.figures.kv_bytes.full_end);
    ASSERT_EQ(whole_pieces_.figures.layers.size(), whole.figures.layers.size());
    for (std::size_t layer = 0; layer < whole.figures.layers.size(); ++layer)
      EXPECT_EQ(whole_pieces_.figures.layers[layer].end, whole.figures.layers[layer].end) << layer;
    run(ForgetConversation{7});
    run(ForgetConversation{8});
  }
  Finished whole_pieces_;  // the last piece
};

TEST_F(ContinuedAnswer, IsTheOneLongAnswerWhateverWasCompressed) {
  for (const char* method : {"full", "snapkv", "self-study", "h2o", "streaming-llm", "ems"}) {
    expect_same_in_pieces(ask("image", method, std::string(method) == "full" ? 1.0 : 0.5, 12));
  }
}

// Qwen3.5: a state cannot be taken back.
class ContinuedAnswerWithStates : public ContinuedAnswer {
 protected:
  ContinuedAnswerWithStates() : ContinuedAnswer("qwen3_5/published") {}
};

TEST_F(ContinuedAnswerWithStates, IsTheOneLongAnswerWhateverWasCompressed) {
  for (const char* method : {"full", "snapkv", "self-study", "h2o"}) {
    expect_same_in_pieces(ask("image", method, std::string(method) == "full" ? 1.0 : 0.5, 12));
  }
}

TEST_F(ContinuedAnswer, GoesOnWithTheSameRandomNumbers) {
  Turn turn = ask("image", "snapkv", 0.5, 12);
  turn.sampling.temperature = 1.0;
  turn.sampling.seed = 5;
  turn.sampling.repetition_penalty = 1.2;
  expect_same_in_pieces(turn);
}

TEST_F(ContinuedAnswer, UnderEveryGuard) {
  for (const Guard guard : {Guard::kPrefill, Guard::kRam, Guard::kAlone}) {
    Turn turn = ask("image", "snapkv", 0.5, 12);
    turn.guard = guard;
    expect_same_in_pieces(turn);
  }
}

// What is gone is read again: question, event, then the text of the answer. From there on both ways are the same.
TEST_F(ContinuedAnswer, FromItsTextWhereTheCacheIsGone) {
  for (const char* method : {"snapkv", "self-study", "meda"}) {
    SCOPED_TRACE(method);
    Turn turn = ask("image", method, 0.5, 8);
    if (std::string(method) == "meda") turn.recipe.options["event_at_first_decode"] = "true";
    turn.answer_begun = "A red one";
    const Finished at_once = finished(run(in(8, turn)));
    EXPECT_GT(at_once.figures.tokens.prompt, 0);
    turn.sampling.max_new_tokens = 3;
    const Finished first = finished(run(turn));
    EXPECT_EQ(first.figures.tokens.prompt, at_once.figures.tokens.prompt);
    const Finished rest = finished(run(continued(turn, first.answer, 5)));
    EXPECT_EQ(rest.figures.tokens.prompt, 0);
    EXPECT_EQ(first.answer + rest.answer, at_once.answer);
    EXPECT_EQ(rest.figures.tokens.generated, at_once.figures.tokens.generated) << "what it began with counts, too";
    Turn anew = turn;
    anew.answer_begun.clear();
    anew.sampling.max_new_tokens = 8;
    EXPECT_NE(finished(run(in(9, anew))).answer, at_once.answer) << "what it begins with makes a difference";
    for (const ConversationId id : {7, 8, 9}) run(ForgetConversation{id});
  }
}

// An answer that came to its own end has nothing that its cache lacks: what follows is written behind its text.
TEST_F(ContinuedAnswer, OfAWholeAnswerGoesOnBehindItsText) {
  Turn turn = ask("text", "full", 1.0, 8);
  const std::string text = finished(run(turn)).answer;
  run(ForgetConversation{7});
  turn.sampling.stop_strings = {text.substr(text.size() / 2, 1)};
  const Finished ended = finished(run(turn));
  ASSERT_EQ(ended.reason, StopReason::kStopString);
  turn.sampling.stop_strings.clear();
  ASSERT_FALSE(ended.answer.empty());
  turn.answer_begun = ended.answer;
  EXPECT_GT(finished(run(turn)).figures.tokens.prompt, 0);
}

TEST_F(ContinuedAnswer, HasToFitIntoTheContext) {
  Turn turn = ask("text", "full", 1.0, 4);
  const Finished cut = finished(run(turn));
  const EventRecorder events = run(continued(turn, cut.answer, static_cast<int>(info_.context_tokens)));
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kContextFull);
  EXPECT_EQ(finished(run(continued(turn, cut.answer, 4))).figures.tokens.prompt, 0) << "the cut answer is as it was";
}

}  // namespace
}  // namespace winnow::testing
