#include "app/chats/chat/conversation.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

StoredMessage message(MessageId id, MessageId parent, Role role) { return {.id = id, .parent = parent, .sequence = id, .role = role}; }

// 1 - 2 - 3 - 4      (question, answer, question, answer)
//   \ 5 - 6 - 7      (a second answer to 1, then a question and its answer)
QList<StoredMessage> tree() {
  return {message(1, 0, Role::kUser),      message(2, 1, Role::kAssistant), message(3, 2, Role::kUser),     message(4, 3, Role::kAssistant),
          message(5, 1, Role::kAssistant), message(6, 5, Role::kUser),      message(7, 6, Role::kAssistant)};
}

QList<MessageId> ids(const QList<StoredMessage>& messages) {
  QList<MessageId> list;
  for (const StoredMessage& m : messages) list.push_back(m.id);
  return list;
}

TEST(MessageTree, BranchRunsFromTheRootToTheLeaf) {
  EXPECT_EQ(ids(branchTo(tree(), 4)), (QList<MessageId>{1, 2, 3, 4}));
  EXPECT_EQ(ids(branchTo(tree(), 7)), (QList<MessageId>{1, 5, 6, 7}));
  EXPECT_TRUE(branchTo(tree(), 99).isEmpty());
}

TEST(MessageTree, SiblingsShareParentAndRole) {
  EXPECT_EQ(siblingsOf(tree(), 5), (QList<MessageId>{2, 5}));
  EXPECT_EQ(siblingsOf(tree(), 1), (QList<MessageId>{1}));
  EXPECT_TRUE(siblingsOf(tree(), 99).isEmpty());
}

TEST(MessageTree, NewestLeafIsTheLastMessageBelow) {
  EXPECT_EQ(newestLeafUnder(tree(), 1), 7);
  EXPECT_EQ(newestLeafUnder(tree(), 2), 4);
  EXPECT_EQ(newestLeafUnder(tree(), 7), 7);
}

TEST(MessageTree, ACycleInDamagedDataEnds) {
  QList<StoredMessage> messages = {message(1, 2, Role::kUser), message(2, 1, Role::kAssistant)};
  EXPECT_LE(branchTo(messages, 1).size(), 3);
}

TEST(Answer, OneThatWasCutByTheEndOfTheEngineCanGoOn) {
  StoredMessage answer{
      .role = Role::kAssistant, .text = QStringLiteral("so far"), .state = MessageState::kFailed, .failureCode = ErrorCode::kDamagedFile};
  EXPECT_FALSE(canGoOn(answer));
  for (const ErrorCode code :
       {ErrorCode::kEngineCrashed, ErrorCode::kEngineOutOfMemory, ErrorCode::kEngineSilent, ErrorCode::kDeviceFailed}) {
    answer.failureCode = code;
    EXPECT_TRUE(canGoOn(answer));
  }
  answer.text.clear();
  EXPECT_FALSE(canGoOn(answer)) << "nothing was written";
}

}  // namespace
}  // namespace winnow::app
