// The lines of attached files for the window: asynchronous calls on the writer thread of the chats, answers as signals.
//
// Made by whoever shows or learns such lines, several of them on one store. Errors: ChatStore::failed with the call's token. UI thread
// only.
#pragma once

#include "app/chats/chat/chat_store.h"

namespace winnow::app {

class LineStore : public QObject {
  Q_OBJECT
 public:
  // store: outlives it.
  explicit LineStore(ChatStore& store, QObject* parent = nullptr) : QObject(parent), m_store(store) {}

  // In place of the file's lines of this kind.
  RequestToken store(const QByteArray& sha256, LineKind kind, const QList<FileLine>& lines);
  void storeOnShelf(const QByteArray& sha256, const QByteArray& path);  // ChatDatabase::storeOnShelf()
  RequestToken load(const QByteArray& sha256);                          // `loaded`
  // The three lines of the chat's files that fit the answer best: `found`.
  RequestToken findBehind(ConversationId chat, MessageId answer);

 Q_SIGNALS:
  void loaded(winnow::app::RequestToken token, const QList<winnow::app::FileLine>& lines);
  void found(winnow::app::MessageId answer, const QList<winnow::app::SearchHit>& lines);

 private:
  ChatStore& m_store;
};

}  // namespace winnow::app
