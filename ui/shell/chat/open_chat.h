// The chat on screen between the window and the store: what it consists of, and every change of it but answers.
//
// One of the parts of chat_session.h; answer_run.h adds questions and answers. A new chat has no number until something of it is saved.
// Every call returns at once; what happens is told by signals. UI thread only.
#pragma once

#include <QObject>
#include <optional>

#include "app/chats/chat/line_store.h"
#include "app/chats/settings/settings.h"

namespace winnow::ui {

class ChatList;

class OpenChat : public QObject {
  Q_OBJECT
 public:
  OpenChat(app::ChatStore& store, app::Settings& settings, ChatList& list, QObject* parent = nullptr);

  ConversationId id() const { return m_current.conversation.id; }  // 0: new
  const app::ConversationOptions& options() const { return m_current.conversation.options; }
  app::ConversationOptions optionsOf(ConversationId id) const;  // of any chat
  const app::LoadedConversation& loaded() const { return m_current; }
  const app::StoredMessage* message(app::MessageId id) const;
  QList<app::StoredMessage> branch() const;                          // on screen, root first
  QList<app::StoredMessage> threadTo(app::MessageId message) const;  // of any of its branches
  bool opening() const { return id() == 0 && m_loading != 0; }       // nothing is shown yet that a question could belong to

  void startNew();
  void open(ConversationId id);
  app::RequestToken reload();  // what the store knows of it
  void switchBranch(app::MessageId message, int step);
  // Sets this chat's recipe. Until something of it is saved, new chats begin with its recipe and guard, too.
  void setRecipe(const app::NamedRecipe& recipe);
  void setOptions(const app::ConversationOptions& options);
  void saveDraft(const app::Draft& draft);
  void saveView(app::MessageId anchor, double offset);
  // Sets the pins of a sent question's attachment; the next answer reads the thread again for it.
  void setPins(app::MessageId question, int place, const app::PinnedRanges& pins);
  // Takes what was sampled of the media of a thread that the engine was given: kept with it, saved and shown.
  void takeSampled(const MediaSampled& sampled, QList<app::StoredMessage>& thread);
  void addComparison(const app::Comparison& comparison);

  void create();  // gives a new chat its number, and the draft that it had before: `created` or `creationFailed`
  // The end of the branch from now on. Alone: it is all that changes on screen; else showAgain() follows.
  enum class Shown : int { kAlone = 1, kWithTheRest = 2 };
  void append(const app::StoredMessage& message, Shown shown);
  app::StoredMessage* edit(app::MessageId id);  // null: not of this chat; tellChanged() follows
  void tellChanged(app::MessageId id);
  // withdrawn: an answer of which nothing came; it leaves the chat, which ends in `leaf` again.
  void showAgain(app::MessageId withdrawn = 0, app::MessageId leaf = 0);

 Q_SIGNALS:
  void replaced();     // the store is another one: what was known of its chats is void
  void storeOpened();  // and its settings are in force
  void aboutToShow();  // another chat or branch, before anyone draws it
  void shown();        // everything on screen is replaced
  void startedNew();   // by the user
  void titleChanged();
  void messageAdded(const winnow::app::StoredMessage& message);
  void messageChanged(const winnow::app::StoredMessage& message);
  void created(winnow::ConversationId id);
  void creationFailed();
  void stateChanged();
  void subtitlesChanged(const QByteArray& file);  // a question of before was read with others than they were then
  void problem(const winnow::Error& error);

 private:
  void onOpened(const app::StoreOpened& report);
  void onCreated(app::RequestToken token, const app::Conversation& conversation);
  void onLoaded(app::RequestToken token, const app::LoadedConversation& loaded);
  void onFailed(app::RequestToken token, const Error& error);
  void keepLines(const MediaSampled& sampled, const app::Attachment& attachment);
  void showAsNew();

  app::ChatStore& m_store;
  app::LineStore m_lines;
  app::Settings& m_settings;
  ChatList& m_list;
  app::LoadedConversation m_current;
  app::RequestToken m_loading = 0;
  app::RequestToken m_creating = 0;
  std::optional<app::Draft> m_draftBeforeCreation;
  bool m_newWhenCreated = false;
  QString m_standardPrompt;  // that a chat which is not saved yet began with
};

}  // namespace winnow::ui
