// The subject of a question: what is attached in its thread, or a source that is watched in its chat, of which nothing is attached.
//
// One of the parts of chat_session.h. watch_controller.h says what is watched; answer_run.h asks here how a question is to be put and knows
// nothing of sources. UI thread only.
#pragma once

#include <QObject>
#include <functional>
#include <optional>

#include "app/chats/chat/conversation.h"

namespace winnow::ui {

class OpenChat;

// A source that is watched in a chat: what questions about it are asked of. Plain values.
//
// Made by watch_controller.h.
struct WatchedSource {
  ConversationId conversation = 0;  // the chat; 0: it has no number yet
  app::Attachment attachment;       // the source as an attachment of each question
  app::NamedRecipe recipe;          // of every clip and question, whatever the chat's becomes
  bool seen = false;                // the engine holds something of it
};

// A question as the engine is to be asked it.
struct AskedQuestion {
  ConversationId conversation = 0;
  QList<app::StoredMessage> thread;  // ends with the question
  app::NamedRecipe recipe;
  bool alone = false;  // it sees its media and nothing that was said, whatever the chat's choice for later questions
};

class QuestionSubject : public QObject {
  Q_OBJECT
 public:
  explicit QuestionSubject(const OpenChat& chat, QObject* parent = nullptr) : QObject(parent), m_chat(chat) {}

  // From now on every question of its chat is about the source, all that was seen of it and nothing else. nullopt: no more.
  void setWatched(const std::optional<WatchedSource>& source);
  // Called before a question about it is asked: what has come of it goes to the engine, then the argument is to be called.
  void setCatchUp(std::function<void(std::function<void()>)> catchUp) { m_catchUp = std::move(catchUp); }
  bool watches(ConversationId chat) const { return m_watched && m_watched->conversation == chat; }
  bool watchesHere() const;                               // in the chat on screen
  std::optional<app::NamedRecipe> watchedRecipe() const;  // of the source of the chat on screen
  AskedQuestion aboutWatched(const QString& text) const;  // there is one; text may be empty

  // Why nothing can be asked about it yet in the chat on screen; empty: it can.
  QString blockedReason() const;
  // The attachments that a question in the chat on screen is saved with, and what of that the user attached.
  QList<app::Attachment> savedWith(const QList<app::Attachment>& attached) const;
  QList<app::Attachment> attachedOf(const QList<app::Attachment>& saved) const;
  // thread: ends with the question. recipe: the chat's.
  AskedQuestion asked(ConversationId conversation, const QList<app::StoredMessage>& thread, const app::NamedRecipe& recipe) const;
  // `then` is called when all that the question is about is with the engine: at once, or later.
  void gather(ConversationId conversation, const app::StoredMessage& question, std::function<void()> then) const;

 Q_SIGNALS:
  void changed();

 private:
  bool isWatched(ConversationId conversation, const app::StoredMessage& question) const;

  const OpenChat& m_chat;
  std::optional<WatchedSource> m_watched;
  std::function<void(std::function<void()>)> m_catchUp;
};

}  // namespace winnow::ui
