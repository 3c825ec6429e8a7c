#include "app/engine/host/turn_builder.h"

#include <gtest/gtest.h>

#include <QDateTime>

namespace winnow::app {
namespace {

StoredMessage message(Role role, const char* text, MessageState state = MessageState::kComplete) {
  return {.role = role, .text = QString::fromUtf8(text), .state = state};
}

Attachment video(const char* path, int frames) { return {.kind = MediaKind::kVideo, .path = path, .plan = {.frame_count = frames}}; }

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

// Media are counted over the whole thread, in the order of its messages; a failed answer changes nothing about that.
TEST(TurnBuilder, PinsNameMediaByTheirPlaceInTheThread) {
  StoredMessage first = message(Role::kUser, "one");
  Attachment image{.kind = MediaKind::kImage, .path = "/v/a.png", .pins = {{0.0, 0.0}}};
  Attachment clip = video("/v/a.mp4", 8);
  clip.durationS = 80.0;  // frames at 5, 15, 25 ..
  first.attachments = {clip, image};
  StoredMessage second = message(Role::kUser, "two");
  clip.path = "/v/b.mp4";
  clip.pins = {{12.0, 31.0}, {66.0, 67.0}};
  second.attachments = {clip};
  const Turn turn = buildTurn(1, {first, message(Role::kAssistant, "", MessageState::kFailed), second}, {});
  EXPECT_EQ(turn.pins, (std::vector<Pin>{{1}, {2, 12.0, 31.0}, {2, 60.0, 70.0}})) << "the second range reaches the frame at 65 s";
}

TEST(TurnBuilder, PinsAreTheSameBeforeAndAfterSampling) {
  StoredMessage question = message(Role::kUser, "one");
  Attachment clip = video("/v/a.mp4", 2);
  clip.durationS = 100.0;
  clip.pins = {{40.0, 41.0}};
  question.attachments = {clip};
  const Turn before = buildTurn(1, {question}, {});
  EXPECT_EQ(before.pins, (std::vector<Pin>{{0, 0.0, 50.0}})) << "all of the time that the frame at 25 s stands for";
  question.attachments[0].sampled = {{25.0, 75.0}, {24.96, 74.92}};
  EXPECT_EQ(buildTurn(1, {question}, {}).pins, before.pins);
}

TEST(TurnBuilder, PlansSayWhenFramesAreTaken) {
  Attachment clip = video("/v/a.mp4", 4);
  clip.durationS = 10.0;
  clip.plan.from_s = 2.0;
  EXPECT_EQ(plannedTimes(clip), (std::vector<double>{3.0, 5.0, 7.0, 9.0}));
  clip.plan = {0, 2.5, 1.0, 9.0, 3};
  EXPECT_EQ(plannedTimes(clip), (std::vector<double>{1.0, 3.5, 6.0}));
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
  const Turn turn =
      buildTurn(1, {message(Role::kUser, "a"), message(Role::kAssistant, "half", MessageState::kFailed), message(Role::kUser, "b")}, {});
  ASSERT_EQ(turn.messages.size(), 1u);
}

TEST(TurnBuilder, KeepsAnInterruptedAnswerThatSaidSomething) {
  const Turn turn = buildTurn(
      1, {message(Role::kUser, "a"), message(Role::kAssistant, "half", MessageState::kInterrupted), message(Role::kUser, "b")}, {});
  ASSERT_EQ(turn.messages.size(), 3u);
  EXPECT_EQ(textOf(turn.messages[1].items[0]), "half");
}

TEST(TurnBuilder, IgnoresTheEmptyAnswerRowOfTheQuestionItself) {
  const Turn turn = buildTurn(1, {message(Role::kUser, "a"), message(Role::kAssistant, "", MessageState::kStreaming)}, {});
  ASSERT_EQ(turn.messages.size(), 1u);
  EXPECT_EQ(turn.messages.back().role, Role::kUser);
}

// Chat templates that write a date read the same tomorrow.
TEST(TurnBuilder, TellsTheDayOfTheFirstQuestion) {
  StoredMessage first = message(Role::kUser, "one");
  first.createdMs = QDateTime(QDate(2026, 3, 5), QTime(23, 59)).toMSecsSinceEpoch();
  StoredMessage later = message(Role::kUser, "two");
  later.createdMs = QDateTime(QDate(2026, 3, 6), QTime(0, 1)).toMSecsSinceEpoch();
  EXPECT_EQ(buildTurn(1, {first, message(Role::kAssistant, "yes"), later}, {}).prompt.day, "2026-03-05");
  EXPECT_EQ(buildTurn(1, {message(Role::kUser, "not saved yet")}, {}).prompt.day, QDate::currentDate().toString(Qt::ISODate).toStdString());
}

TEST(TurnBuilder, StartsWithTheSystemPromptOnlyWhenThereIsOne) {
  TurnOptions options{.systemPrompt = QStringLiteral("be brief")};
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
