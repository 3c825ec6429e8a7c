// A chat written for people and for programs: what is in it, and that nothing of this machine is.
#include "app/chats/chat/chat_export.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

using Json = nlohmann::json;

StoredMessage message(MessageId id, MessageId parent, Role role, const QString& text) {
  return {.id = id, .parent = parent, .sequence = id, .role = role, .text = text, .createdMs = 1'700'000'000'000};
}

// A question about a video with two answers, the second of which is shown, and a comparison.
LoadedConversation chat() {
  LoadedConversation chat;
  chat.conversation.title = QStringLiteral("Stars\nand squares");
  chat.conversation.options.systemPrompt = QStringLiteral("Be brief.");
  chat.conversation.options.sampling.temperature = 0.7;
  chat.conversation.activeLeaf = 3;
  StoredMessage question = message(1, 0, Role::kUser, QStringLiteral("What is *shown*?"));
  Attachment video;
  video.kind = MediaKind::kVideo;
  video.path = "/home/somebody/secret/clip`.mp4";
  video.sha256 = QByteArray(64, 'a');
  video.durationS = 8.0;
  video.plan.frame_count = 4;
  video.pins = {{1.0, 2.0}};
  video.sampled = {{1.0}, {0.96}};
  video.sampled.notices = {{NoticeCode::kCutOff, 1234}};
  Attachment text{.kind = MediaKind::kDocument, .path = "/home/somebody/secret/notes.md", .words = 1512, .sampled = {.tokens = 2034}};
  Attachment picture{.path = "/home/somebody/secret/photo.png", .widthPx = 640};
  question.attachments = {video, text, picture};
  StoredMessage first = message(2, 1, Role::kAssistant, QStringLiteral("A star."));
  StoredMessage second = message(3, 1, Role::kAssistant, QStringLiteral("```python\nprint(1)\n```"));
  second.hasCause = second.hasRun = true;
  second.run.modelName = QStringLiteral("llava");
  second.run.modelFolder = QStringLiteral("/home/somebody/models/llava");
  second.run.recipe.spec.method = "snapkv";
  second.run.guard = Guard::kRam;
  second.run.sampling.temperature = 0.7;
  second.run.stopReason = StopReason::kLength;
  second.run.figures.method = "snapkv";
  second.run.figures.seed = 7;
  second.run.figures.tokens.generated = 256;
  second.run.figures.layers.resize(2);
  chat.messages = {question, first, second};
  Comparison comparison{.question = 1};
  comparison.columns.resize(2);
  comparison.columns[0].state = ColumnState::kAnswered;
  comparison.columns[0].text = QStringLiteral("red");
  comparison.columns[0].usedAs = 2;
  comparison.columns[0].run.recipe.spec.method = "full";
  chat.comparisons = {comparison};
  return chat;
}

ToldMessage told(const StoredMessage& message) {
  if (message.role == Role::kUser) return {{}, {QStringLiteral("4 frames")}, {}};
  return {message.run.modelName, {}, {QStringLiteral("SnapKV · 10 %")}};
}

TEST(ChatExport, MarkdownIsTheBranchOnScreen) {
  EXPECT_EQ(chatToMarkdown(chat(), told).toStdString(),
            "# Stars and squares\n\n## System\n\nBe brief.\n\n## You\n\n- Video: `clip'.mp4` · 4 frames\n- Document: `notes.md`\n- Image: "
            "`photo.png`\n\nWhat is *shown*?\n\n## "
            "llava\n\n```python\nprint(1)\n```\n\n> SnapKV · 10 %\n");
}

TEST(ChatExport, JsonIsEverything) {
  const Json json = Json::parse(chatToJson(chat()).toStdString());
  EXPECT_EQ(json.at("format"), "winnow-chat");
  EXPECT_EQ(json.at("title"), "Stars and squares");
  EXPECT_EQ(json.at("shown"), 3);
  EXPECT_EQ(json.at("sampling"), (Json{{"temperature", 0.7}}));
  ASSERT_EQ(json.at("messages").size(), 3U);
  const Json& question = json.at("messages").at(0);
  EXPECT_EQ(question.at("parent"), Json());
  EXPECT_EQ(question.at("created"), "2023-11-14T22:13:20Z");
  const Json& video = question.at("attachments").at(0);
  EXPECT_EQ(video.at("name"), "clip`.mp4");
  EXPECT_EQ(video.at("pins_s"), (Json{{1.0, 2.0}}));
  EXPECT_EQ(video.at("sampled").at("actual_s"), (Json{0.96}));
  EXPECT_FALSE(video.at("sampled").contains("notices"));
  EXPECT_EQ(video.at("notices"), (Json{"the file is cut off: 1234 bytes are missing at the end"}));
  const Json& document = question.at("attachments").at(1);
  EXPECT_EQ(document.at("kind"), "document");
  EXPECT_EQ(document.at("words"), 1512);
  EXPECT_EQ(document.at("tokens"), 2034);
  EXPECT_FALSE(document.contains("width_px")) << "a text has no pixels";
  const Json& picture = question.at("attachments").at(2);
  EXPECT_EQ(picture.at("kind"), "image");
  EXPECT_EQ(picture.at("width_px"), 640);
  EXPECT_FALSE(json.at("messages").at(1).contains("run"));
  const Json& run = json.at("messages").at(2).at("run");
  EXPECT_EQ(run.at("model"), "llava");
  EXPECT_EQ(run.at("recipe").at("method"), "snapkv");
  EXPECT_EQ(run.at("later_questions"), "ram");
  EXPECT_EQ(run.at("sampling").at("temperature"), 0.7);
  EXPECT_EQ(run.at("stop_reason"), "length");
  EXPECT_EQ(run.at("seed"), 7);
  EXPECT_EQ(run.at("figures").at("generated_tokens"), 256);
  EXPECT_EQ(run.at("layers").size(), 2U);
  const Json& column = json.at("comparisons").at(0).at("columns").at(0);
  EXPECT_EQ(column.at("state"), "answered");
  EXPECT_EQ(column.at("used_as"), 2);
  EXPECT_EQ(column.at("run").at("recipe").at("method"), "full");
  EXPECT_FALSE(column.at("run").contains("figures")) << "none were taken";
}

TEST(ChatExport, NothingOfThisMachineIsInIt) {
  for (const QByteArray& text : {chatToMarkdown(chat(), told), chatToJson(chat())}) {
    EXPECT_FALSE(text.contains("somebody")) << text.toStdString();
    EXPECT_FALSE(text.contains("/home")) << text.toStdString();
  }
}

// The schema names what is written, and nothing else.
TEST(ChatExport, TheSchemaHasItsMembers) {
  std::ifstream stream(source_folder() + "/resources/chat.schema.json");
  const Json schema = Json::parse(stream);
  const Json json = Json::parse(chatToJson(chat()).toStdString());
  const auto fits = [](const Json& object, const Json& described) {
    for (const auto& [name, value] : object.items()) EXPECT_TRUE(described.at("properties").contains(name)) << name;
    for (const Json& name : described.at("required")) EXPECT_TRUE(object.contains(name.get<std::string>())) << name;
  };
  fits(json, schema);
  for (const Json& each : json.at("messages")) fits(each, schema.at("properties").at("messages").at("items"));
  for (const Json& each : json.at("comparisons")) fits(each, schema.at("properties").at("comparisons").at("items"));
}

TEST(ChatExport, AnEmptyChatIsOne) {
  const Json json = Json::parse(chatToJson({}).toStdString());
  EXPECT_TRUE(json.at("messages").empty());
  EXPECT_EQ(json.at("shown"), Json());
  EXPECT_EQ(chatToMarkdown({}, told), QByteArray("# \n"));
}

}  // namespace
}  // namespace winnow::app
