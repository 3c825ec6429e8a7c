// Documents: texts that are attached, read, compressed before a question and asked again as videos are.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/generation/segment/document_tokens.h"
#include "engine/model_files/hugging_face_folder.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/expect_error.h"

namespace winnow::testing {
namespace {

// Fifty lines of which no two are the same.
std::string fifty_lines() {
  std::string text;
  for (int line = 0; line < 50; ++line) text += "The red circle moves from the left to the right " + std::to_string(line * 7) + " times.\n";
  return text;
}

class Documents : public TinyModel {
 protected:
  Documents() {
    opener_.add_text("notes.txt", fifty_lines());
    opener_.add_text("blank.txt", " \n\n\t\n");
  }

  Turn about(const std::string& method, double retention, const std::string& question = "Describe the video in one sentence.",
             const std::string& path = "notes.txt") {
    Turn turn = ask("text", method, retention, 12);
    MediaRequest request{.path = path, .kind = MediaKind::kDocument};
    turn.messages = {{Role::kUser, {MediaItem{request}}}};
    if (!question.empty()) turn.messages.back().items.emplace_back(TextItem{question});
    return turn;
  }

  static CacheReport report(const EventRecorder& events) { return events.last<CacheReport>().value_or(CacheReport{}); }
};

TEST_F(Documents, TokensAreTheTextsOwnAndKnowTheirLine) {
  const auto tokenizer = Tokenizer::from(HuggingFaceFolder(golden_.model_folder()).tokenizer());
  const std::string text = "one\ntwo three\n\nfour";
  const DocumentTokens found = document_tokens(*tokenizer, text, 0, "a.txt");
  EXPECT_EQ(found.ids, tokenizer->encode(text, SpecialText::kAsText));
  EXPECT_EQ(found.all, std::ssize(found.ids));
  EXPECT_EQ(found.origins.front().frame, 0);
  EXPECT_EQ(found.origins.back().frame, 3);
  for (const TokenOrigin& origin : found.origins) EXPECT_EQ(origin.modality, Modality::kDocument);
  const DocumentTokens some = document_tokens(*tokenizer, text, 2, "a.txt");
  EXPECT_EQ(some.ids.size(), 2U);
  EXPECT_EQ(some.all, found.all);
  // What looks like a control token is text.
  const DocumentTokens tricky = document_tokens(*tokenizer, "<|im_end|>", 0, "a.txt");
  EXPECT_GT(tricky.ids.size(), 1U);
  test::expect_error(ErrorCode::kDamagedFile, "b.txt: there is no text", [&] { document_tokens(*tokenizer, " \n", 0, "b.txt"); });
}

TEST_F(Documents, ATurnSaysWhatWasRead) {
  const EventRecorder events = run(about("full", 1.0));
  const Finished answer = finished(events);
  ASSERT_EQ(events.all<MediaSampled>().size(), 1U);
  const MediaSampled read = *events.last<MediaSampled>();
  EXPECT_EQ(read.kind, MediaKind::kDocument);
  EXPECT_GT(read.tokens, 500);
  EXPECT_EQ(read.tokens, read.all_tokens);
  EXPECT_EQ(answer.figures.tokens.visual, read.tokens) << "what is attached";
  const CacheReport kept = report(events);
  const auto lines = std::ranges::count_if(kept.tokens, [](const TokenOrigin& token) { return token.modality == Modality::kDocument; });
  EXPECT_EQ(lines, read.tokens);
}

// The prompt is what it would be if the text stood in the question. It ends with a letter, which no merge joins with the lines behind
// it; the third of them is what the template writes before every text.
TEST_F(Documents, TheWholeCacheAnswersAsIfTheTextStoodInTheQuestion) {
  const std::string line = "The red circle moves from the left to the right";
  opener_.add_text("line.txt", line);
  const EventRecorder attached = run(about("full", 1.0, "Which color?", "line.txt"));
  Turn typed = ask("text", "full", 1.0, 12);
  typed.conversation = 8;
  typed.messages = {{Role::kUser, {TextItem{line + "\n\n\nWhich color?"}}}};
  const EventRecorder inside = run(typed);
  EXPECT_EQ(report(attached).tokens.size(), report(inside).tokens.size());
  EXPECT_EQ(finished(attached).answer, finished(inside).answer);
}

TEST_F(Documents, EveryMethodAnswersOrSaysThatItNeedsFrames) {
  const std::string whole = finished(run(about("full", 1.0))).answer;
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    Turn turn = about(method.name, 0.4);
    turn.conversation = 9;
    const EventRecorder events = run(turn);
    const bool frames = method.phase == MethodPhase::kStream || method.phase == MethodPhase::kRetrieve;
    if (frames) {
      ASSERT_TRUE(events.last<Failed>());
      EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kIllegalRecipe);
      EXPECT_NE(events.last<Failed>()->error.reason.find("frame"), std::string::npos);
      continue;
    }
    EXPECT_FALSE(finished(events).answer.empty());
    turn.recipe.retention = 1.0;
    turn.conversation = 10;
    EXPECT_EQ(finished(run(turn)).answer, whole) << "all of it kept";
    run(ForgetConversation{9});
    run(ForgetConversation{10});
  }
}

TEST_F(Documents, PreparedOnceItIsAskedAnyNumberOfTimes) {
  for (const char* method : {"self-study", "kvzip+", "every-k"}) {
    SCOPED_TRACE(method);
    ASSERT_TRUE(run(Prepare{about(method, 0.3, "")}).last<Prepared>());
    for (const char* question : {"Which color?", "How many squares are there?"}) {
      const EventRecorder one = run(about(method, 0.3, question));
      Turn fresh = about(method, 0.3, question);
      fresh.conversation = 8;
      const EventRecorder other = run(fresh);
      run(ForgetConversation{8});
      EXPECT_EQ(finished(one).answer, finished(other).answer);
      EXPECT_EQ(report(one).kept, report(other).kept);
      EXPECT_EQ(finished(one).figures.tokens.visual, 0) << "its own words only";
      run(ForgetConversation{7});
      ASSERT_TRUE(run(Prepare{about(method, 0.3, "")}).last<Prepared>());
    }
    run(ForgetConversation{7});
  }
}

TEST_F(Documents, APinKeepsAllOfIt) {
  Turn turn = about("random-context", 0.3);
  turn.pins = {Pin{}};
  const EventRecorder events = run(turn);
  const CacheReport kept = report(events);
  for (const std::vector<std::vector<std::int32_t>>& layer : kept.kept) {
    for (const std::vector<std::int32_t>& head : layer) EXPECT_GE(std::ssize(head), events.last<MediaSampled>()->tokens);
  }
}

TEST_F(Documents, OnlyItsBeginningIsReadWhereThatIsAsked) {
  Turn turn = about("full", 1.0);
  std::get<MediaItem>(turn.messages.back().items.front()).media.most_tokens = 40;
  const EventRecorder events = run(turn);
  finished(events);
  EXPECT_EQ(events.last<MediaSampled>()->tokens, 40);
  EXPECT_GT(events.last<MediaSampled>()->all_tokens, 500);
  // Another part of it is another document.
  Turn whole = follow_up(turn, finished(events).answer, "Which color?");
  std::get<MediaItem>(whole.messages.front().items.front()).media.most_tokens = 0;
  EXPECT_GT(finished(run(whole)).figures.tokens.visual, 500) << "read anew";
}

TEST_F(Documents, InAnotherEncodingIsAnotherDocument) {
  const Turn turn = about("full", 1.0);
  Turn other = follow_up(turn, finished(run(turn)).answer, "Which color?");
  std::get<MediaItem>(other.messages.front().items.front()).media.encoding = "KOI8-R";
  const EventRecorder events = run(other);
  EXPECT_GT(finished(events).figures.tokens.visual, 500) << "read anew";
  EXPECT_EQ(events.last<MediaSampled>()->encoding, "KOI8-R");
  const Turn again = follow_up(other, finished(events).answer, "And which shape?");
  EXPECT_EQ(finished(run(again)).figures.tokens.visual, 0) << "read already";
}

TEST_F(Documents, RefusesWhatIsTooLongOrHoldsNoText) {
  std::string much;
  while (much.size() < 60'000) much += fifty_lines();
  opener_.add_text("book.txt", much);
  const EventRecorder full = run(about("full", 1.0, "Which color?", "book.txt"));
  ASSERT_TRUE(full.last<Failed>());
  EXPECT_EQ(full.last<Failed>()->error.code, ErrorCode::kContextFull);
  const EventRecorder blank = run(about("full", 1.0, "Which color?", "blank.txt"));
  ASSERT_TRUE(blank.last<Failed>());
  EXPECT_EQ(blank.last<Failed>()->error.code, ErrorCode::kDamagedFile);
  EXPECT_EQ(blank.last<Failed>()->error.subject, "blank.txt");
}

// A person's text cannot stand for a document: the mark of one is replaced in it.
TEST_F(Documents, NoWordOfAMessageStandsForOne) {
  Turn turn = ask("text", "full", 1.0, 4);
  turn.messages = {{Role::kUser, {TextItem{"a \xEF\xB7\x90 b"}}}};
  EXPECT_EQ(finished(run(turn)).figures.tokens.visual, 0);
}

TEST_F(Documents, APlanForeseesThem) {
  const Turn turn = about("self-study", 0.3);
  const EventRecorder planned = run(Plan{turn});
  ASSERT_TRUE(planned.last<Planned>()) << (planned.last<Failed>() ? planned.last<Failed>()->error.reason : "");
  const Finished answer = finished(run(turn));
  EXPECT_EQ(planned.last<Planned>()->tokens.visual, answer.figures.tokens.visual);
  EXPECT_EQ(planned.last<Planned>()->tokens.prompt, answer.figures.tokens.prompt);
}

}  // namespace
}  // namespace winnow::testing
