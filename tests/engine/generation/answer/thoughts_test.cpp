// What a model thinks is told apart from what it answers: while it is written, where it is cut, stopped or ended at its limit, and when it
// is read again. The model's words mean nothing; its template says where a thought begins.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "engine/base/file_bytes.h"
#include "engine/generation/conversation/answer_text.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTurns =
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}";
constexpr const char* kOpens = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}";
constexpr const char* kLeavesIt = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}{# </think> #}";
// As Granite's.
constexpr const char* kMarksTheAnswer =
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}{# <think></think> <response></response> #}";

enum class Marks : int { kText = 1, kSpecialTokens = 2, kBoxes = 3 };

// The tiny model under a template that opens a thought, or leaves it to the model.
class Thoughts : public TinyModel {
 protected:
  void load(const char* prompt_end, Marks marks = Marks::kText) {
    const std::string folder = scratch_.file("model" + std::to_string(++folders_));
    fs::copy(golden_.model_folder(), folder, fs::copy_options::recursive);
    std::ofstream(folder + "/chat_template.jinja") << kTurns << prompt_end;
    if (marks != Marks::kText) {
      const std::string file = folder + "/tokenizer.json";
      std::string text = read_file_bytes(file, std::uint64_t{1} << 20);
      text = std::regex_replace(text, std::regex("<image>"), marks == Marks::kBoxes ? "<box>" : "<think>");
      text = std::regex_replace(text, std::regex("<video>"), marks == Marks::kBoxes ? "</box>" : "</think>");
      std::ofstream(file) << text;
      // These tokens stand for no media any more.
      text = read_file_bytes(folder + "/config.json", std::uint64_t{1} << 20);
      text = std::regex_replace(text, std::regex("_token_index\": 303"), "_token_index\": 250");
      text = std::regex_replace(text, std::regex("_token_index\": 304"), "_token_index\": 251");
      std::ofstream(folder + "/config.json") << text;
    }
    LoadModel request;
    request.folder = folder;
    request.format = WeightFormat::kFp32;
    const EventRecorder events = run(request);
    ASSERT_TRUE(events.last<ModelLoaded>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "");
    EXPECT_TRUE(events.last<ModelLoaded>()->info.thinks);
    model_ = load_folder(request, {}, InterruptToken());
  }
  void TearDown() override { model_.reset(); }

  // Greedily, this model says nothing to most questions.
  Turn asked(const std::string& method, double retention, int tokens) {
    Turn turn = ask("text", method, retention, tokens);
    turn.sampling.temperature = 1.0;
    turn.sampling.seed = 3;
    return turn;
  }

  static std::string streamed(const EventRecorder& events, TextKind kind) {
    std::string text;
    for (const TextDelta& delta : events.all<TextDelta>()) text += delta.kind == kind ? delta.text : "";
    return text;
  }

  // Whole, and then in pieces that are cut after every number of tokens.
  void expect_same_in_pieces(const Turn& turn) {
    Turn in_one = turn;
    in_one.conversation = 8;
    const Finished whole = finished(run(in_one));
    ASSERT_EQ(whole.reason, StopReason::kLength) << "this answer is too short for the test";
    for (int cut = 1; cut < turn.sampling.max_new_tokens; ++cut) {
      SCOPED_TRACE(cut);
      Turn piece = turn;
      piece.sampling.max_new_tokens = cut;
      const Finished first = finished(run(piece));
      piece.answer_begun = first.answer;
      piece.thought_begun = first.thought;
      if (begins_anew(piece)) continue;  // nothing but marks so far
      piece.sampling.max_new_tokens = turn.sampling.max_new_tokens - cut;
      const Finished rest = finished(run(piece));
      EXPECT_EQ(rest.figures.tokens.prompt, 0) << "nothing is read again";
      EXPECT_EQ(first.thought + rest.thought, whole.thought);
      EXPECT_EQ(first.answer + rest.answer, whole.answer);
      EXPECT_EQ(rest.figures.tokens.thought, whole.figures.tokens.thought);
    }
  }

  const test::ScratchFolder scratch_;
  int folders_ = 0;
  std::unique_ptr<LoadedModel> model_;
};

TEST_F(Thoughts, ThatAPromptOpensAreAllThereIsUntilTheyEnd) {
  load(kOpens);
  const EventRecorder events = run(asked("full", 1.0, 12));
  const Finished done = finished(events);
  EXPECT_FALSE(done.thought.empty());
  EXPECT_EQ(done.answer, "");
  EXPECT_EQ(streamed(events, TextKind::kThought), done.thought);
  EXPECT_EQ(streamed(events, TextKind::kAnswer), "");
  EXPECT_EQ(done.figures.tokens.thought, done.figures.tokens.generated);
  EXPECT_GT(done.figures.timings_ms.thought, 0.0);
}

TEST_F(Thoughts, AreEndedAtTheirLimit) {
  for (const Marks marks : {Marks::kText, Marks::kSpecialTokens}) {
    load(kOpens, marks);
    Turn turn = asked("full", 1.0, 40);
    turn.sampling.thought_tokens = 12;
    const EventRecorder events = run(turn);
    const Finished done = finished(events);
    EXPECT_FALSE(done.thought.empty());
    EXPECT_FALSE(done.answer.empty());
    EXPECT_EQ(done.answer.find("</think>"), std::string::npos);
    EXPECT_EQ(done.thought.find("</think>"), std::string::npos);
    EXPECT_EQ(streamed(events, TextKind::kThought), done.thought);
    EXPECT_EQ(streamed(events, TextKind::kAnswer), done.answer);
    EXPECT_GT(done.figures.tokens.thought, 12) << "the mark of its end counts, too";
    EXPECT_LE(done.figures.tokens.thought, 12 + std::ssize(closing_tokens(*model_)));
    run(ForgetConversation{7});
  }
}

// Nobody has limited either: the answer is not lost to its thought.
TEST_F(Thoughts, LeaveRoomForTheAnswer) {
  load(kOpens);
  Turn turn = asked("full", 1.0, 160);
  turn.sampling.room_tokens = 8;
  const Finished done = finished(run(turn));
  EXPECT_GE(done.figures.tokens.thought, 120) << "three quarters of 160 tokens";
  EXPECT_LE(done.figures.tokens.thought, 120 + std::ssize(closing_tokens(*model_)));
  EXPECT_FALSE(done.answer.empty());
  const EventRecorder scored = run(Score{turn, done.answer, done.thought, done.reason});
  ASSERT_TRUE(scored.last<Scored>());
  EXPECT_EQ(scored.last<Scored>()->agreement.top1, 1.0) << "the mark that ended the thought is not the full cache's choice either";
}

TEST_F(Thoughts, AreTheSameInPieces) {
  load(kOpens);
  Turn turn = asked("snapkv", 0.5, 24);
  turn.sampling.thought_tokens = 5;
  expect_same_in_pieces(turn);
  run(ForgetConversation{7});
  run(ForgetConversation{8});
  turn.sampling.seed = 4;
  expect_same_in_pieces(turn);
}

TEST_F(Thoughts, CanBeStoppedAndGoOn) {
  load(kOpens);
  Turn turn = asked("full", 1.0, 40);
  turn.sampling.thought_tokens = 12;
  Turn other = turn;
  other.conversation = 8;
  const Finished whole = finished(run(other));
  for (const TextKind within : {TextKind::kThought, TextKind::kAnswer}) {
    SCOPED_TRACE(static_cast<int>(within));
    InterruptSource source;
    EventRecorder events;
    events.hook = [&](const Event& event) {
      const auto* delta = std::get_if<TextDelta>(&event.body);
      if (delta != nullptr && delta->kind == within) source.request_stop();
    };
    engine_->handle({2, turn}, events, source.token());
    const Finished stopped = finished(events);
    ASSERT_EQ(stopped.reason, StopReason::kInterrupted);
    EXPECT_FALSE(stopped.restored);
    EXPECT_EQ(stopped.answer.empty(), within == TextKind::kThought);
    Turn more = turn;
    more.thought_begun = stopped.thought;
    more.answer_begun = stopped.answer;
    more.sampling.max_new_tokens = turn.sampling.max_new_tokens - static_cast<int>(stopped.figures.tokens.generated);
    const Finished rest = finished(run(more));
    EXPECT_EQ(rest.figures.tokens.prompt, 0) << "from the cache that it left";
    EXPECT_EQ(stopped.thought + rest.thought, whole.thought);
    EXPECT_EQ(stopped.answer + rest.answer, whole.answer);
    run(ForgetConversation{7});
  }
}

TEST_F(Thoughts, GoOnFromTheirTextWhereTheCacheIsGone) {
  load(kOpens);
  Turn turn = asked("full", 1.0, 6);
  turn.thought_begun = "A red one";
  Finished done = finished(run(turn));
  EXPECT_FALSE(done.thought.empty());
  EXPECT_EQ(done.answer, "") << "the thought goes on";
  turn.answer_begun = "It is";
  done = finished(run(turn));
  EXPECT_EQ(done.thought, "");
  EXPECT_FALSE(done.answer.empty()) << "the thought was ended";
}

TEST_F(Thoughts, AreNotEndedByAStopString) {
  load(kOpens);
  Turn turn = asked("full", 1.0, 12);
  const std::string thought = finished(run(turn)).thought;
  ASSERT_GT(thought.size(), 3U);
  run(ForgetConversation{7});
  turn.sampling.stop_strings = {thought.substr(1, 1)};
  turn.sampling.thought_tokens = 6;
  turn.sampling.max_new_tokens = 60;
  const Finished done = finished(run(turn));
  EXPECT_GT(done.figures.tokens.thought, 6);
  EXPECT_EQ(done.answer.find(thought.substr(1, 1)), std::string::npos);
}

TEST_F(Thoughts, CancelledLeaveNothing) {
  load(kOpens);
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (std::holds_alternative<TextDelta>(event.body)) source.request_cancel();
  };
  engine_->handle({2, asked("full", 1.0, 24)}, events, source.token());
  EXPECT_TRUE(finished(events).restored);
}

TEST_F(Thoughts, AreReadAgainAsTheyWereWritten) {
  for (const Marks marks : {Marks::kText, Marks::kSpecialTokens}) {
    for (const char* end : {kOpens, kLeavesIt, kMarksTheAnswer}) {
      load(end, marks);
      const ThoughtStart start = end == kOpens ? ThoughtStart::kOpened : ThoughtStart::kUnsaid;
      AnswerText text(*model_, start);
      SplitText all;
      const auto add = [&all](const SplitText& told) {
        all.thought += told.thought;
        all.answer += told.answer;
      };
      const std::vector<std::int64_t> written = written_tokens(*model_, start, "One.\n\nTwo.", "Yes, a red star.");
      const bool marked = model_->tokenizer->decode(written, SpecialTokens::kKeep).find("<response>Yes") != std::string::npos;
      EXPECT_EQ(marked, end == kMarksTheAnswer);
      for (const std::int64_t id : written) add(text.push(id));
      if (marked) {
        for (const std::int64_t id : model_->tokenizer->encode("\n</response>", SpecialText::kParse, TextStart::kContinued))
          add(text.push(id));
      }
      add(text.flush());
      EXPECT_EQ(all.thought, "One.\n\nTwo.");
      EXPECT_EQ(all.answer, "Yes, a red star.");
      EXPECT_GT(text.thought_tokens(), 0);
    }
  }
}

TEST_F(Thoughts, LeaveAnAnswerTheMarksOfItsBoxes) {
  load(kOpens, Marks::kBoxes);
  const std::string answer = "A star at <box>1 2 3 4</box>, and <box> alone.";
  const std::vector<std::int64_t> written = written_tokens(*model_, ThoughtStart::kOpened, "One.", answer);
  EXPECT_EQ(std::ranges::count(written, model_->tokenizer->token_id("<box>").value()), 2) << "special tokens again";
  AnswerText text(*model_, ThoughtStart::kOpened);
  std::string told;
  for (const std::int64_t id : written) told += text.push(id).answer;
  EXPECT_EQ(told + text.flush().answer, answer);
}

TEST_F(Thoughts, AreNoWordsOfTheAnswerThatIsChecked) {
  load(kOpens);
  Turn turn = asked("snapkv", 0.3, 30);
  turn.sampling.thought_tokens = 6;
  const Finished done = finished(run(turn));
  const EventRecorder events = run(Score{turn, done.answer, done.thought, done.reason});
  ASSERT_TRUE(events.last<Scored>());
  const Agreement agreement = events.last<Scored>()->agreement;
  EXPECT_EQ(agreement.tokens, done.figures.tokens.generated) << "its very tokens, the thought's too";
  for (const WordDifference& each : agreement.differences) {
    EXPECT_TRUE(each.text.empty() || done.answer.find(each.text) != std::string::npos) << each.text;
    EXPECT_GE(each.word, 0);
  }
}

// GLM-4.1V-Thinking: its template says nothing of thoughts, and its tokenizer has marks for thoughts and answers.
class ThoughtsByTokens : public TinyModel {
 protected:
  ThoughtsByTokens() : TinyModel("glm4v/thinking") {}
};

TEST_F(ThoughtsByTokens, AreToldApartFromTheAnswerBetweenItsMarks) {
  EXPECT_TRUE(info_.thinks);
  EXPECT_FALSE(info_.thinking_switch);
  const auto model = load_folder(golden_.in_fp32(), {}, InterruptToken());
  AnswerText text(*model, ThoughtStart::kUnsaid);
  SplitText all;
  const auto add = [&](const SplitText& more) {
    all.thought += more.thought;
    all.answer += more.answer;
  };
  const std::string written = "<think>One star.</think><answer>It is <|begin_of_box|>red<|end_of_box|>.</answer>";
  for (const std::int64_t id : model->tokenizer->encode(written, SpecialText::kParse, TextStart::kContinued)) add(text.push(id));
  add(text.flush());
  EXPECT_EQ(all.thought, "One star.");
  EXPECT_EQ(all.answer, "It is <|begin_of_box|>red<|end_of_box|>.") << "boxes are the answer's own";
}

}  // namespace
}  // namespace winnow::testing
