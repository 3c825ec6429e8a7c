// Numbers of clients' conversations: their own, bounded, the draft's taken over by its first question.
#include "app/programs/server/wire_conversations.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

constexpr ConversationId kFirstOfClients = 1000;

TEST(WireConversationsTest, EveryClientCountsItsOwn) {
  WireConversations conversations(kFirstOfClients, 100);
  const ConversationId one = conversations.of("a", 5);
  EXPECT_GE(one, kFirstOfClients);
  EXPECT_NE(conversations.of("b", 5), one);
  EXPECT_NE(conversations.of("a", 6), one);
  EXPECT_EQ(conversations.of("a", 5), one);
  EXPECT_EQ(conversations.forget("b", 6), std::nullopt);
  EXPECT_EQ(conversations.forget("a", 5), one);
  EXPECT_NE(conversations.of("a", 5), one) << "a forgotten number does not come again";
}

TEST(WireConversationsTest, AFirstQuestionTakesOverItsOwnDraftOnce) {
  WireConversations conversations(kFirstOfClients, 100);
  const ConversationId draft = conversations.of("a", kDraftConversation);
  EXPECT_NE(conversations.ofFirstQuestion("b", 5), draft);
  EXPECT_EQ(conversations.ofFirstQuestion("a", 5), draft);
  EXPECT_NE(conversations.of("a", kDraftConversation), draft);
  const ConversationId known = conversations.of("a", 5);
  conversations.of("a", kDraftConversation);
  EXPECT_EQ(conversations.ofFirstQuestion("a", 5), known) << "it asks again, and keeps its own";
}

TEST(WireConversationsTest, TheOneUsedLongestAgoIsForgottenFirst) {
  WireConversations conversations(kFirstOfClients, 100, 3);
  const ConversationId one = conversations.of("a", 1), two = conversations.of("a", 2);
  conversations.of("b", 1);
  conversations.of("a", 1);
  EXPECT_TRUE(conversations.tooMany().empty());
  conversations.of("b", 2);
  EXPECT_EQ(conversations.tooMany(), std::vector<ConversationId>{two});
  conversations.holds(one, 90);
  conversations.holds(conversations.of("b", 2), 20);
  EXPECT_EQ(conversations.tooMany().size(), 2U) << "by bytes";
  EXPECT_EQ(conversations.bytes(), 20);
  EXPECT_EQ(conversations.forgetAll().size(), 1U);
}

}  // namespace
}  // namespace winnow::app
