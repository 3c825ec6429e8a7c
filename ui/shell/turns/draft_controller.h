// The draft in the composer, not sent yet: kept with its chat, brought back with it, offered by the program, or an earlier
// question that is reworded.
//
// Used by chat_page.h. A draft is saved a moment after its last change. UI thread only.
#pragma once

#include <QObject>
#include <QTimer>
#include <optional>

#include "app/chats/chat/chat_store.h"
#include "app/chats/settings/settings.h"

namespace winnow::ui {

class Composer;
class TranscriptView;
struct ChatSession;
struct WindowServices;

class DraftController : public QObject {
  Q_OBJECT
 public:
  // All of them outlive it. Questions are reworded from the transcript too.
  DraftController(const WindowServices& services, ChatSession& session, Composer& composer, TranscriptView& transcript,
                  QObject* parent = nullptr);

  // In a new chat, unless something is written already: then the files join it. One of them may be empty.
  void begin(const QList<QByteArray>& files, const QString& question);
  void startNew();
  void attachAround(const QByteArray& video, double atS);  // half a minute before and after this moment
  void edit(app::MessageId question);                      // 0: the last one on screen
  // The question of this answer is written in a new chat, with all that was attached up to it.
  void askInNewChat(app::MessageId answer);
  void saveNow();

 private:
  void applySettings();
  void showChat();
  bool isOffered(const app::Draft& draft) const;  // by the program, and not changed since

  app::ChatStore& m_store;
  app::Settings& m_settings;
  ChatSession& m_session;
  Composer& m_composer;
  QTimer m_timer;
  std::optional<ConversationId> m_shown;  // whose draft is in the composer
  bool m_restoring = false;
  app::Draft m_offered;         // what the program put into the box at its start: no chat of the user's yet
  bool m_sending = false;       // what the box shows has been sent, and is not yet acknowledged
  bool m_writtenEarly = false;  // what is in the composer could not be saved: the chats are not open
};

}  // namespace winnow::ui
