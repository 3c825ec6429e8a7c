#include "app/engine_host/turn_builder.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

StoredMessage message(Role role, const char* text, MessageState state = MessageState::kComplete) {
  StoredMessage made;
  made.role = role;
  made.text = QString::fromUtf8(text);
  made.state = state;
  return made;
}

Attachment video(const char* path, int frames) {
  Attachment made;
  made.kind = MediaKind::kVideo;
  made.path = path;
  made.plan.frame_count = frames;
  return made;
}

std::string textOf(const Item& item) { return std::get<TextItem>(item).text; }

TEST(TurnBuilder, PutsMediaBeforeTheTextOfTheirMessage) {
  StoredMessage question = message(Role::kUser, "what moves?");
  question.attachments = {video("/v/a.mp4", 32), video("/v/b\xff.mp4", 8)};
  const Turn turn = buildTurn(7, {question}, {});
  ASSERT_EQ(turn.messages.size(), 1u);
  ASSERT_EQ(turn.messages[0].items.size(), 3u);
  EXPECT_EQ(std::get<MediaItem>(turn.messages[0].items[0]).media.path, "/v/a.mp4");
  EXPECT_EQ(std::get<MediaItem>(turn.messages[0].items[0]).media.plan.frame_count, 32);
  EXPECT_EQ(std::get<MediaItem>(turn.messages[0].items[1]).media.path, "/v/b\xff.mp4");  // bytes, not text
  EXPECT_EQ(textOf(turn.messages[0].items[2]), "what moves?");
  EXPECT_EQ(turn.conversation, 7u);
}

TEST(TurnBuilder, KeepsAnsweredTurnsInOrder) {
  const Turn turn = buildTurn(1, {message(Role::kUser, "one"), message(Role::kAssistant, "1"), message(Role::kUser, "two")}, {});
  ASSERT_EQ(turn.messages.size(), 3u);
  EXPECT_EQ(turn.messages[1].role, Role::kAssistant);
  EXPECT_EQ(textOf(turn.messages[1].items[0]), "1");
  EXPECT_EQ(textOf(turn.messages[2].items[0]), "two");
}

TEST(TurnBuilder, JoinsAQuestionWhoseAnswerFailedWithTheNext) {
  StoredMessage first = message(Role::kUser, "describe");
  first.attachments = {video("/v/a.mp4", 64)};
  const Turn turn = buildTurn(1, {first, message(Role::kAssistant, "", MessageState::kFailed), message(Role::kUser, "again")}, {});
  ASSERT_EQ(turn.messages.size(), 1u);
  ASSERT_EQ(turn.messages[0].items.size(), 3u);  // the video is not lost
  EXPECT_EQ(textOf(turn.messages[0].items[1]), "describe");
  EXPECT_EQ(textOf(turn.messages[0].items[2]), "again");
}

TEST(TurnBuilder, LeavesOutAFailedAnswerEvenWithText) {
  const Turn turn = buildTurn(1, {message(Role::kUser, "a"), message(Role::kAssistant, "half", MessageState::kFailed),
                                 message(Role::kUser, "b")}, {});
  ASSERT_EQ(turn.messages.size(), 1u);
}

TEST(TurnBuilder, KeepsAnInterruptedAnswerThatSaidSomething) {
  const Turn turn =
      buildTurn(1, {message(Role::kUser, "a"), message(Role::kAssistant, "half", MessageState::kInterrupted),
                          message(Role::kUser, "b")}, {});
  ASSERT_EQ(turn.messages.size(), 3u);
  EXPECT_EQ(textOf(turn.messages[1].items[0]), "half");
}

TEST(TurnBuilder, IgnoresTheEmptyAnswerRowOfTheQuestionItself) {
  const Turn turn = buildTurn(1, {message(Role::kUser, "a"), message(Role::kAssistant, "", MessageState::kStreaming)}, {});
  ASSERT_EQ(turn.messages.size(), 1u);
  EXPECT_EQ(turn.messages.back().role, Role::kUser);
}

TEST(TurnBuilder, StartsWithTheSystemPromptOnlyWhenThereIsOne) {
  TurnOptions options;
  options.systemPrompt = QStringLiteral("be brief");
  EXPECT_EQ(buildTurn(1, {message(Role::kUser, "a")}, options).messages.front().role, Role::kSystem);
  options.systemPrompt = QStringLiteral("  ");
  EXPECT_EQ(buildTurn(1, {message(Role::kUser, "a")}, options).messages.front().role, Role::kUser);
}

TEST(TurnBuilder, RefusesAThreadWithoutAnOpenQuestion) {
  EXPECT_THROW(buildTurn(1, {}, {}), Exception);
  EXPECT_THROW(buildTurn(1, {message(Role::kUser, "a"), message(Role::kAssistant, "1")}, {}), Exception);
  EXPECT_THROW(buildTurn(1, {message(Role::kUser, "")}, {}), Exception);
}

TEST(TurnBuilder, PassesTheWholeRecipeOn) {
  TurnOptions options;
  options.recipe.method = "snapkv";
  options.recipe.options["window"] = "16";
  options.recipe.allocator = "meda";
  options.recipe.budget_tokens = 64;
  EXPECT_EQ(buildTurn(1, {message(Role::kUser, "a")}, options).recipe, options.recipe);
}

}  // namespace
}  // namespace winnow::app
