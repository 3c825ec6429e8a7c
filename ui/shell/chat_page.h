// The middle of the window: what is said in the chat on screen, the box to write in, and what is shown in their place or above them.
//
// Used by main_window.h. Shows what the parts of chat_session.h tell and hands them what the user does; drafts and the place that was
// scrolled to are saved from here. UI thread only.
#pragma once

#include <QTimer>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "app/resources/bundled_files.h"
#include "app/settings/settings.h"
#include "app/watch/clip_reader.h"
#include "engine/recipes/method_info.h"
#include "ui/chat_view/message_presenter.h"
#include "ui/composer/media_preview.h"

class QStackedWidget;
class QVBoxLayout;

namespace winnow::app {
class ConversationCaches;
class ChatStore;
class EngineHost;
}  // namespace winnow::app

namespace winnow::ui {

class AnswerCheck;
class ComparisonController;
class ComparisonSetup;
class ComparisonView;
class Composer;
class KeptMapPages;
class MethodDialogs;
class NoticeBar;
class PlanLine;
class PreparationLine;
class StorageNotice;
class TranscriptView;
class WatchBar;
class WatchController;
class WelcomePage;
struct ChatSession;

// Everything that the window uses and does not own.
struct WindowServices {
  app::EngineHost& engine;
  app::ChatStore& store;
  app::Settings& settings;
  MediaPreview& preview;
  app::ClipReaderFactory openClips;  // what is watched
  std::vector<MethodInfo> methods;   // list_methods()
  QString version;
  std::function<QString()> systemReport = nullptr;  // for the clipboard of somebody who reports a fault
  const app::ConversationCaches* caches = nullptr;  // what the engine keeps of chats; null: nothing
};

class ChatPage : public QWidget {
  Q_OBJECT
 public:
  // `top` stands above everything else.
  ChatPage(const WindowServices& services, ChatSession& session, const QList<app::Sample>& samples, QWidget* top);

  TranscriptView* transcript() const { return m_transcript; }
  Composer* composer() const { return m_composer; }
  PlanLine* planLine() const { return m_planLine; }
  PreparationLine* preparationLine() const { return m_preparationLine; }
  KeptMapPages* keptMaps() const { return m_keptMaps; }
  NoticeBar* notice() const { return m_notice; }
  StorageNotice* storageNotice() const { return m_storageNotice; }
  WelcomePage* welcome() const { return m_welcome; }
  ComparisonView* comparison() const { return m_comparisonView; }
  ComparisonSetup* comparisonSetup() const { return m_comparisonSetup; }
  MethodDialogs& methods() const { return *m_methodDialogs; }
  AnswerCheck& check() const { return *m_check; }
  WatchController& watch() const { return *m_watch; }
  bool showsComparison() const;
  bool canStop() const;  // or leave, what was opened

  // In a new chat, unless something is written already: then the file joins it.
  void begin(const QByteArray& file, const QString& question);
  void startNew();
  void openChat(ConversationId id);
  void writeQuestion();
  void compareOrLeave();  // methods are chosen, or no longer
  void stopOrLeave();     // what runs is stopped, else what was opened is left
  void showKeptMap();     // of what is on screen: the comparison, or the newest answer of the chat
  void arrange();         // for the height of the window
  void saveNow();

 Q_SIGNALS:
  void stateChanged();  // what can be done

 private:
  void build(const QList<app::Sample>& samples, QWidget* top);
  void addInset(QVBoxLayout* column, QWidget* widget);  // in the middle, as wide as a line may be
  void connectChat();
  void connectAnswers();
  void connectTranscript();
  void connectComposer();
  void connectComparison();
  void connectCheck();
  void connectWatch();
  void applySettings();
  void showConversation();
  void updateState();
  void updateComparison();
  void updateWelcome();
  void showComparisonSetup(bool visible);
  void compareNow();
  void send(const QString& text, const QList<app::Attachment>& attachments);
  void showChat();
  void editQuestion(app::MessageId question);
  void openAttachment(qint64 message, int index);
  void saveDraftNow();
  bool isOffered(const app::Draft& draft) const;  // by the program, and not changed since
  void saveViewNow();
  MessageContent contentOf(const app::StoredMessage& message) const;

  WindowServices m_services;
  ChatSession& m_session;
  MessagePresenter m_presenter;
  ComparisonController* m_comparison = nullptr;
  AnswerCheck* m_check = nullptr;
  WatchController* m_watch = nullptr;
  StorageNotice* m_storageNotice = nullptr;
  NoticeBar* m_notice = nullptr;
  NoticeBar* m_undo = nullptr;
  QStackedWidget* m_stack = nullptr;
  WelcomePage* m_welcome = nullptr;
  TranscriptView* m_transcript = nullptr;
  ComparisonView* m_comparisonView = nullptr;
  ComparisonSetup* m_comparisonSetup = nullptr;
  WatchBar* m_watchBar = nullptr;
  Composer* m_composer = nullptr;
  PreparationLine* m_preparationLine = nullptr;
  PlanLine* m_planLine = nullptr;
  MethodDialogs* m_methodDialogs = nullptr;
  KeptMapPages* m_keptMaps = nullptr;
  QTimer m_draftTimer;
  QTimer m_viewTimer;
  std::optional<ConversationId> m_shown;  // whose draft is in the composer
  bool m_restoring = false;
  app::Draft m_offered;         // what the program put into the box at its start: no chat of the user's yet
  bool m_writtenEarly = false;  // what is in the composer could not be saved: the chats are not open
};

}  // namespace winnow::ui
