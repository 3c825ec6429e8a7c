// Media prepared before a question, on a tiny random model: a question about them is the turn that it would have been, for its own tokens
// only.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/generation/asking.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

using Preparing = TinyModel;

const char* const kContextMethods[] = {"self-study", "kvzip", "kvzip+", "random-context", "every-k"};

bool compressed(const EventRecorder& events) {
  EXPECT_TRUE(events.last<Prepared>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no outcome");
  return events.last<Prepared>().value_or(Prepared{}).compressed;
}

TEST_F(Preparing, AQuestionAfterwardsIsTheSameTurn) {
  for (const char* method : kContextMethods) {
    SCOPED_TRACE(method);
    const Turn turn = ask("video", method, 0.3, 16);
    const EventRecorder alone = run(turn);
    run(ForgetConversation{7});
    EXPECT_TRUE(compressed(run(Prepare{asking(turn, "")}))) << "without a word of a question";
    const EventRecorder after = run(turn);
    EXPECT_EQ(finished(after).answer, finished(alone).answer);
    EXPECT_EQ(after.last<CacheReport>()->kept, alone.last<CacheReport>()->kept);
    EXPECT_EQ(finished(after).figures.kv_bytes.after_event, finished(alone).figures.kv_bytes.after_event);
    EXPECT_GT(finished(alone).figures.tokens.visual, 0);
    EXPECT_EQ(finished(after).figures.tokens.visual, 0) << "its own tokens only";
    EXPECT_EQ(after.all<MediaSampled>().size(), 1U);
    run(ForgetConversation{7});
  }
}

// Another file under its name was answered from what had been read of the old one.
TEST_F(Preparing, AFileThatWasReplacedIsNotAnsweredFromWhatWasRead) {
  const auto of_bytes = [](Turn turn, const std::string& content) {
    for (Item& item : turn.messages.front().items) {
      if (auto* medium = std::get_if<MediaItem>(&item)) medium->media.content = content.empty() ? "memory:" + medium->media.path : content;
    }
    return turn;
  };
  const Turn asked = ask("video", "self-study", 0.3, 4);
  ASSERT_TRUE(compressed(run(Prepare{asking(of_bytes(asked, ""), "")})));
  const auto refused = [&](const Turn& turn) {
    const EventRecorder events = run(of_bytes(turn, "other bytes"));
    return events.last<Failed>() && events.last<Failed>()->error.code == ErrorCode::kMediaChanged;
  };
  EXPECT_TRUE(refused(asked)) << "prepared";
  Turn next = asked;
  next.messages.push_back({Role::kAssistant, {TextItem{finished(run(of_bytes(asked, ""))).answer}}});
  next.messages.push_back({Role::kUser, {TextItem{"And now?"}}});
  EXPECT_TRUE(refused(next)) << "in a conversation";
  EXPECT_EQ(finished(run(of_bytes(next, ""))).figures.tokens.visual, 0) << "nothing is read again";
  EXPECT_EQ(finished(run(next)).figures.tokens.visual, 0) << "bytes that are not known are any";
}

TEST_F(Preparing, AnyNumberOfQuestionsGoOnFromIt) {
  const Turn turn = ask("video", "self-study", 0.3, 12);
  ASSERT_TRUE(compressed(run(Prepare{turn})));
  const int read = opener_.pictures_read;
  for (const char* question : {"Which color?", "How many squares are there?", "And what does the last card say?", "Which color?"}) {
    SCOPED_TRACE(question);
    const Finished one = finished(run(asking(turn, question)));
    Turn fresh = asking(turn, question);
    fresh.conversation = 8;
    const Finished other = finished(run(fresh));
    run(ForgetConversation{8});
    EXPECT_EQ(one.answer, other.answer);
    EXPECT_EQ(one.figures.kv_bytes.end, other.figures.kv_bytes.end);
  }
  EXPECT_EQ(opener_.pictures_read, read) << "features of the second conversation are remembered, those of the first not even asked for";
}

TEST_F(Preparing, WithoutAnEventBeforeTheQuestionTheMediaAreEncoded) {
  for (const auto& [method, share] :
       {std::pair{"snapkv", 0.3}, std::pair{"full", 1.0}, std::pair{"kvzip", 1.0}, std::pair{"fastervlm", 0.5}}) {
    SCOPED_TRACE(method);
    const Turn turn = ask("video", method, share);
    EXPECT_FALSE(compressed(run(Prepare{turn})));
    const int read = opener_.pictures_read;
    EXPECT_FALSE(finished(run(turn)).answer.empty());
    EXPECT_EQ(opener_.pictures_read, read);
    run(ForgetConversation{7});
  }
}

TEST_F(Preparing, ASecondVideoOfAThreadIsPreparedBehindTheFirst) {
  const Turn first = ask("video", "self-study", 0.3);
  const std::string answer = finished(run(first)).answer;
  Turn second = follow_up(first, answer, "And here?");
  second.messages.back().items.insert(second.messages.back().items.begin(), first.messages.back().items.front());
  const Finished alone = finished(run(second));
  run(ForgetConversation{7});
  finished(run(first));
  ASSERT_TRUE(compressed(run(Prepare{second})));
  const Finished after = finished(run(second));
  EXPECT_EQ(after.answer, alone.answer);
  EXPECT_EQ(after.figures.tokens.visual, 0);
  EXPECT_EQ(after.figures.kv_bytes.end, alone.figures.kv_bytes.end);
  const EventRecorder again = run(second);
  EXPECT_EQ(finished(again).answer, alone.answer) << "answered again from what is prepared";
}

TEST_F(Preparing, WhatADraftPreparedGoesToItsConversation) {
  Turn draft = ask("video", "self-study", 0.3);
  draft.conversation = kDraftConversation;
  ASSERT_TRUE(compressed(run(Prepare{draft})));
  Turn other = ask("video", "kvzip", 0.3);
  other.conversation = 3;
  EXPECT_GT(finished(run(other)).figures.tokens.visual, 0) << "another recipe";
  const Turn turn = ask("video", "self-study", 0.3);
  EXPECT_EQ(finished(run(turn)).figures.tokens.visual, 0);
  Turn second = turn;
  second.conversation = 8;
  EXPECT_GT(finished(run(second)).figures.tokens.visual, 0) << "it went to the first";
}

TEST_F(Preparing, CancelChangesNothing) {
  const Turn turn = ask("video", "self-study", 0.3);
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event& event) {
    const auto* progress = std::get_if<Progress>(&event.body);
    if (progress != nullptr && progress->phase == Phase::kProbe) source.request_cancel();
  };
  engine_->handle({2, Prepare{turn}}, events, source.token());
  EXPECT_TRUE(events.last<Finished>() && events.last<Finished>()->restored);
  EXPECT_FALSE(events.last<Prepared>());
  EXPECT_GT(finished(run(turn)).figures.tokens.visual, 0);
}

TEST_F(Preparing, AMessageWithoutMediaIsRefused) {
  const EventRecorder events = run(Prepare{ask("text", "self-study", 0.3)});
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kInvalidArgument);
}

TEST_F(Preparing, TheDescriptionComesWithTheFramesItIsAbout) {
  const EventRecorder events = run(Prepare{ask("video", "self-study", 0.3)});
  ASSERT_TRUE(events.last<CacheReport>());
  const Description description = events.last<CacheReport>()->description;
  ASSERT_FALSE(description.words.empty());
  const std::int64_t frames = std::ssize(events.last<MediaSampled>()->asked_s);
  for (const DescribedWord& word : description.words) {
    EXPECT_EQ(word.media, 0);
    EXPECT_LT(word.frame, frames);
  }
  EXPECT_TRUE(run(Prepare{ask("video", "kvzip", 0.3)}).last<CacheReport>()->description.words.empty());
}

TEST_F(Preparing, AnswersToSeveralRequestsFollowEachOther) {
  const auto said = [&](const std::string& requests) {
    Turn turn = ask("video", "self-study", 0.3);
    turn.recipe.options["ask"] = requests;
    turn.recipe.options["answer"] = "8";
    const Description description = run(Prepare{turn}).last<CacheReport>().value().description;
    std::string text;
    for (const DescribedWord& word : description.words) text += word.bytes;
    run(ForgetConversation{turn.conversation});
    return text;
  };
  const std::string one = said("Which color?"), other = said("How many squares are there?");
  EXPECT_FALSE(one.empty() || other.empty());
  EXPECT_EQ(said("Which color? | How many squares are there?"), one + "\n" + other);
}

}  // namespace
}  // namespace winnow::testing
