#include "app/chats/chat/line_store.h"

#include <QPointer>

namespace winnow::app {

RequestToken LineStore::store(const QByteArray& sha256, LineKind kind, const QList<FileLine>& lines) {
  return m_store.submit([sha256, kind, lines](ChatDatabase& db, RequestToken) -> ChatStore::Letter {
    db.storeLines(sha256, kind, lines);
    return [] {};
  });
}

void LineStore::storeOnShelf(const QByteArray& sha256, const QByteArray& path) {
  m_store.submit([sha256, path](ChatDatabase& db, RequestToken) -> ChatStore::Letter {
    db.storeOnShelf(sha256, path);
    return [] {};
  });
}

RequestToken LineStore::load(const QByteArray& sha256) {
  return m_store.submit([to = QPointer<LineStore>(this), sha256](ChatDatabase& db, RequestToken token) -> ChatStore::Letter {
    return [to, token, lines = db.linesOf(sha256)] {
      if (to) Q_EMIT to->loaded(token, lines);
    };
  });
}

RequestToken LineStore::findBehind(ConversationId chat, MessageId answer) {
  constexpr int kLines = 3;
  return m_store.submit([to = QPointer<LineStore>(this), chat, answer](ChatDatabase& db, RequestToken) -> ChatStore::Letter {
    return [to, answer, lines = db.search(AnswerOfChat{chat, answer}, kLines)] {
      if (to) Q_EMIT to->found(answer, lines);
    };
  });
}

}  // namespace winnow::app
