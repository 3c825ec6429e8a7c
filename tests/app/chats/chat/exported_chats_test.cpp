// Chats of other programs' exports, as both write them, and their place among the own ones.
#include "app/chats/chat/exported_chats.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include "app/chats/chat/chat_database.h"

namespace winnow::app {
namespace {

// Two versions of an answer, a hidden message, a tool's, a picture among the words, and a thought before the answer.
constexpr char kChatgpt[] = R"([{
 "title": "Moons", "create_time": 1700000000.5, "update_time": 1700000100, "current_node": "f", "mapping": {
  "a": {"id": "a", "message": null, "parent": null, "children": ["s"]},
  "s": {"message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts": ["be kind"]}, "recipient": "all"}, "parent": "a"},
  "h": {"message": {"author": {"role": "user"}, "content": {"parts": ["about me"]}, "metadata": {"is_visually_hidden_from_conversation": true}}, "parent": "s"},
  "b": {"message": {"author": {"role": "user"}, "content": {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "Which moon", "is this?"]}}, "parent": "h"},
  "c": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Titan."]}}, "parent": "b"},
  "t": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "It is icy."}]}}, "parent": "b"},
  "p": {"message": {"author": {"role": "assistant"}, "recipient": "python", "content": {"content_type": "code", "text": "1+1"}}, "parent": "t"},
  "q": {"message": {"author": {"role": "tool"}, "content": {"parts": ["2"]}}, "parent": "p"},
  "d": {"message": {"author": {"role": "assistant"}, "recipient": "all", "content": {"content_type": "text", "parts": ["Europa."]}, "metadata": {"model_slug": "gpt-5"}}, "parent": "q"},
  "e": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["It has an ocean."]}}, "parent": "d"},
  "f": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Thanks."]}}, "parent": "e"}
 }},
 {"title": "nothing", "mapping": {}, "current_node": "x"}])";

constexpr char kOpenWebui[] = R"([{"id": "1", "title": "Rivers", "created_at": 1600000000, "updated_at": 1600000500, "chat": {
 "title": "Rivers", "models": ["qwen"], "history": {"currentId": "m4", "messages": {
  "m1": {"id": "m1", "parentId": null, "role": "user", "content": "Longest river?"},
  "m2": {"id": "m2", "parentId": "m1", "role": "assistant", "content": "The Amazon.", "model": "llama"},
  "m3": {"id": "m3", "parentId": "m1", "role": "assistant", "model": "qwen3:8b",
         "content": "<details type=\"reasoning\" done=\"true\" duration=\"3\">\n<summary>Thought for 3 seconds</summary>\n&gt; Length matters.\n> Nile or Amazon?\n</details>\nThe Nile."},
  "m4": {"id": "m4", "parentId": "m3", "role": "user", "content": "Sure?"}}}}}])";

TEST(ExportedChats, OfChatgptAreTheBranchThatWasOnScreen) {
  const QList<ExportedChat> chats = readExportedChats(kChatgpt, "conversations.json");
  ASSERT_EQ(chats.size(), 1) << "one has no words";
  const ExportedChat& chat = chats.first();
  EXPECT_EQ(chat.title, QStringLiteral("Moons"));
  EXPECT_EQ(chat.createdMs, 1700000000500);
  EXPECT_EQ(chat.updatedMs, 1700000100000);
  ASSERT_EQ(chat.messages.size(), 3);
  EXPECT_EQ(chat.messages[0].text, QStringLiteral("Which moon\nis this?"));
  EXPECT_EQ(chat.messages[1].role, Role::kAssistant);
  EXPECT_EQ(chat.messages[1].text, QStringLiteral("Europa.\n\nIt has an ocean."));
  EXPECT_EQ(chat.messages[1].thought, QStringLiteral("It is icy."));
  EXPECT_EQ(chat.messages[1].writer, QStringLiteral("gpt-5"));
  EXPECT_EQ(chat.messages[2].text, QStringLiteral("Thanks."));
}

TEST(ExportedChats, OfOpenWebuiHaveTheirThoughtsApart) {
  const QList<ExportedChat> chats = readExportedChats(kOpenWebui, "chats.json");
  ASSERT_EQ(chats.size(), 1);
  EXPECT_EQ(chats.first().title, QStringLiteral("Rivers"));
  ASSERT_EQ(chats.first().messages.size(), 3);
  EXPECT_EQ(chats.first().messages[1].text, QStringLiteral("The Nile."));
  EXPECT_EQ(chats.first().messages[1].thought, QStringLiteral("Length matters.\nNile or Amazon?"));
  EXPECT_EQ(chats.first().messages[1].writer, QStringLiteral("qwen3:8b"));
}

TEST(ExportedChats, RefusesWhatIsNone) {
  const auto code = [](std::string_view json) {
    try {
      readExportedChats(json, "file");
    } catch (const Exception& refused) {
      return refused.error().code;
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code("PK\x03\x04 and so on"), ErrorCode::kArchive);
  EXPECT_EQ(code("not JSON"), ErrorCode::kDamagedFile);
  EXPECT_EQ(code(R"([{"title": "x", "messages": []}])"), ErrorCode::kUnsupportedFormat);
  EXPECT_EQ(code(R"("mapping")"), ErrorCode::kUnsupportedFormat);
  EXPECT_TRUE(readExportedChats("[]", "file").isEmpty());
  // Its messages are each other's parents; others are of another type than they should be.
  EXPECT_NO_THROW(readExportedChats(R"([{"mapping": {"a": {"parent": "b"}, "b": {"parent": "a"}}, "current_node": "a"},
                                       {"mapping": {"a": {"message": [1], "parent": 7}}, "current_node": "a"},
                                       {"mapping": {"a": 3}, "current_node": "a"}, {"mapping": {}, "current_node": 5}, 4, null])",
                                    "file"));
}

TEST(ExportedChats, StandAmongTheOwnOnesByTheirTimeAndAreImportedOnce) {
  QTemporaryDir home;
  ChatDatabase db({home.filePath(QStringLiteral("data")), home.filePath(QStringLiteral("cache"))});
  const ConversationId own = db.createConversation(QStringLiteral("mine"), {}).id;
  ConversationOptions options{.frameCount = 12};
  QList<ExportedChat> chats = readExportedChats(kOpenWebui, "");
  chats += readExportedChats(kChatgpt, "");
  chats += ExportedChat{QStringLiteral("long"), 1, 1, {{Role::kUser, QString(2 << 20, u'x')}}};
  const ImportedChats first = db.importChats(chats, options);
  EXPECT_EQ(first.chats, 2);
  EXPECT_EQ(first.tooLong, 1);
  const ImportedChats again = db.importChats(chats, options);
  EXPECT_EQ(again.chats, 0);
  EXPECT_EQ(again.there, 2);
  const QList<Conversation> list = db.listConversations();
  ASSERT_EQ(list.size(), 3);
  EXPECT_EQ(list[0].id, own) << "the newest";
  EXPECT_EQ(list[1].title, QStringLiteral("Moons"));
  EXPECT_EQ(list[2].title, QStringLiteral("Rivers"));
  EXPECT_EQ(list[1].preview, QStringLiteral("Which moon\nis this?").simplified());
  EXPECT_EQ(list[1].messageCount, 3);
  EXPECT_EQ(list[1].updatedMs, 1700000100000);
  const LoadedConversation loaded = db.loadConversation(list[1].id);
  EXPECT_EQ(loaded.conversation.options.frameCount, 12);
  ASSERT_EQ(branchTo(loaded.messages, loaded.conversation.activeLeaf).size(), 3);
  EXPECT_EQ(loaded.messages[1].run.modelName, QStringLiteral("gpt-5"));
  EXPECT_EQ(loaded.messages[1].thought, QStringLiteral("It is icy."));
  ASSERT_EQ(db.search(QStringLiteral("ocean")).size(), 1);
  EXPECT_EQ(db.search(QStringLiteral("ocean")).first().conversation, list[1].id);
  // It can be asked on.
  EXPECT_NO_THROW(db.beginTurn({list[2].id, list[2].activeLeaf, QStringLiteral("Really?"), {}}));
  EXPECT_EQ(db.listConversations().first().title, QStringLiteral("Rivers"));
}

}  // namespace
}  // namespace winnow::app
