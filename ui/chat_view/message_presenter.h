// Turns stored messages into what the transcript shows of them: names, plans, figures, notes, marks.
//
// Used by ui/shell/turns/transcript_controller.h. Holds nothing of a chat: what surrounds the message comes with each call. UI thread only.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/recipes/method_info.h"
#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// The phase of the answer that is being written.
struct AnswerPhase {
  app::MessageId answer = 0;
  QString phase;  // "Decoding video 41/64"; empty: it writes
  double share = -1.0;
  ConversationId conversation = 0;  // its chat
  std::optional<std::chrono::steady_clock::time_point> thoughtBegan{};
  std::optional<std::chrono::steady_clock::time_point> thoughtEnded{};  // the answer has begun
  bool canAnswerNow = false;                                            // the model can be told to end its thought
  int framesThere = 0;                                                  // it can be told to do with them
};

struct MessageSurroundings {
  const app::LoadedConversation& chat;
  std::optional<AnswerPhase> running;  // may be of another chat
  app::MessageId comparing = 0;        // the question that is being compared; 0: none
  QString notChecked{};                // why the message was not checked by itself; empty: it may be
  QStringList quotes{};                // MessageContent's
};

struct MediumInThread {
  app::MessageId message = 0;
  int attachment = 0;
};
// The video that an answer's times are of: the only one in its thread.
std::optional<MediumInThread> onlyVideo(const QList<app::StoredMessage>& messages, app::MessageId answer);
// The paper that an answer's pages are of: the only document with pages in its thread, as text or as pictures of them.
struct PaperInThread {
  MediumInThread medium;
  PageRange pages;  // that were read
};
std::optional<PaperInThread> onlyPaper(const QList<app::StoredMessage>& messages, app::MessageId answer);

class MessagePresenter {
 public:
  explicit MessagePresenter(std::vector<MethodInfo> methods) : m_methods(std::move(methods)) {}
  MessageContent contentOf(const app::StoredMessage& message, const MessageSurroundings& around) const;

 private:
  std::vector<MethodInfo> m_methods;
};

}  // namespace winnow::ui
