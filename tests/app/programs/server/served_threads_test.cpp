#include "app/programs/server/served_threads.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

constexpr ConversationId kFirst = 1000;

Item film(const char* path) { return MediaItem{{path, MediaKind::kVideo, {}}}; }
Message user(const char* words) { return {Role::kUser, {TextItem{words}}}; }
Message about(const char* path, const char* words) { return {Role::kUser, {film(path), TextItem{words}}}; }
Message answer(const char* words) { return {Role::kAssistant, {TextItem{words}}}; }

class ServedThreadsTest : public testing::Test {
 protected:
  ConversationId ask(std::vector<Message> thread, const char* said = "yes", std::int64_t bytes = 10) {
    Turn turn{.messages = std::move(thread), .recipe = recipe, .prompt = {.day = day}};
    threads.choose(turn);
    told_day = turn.prompt.day;
    threads.answered(turn, said, bytes);
    return turn.conversation;
  }

  ServedThreads threads{kFirst, 100, 3};
  RecipeSpec recipe;
  std::string day = "2026-11-27", told_day;
};

TEST_F(ServedThreadsTest, AThreadGoesOnWhereItsBeginningIsKept) {
  const ConversationId first = ask({user("hello")}, "hi");
  EXPECT_EQ(first, kFirst);
  EXPECT_EQ(ask({user("hello"), answer("hi"), user("and?")}), first);
  EXPECT_NE(ask({user("hello"), answer("other words"), user("and?")}), first) << "another answer was given";
}

TEST_F(ServedThreadsTest, AnAnswerThatIsBegunGoesOnWhereItWasCutOff) {
  const ConversationId first = ask({user("count")}, "one, two");
  Turn turn{.messages = {user("count")}, .answer_begun = "one, two"};
  threads.choose(turn);
  EXPECT_EQ(turn.conversation, first);
  threads.answered(turn, ", three", 10);
  EXPECT_EQ(ask({user("count"), answer("one, two, three"), user("and?")}), first);
  turn.answer_begun = "seven";
  threads.choose(turn);
  EXPECT_NE(turn.conversation, first);
}

TEST_F(ServedThreadsTest, WhoSharesWhatIsBeingReadWaitsForIt) {
  const auto turn = [](std::vector<Message> thread) { return Turn{.messages = std::move(thread)}; };
  Turn first = turn({about("a.mp4", "who?")});
  threads.choose(first);
  EXPECT_TRUE(threads.mustWait(turn({about("a.mp4", "where?")})));
  EXPECT_FALSE(threads.mustWait(turn({about("b.mp4", "where?")})));
  EXPECT_FALSE(threads.mustWait(turn({user("hello")})));
  threads.answered(first, "me", 10);
  EXPECT_FALSE(threads.mustWait(turn({about("a.mp4", "where?")})));
  Turn next = turn({about("a.mp4", "who?"), answer("me"), user("and?")});
  threads.choose(next);
  EXPECT_TRUE(threads.mustWait(turn({about("a.mp4", "who?"), answer("me"), user("why?")})));
  threads.failed(next.conversation);
  EXPECT_FALSE(threads.mustWait(turn({about("a.mp4", "who?"), answer("me"), user("why?")})));
}

TEST_F(ServedThreadsTest, QuestionsAboutOneFilmShareWhatWasReadOfIt) {
  const ConversationId first = ask({about("a.mp4", "who?")});
  EXPECT_EQ(ask({about("a.mp4", "where?")}), first);
  EXPECT_NE(ask({about("b.mp4", "who?")}), first);
  EXPECT_NE(ask({{Role::kUser, {film("a.mp4"), film("b.mp4")}}}), first) << "more is attached";
}

TEST_F(ServedThreadsTest, TextsAloneShareNothingUntilTheyAreWhole) {
  const ConversationId first = ask({{Role::kSystem, {TextItem{"be short"}}}, user("one")});
  EXPECT_NE(ask({{Role::kSystem, {TextItem{"be short"}}}, user("two")}), first) << "it would end the other thread's cache";
}

TEST_F(ServedThreadsTest, AnotherRecipeIsAnotherThread) {
  const ConversationId first = ask({about("a.mp4", "who?")});
  recipe.retention = 0.5;
  EXPECT_NE(ask({about("a.mp4", "who?")}), first);
}

TEST_F(ServedThreadsTest, AThreadKeepsTheDayItBeganOn) {
  ask({user("hello")}, "hi");
  day = "2026-11-28";
  Turn asked;
  asked.prompt.day = day;
  asked.messages = {user("hello"), answer("hi"), user("and?")};
  EXPECT_EQ(threads.dayOf(asked), "2026-11-27") << "of a prompt that is only told";
  EXPECT_EQ(asked.conversation, 0U);
  ask(asked.messages);
  EXPECT_EQ(told_day, "2026-11-27");
  asked.messages = {user("something else")};
  EXPECT_EQ(threads.dayOf(asked), "2026-11-28");
}

TEST_F(ServedThreadsTest, TheOneUsedLongestAgoIsForgottenFirst) {
  const ConversationId a = ask({user("a")}, "1");
  const ConversationId b = ask({user("b")}, "2");
  ask({user("a"), answer("1"), user("more")});
  ask({user("c")});
  EXPECT_TRUE(threads.tooMany().empty()) << "three are allowed";
  ask({user("d")});
  EXPECT_EQ(threads.tooMany(), std::vector<ConversationId>{b});
  ask({user("e")}, "long", 95);
  EXPECT_EQ(threads.tooMany().front(), a);
  EXPECT_LE(threads.bytes(), 100);
}

TEST_F(ServedThreadsTest, WhatFailedHoldsNothing) {
  Turn turn{.messages = {user("x")}};
  threads.choose(turn);
  threads.failed(turn.conversation);
  Turn again = turn;
  threads.choose(again);
  EXPECT_NE(again.conversation, turn.conversation);
}

}  // namespace
}  // namespace winnow::app
