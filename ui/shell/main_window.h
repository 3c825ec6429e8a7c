// The window: conversations | transcript and composer | live cache panel, with menus, shortcuts and status.
//
// Made by bootstrap on services that outlive it; holds no engine, media or database code: those work on their own threads and are
// reached through ChatController and MediaPreview. Applies and saves the settings of the window (theme, zoom, geometry, panels).
// UI thread only.
#pragma once

#include <QMainWindow>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/model_library/model_library.h"
#include "app/process/instance_door.h"
#include "app/settings/settings.h"
#include "engine/messages/requests.h"
#include "engine/recipes/method_info.h"
#include "ui/chat_view/message_content.h"
#include "ui/composer/media_preview.h"

class QAction;
class QDockWidget;
class QLabel;
class QMenu;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace winnow::app {
class ChatStore;
class EngineHost;
}  // namespace winnow::app

namespace winnow::ui {

struct ErrorText;
class AnswerCheck;
class ChatController;
class ComparisonController;
class ComparisonSetup;
class ComparisonView;
class Composer;
class ConversationSidebar;
class InspectorPanel;
class KeptMapPages;
class NoticeBar;
class PlanLine;
class StorageNotice;
class TranscriptView;
class WelcomePage;

// Everything that the window uses and does not own.
struct WindowServices {
  app::EngineHost& engine;
  app::ChatStore& store;
  app::Settings& settings;
  MediaPreview& preview;
  std::vector<MethodInfo> methods;  // list_methods()
  QString version;
};

// What to show at the start; found on the disk by bootstrap before the window exists.
struct InitialState {
  QString modelFolder;            // loaded at once; empty: none
  Device device = Device::kAuto;  // of every model that is loaded
  QString demoModelFolder;        // offered in the model menu; empty: not there
  bool demoWanted = false;        // it was asked for, there or not
  QList<app::Sample> samples;
  QByteArray attachedFile;  // attached to a new chat; empty: none
  QString question;         // typed in, not sent
};

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow(WindowServices services, InitialState initial, QWidget* parent = nullptr);
  ~MainWindow() override;

  // A second start of the program: comes to the front with what that one was asked for.
  void openFrom(const app::StartRequest& request);

  ChatController& controller() { return *m_controller; }
  TranscriptView* transcript() const { return m_transcript; }
  Composer* composer() const { return m_composer; }
  PlanLine* planLine() const { return m_planLine; }
  ConversationSidebar* sidebar() const { return m_sidebar; }
  InspectorPanel* inspector() const { return m_inspector; }
  KeptMapPages* keptMaps() const { return m_keptMaps; }
  NoticeBar* notice() const { return m_notice; }
  StorageNotice* storageNotice() const { return m_storageNotice; }
  WelcomePage* welcome() const { return m_welcome; }
  ComparisonView* comparison() const { return m_comparisonView; }
  ComparisonSetup* comparisonSetup() const { return m_comparisonSetup; }
  bool showsComparison() const;
  bool showsWelcome() const;
  void setPanelVisible(bool visible);
  void setSidebarVisible(bool visible);
  QString statusText() const;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void buildCentral();
  void buildPanel();
  void buildMenus();
  void buildStatus();
  void connectController();
  void buildComparison(QMenu* chat);
  void connectComparison();
  QAction* addCommand(QMenu* menu, const QString& text, const QKeySequence& key, std::function<void()> run);

  void applyTheme();
  void onStoreOpened();
  void showConversation();
  void updateState();
  void updateModel();
  void updateStatus();
  void updateComparison();
  void showComparisonSetup(bool visible);
  void compareNow();
  void showKeptMap();
  void stopOrLeave();
  void showChat();
  void writeQuestion();
  void rebuildModelMenu();
  void arrange();
  void saveDraftNow();
  void saveViewNow();
  void pickMethod();
  void changeRecipe(const app::NamedRecipe& start);
  void useRecipe(const app::NamedRecipe& recipe);
  void chooseModel();
  // Why there is no model, and the ways to one.
  void showModelFault(const ErrorText& text);
  void openLink(const QUrl& url);
  void openAttachment(qint64 message, int index);
  void cycleRegion();
  void showAbout();
  void showShortcuts();
  void begin(const QByteArray& file, const QString& question);

  WindowServices m_services;
  InitialState m_initial;
  ChatController* m_controller = nullptr;
  QSplitter* m_splitter = nullptr;
  ConversationSidebar* m_sidebar = nullptr;
  QWidget* m_main = nullptr;
  QToolButton* m_sidebarButton = nullptr;
  QToolButton* m_panelButton = nullptr;
  QLabel* m_title = nullptr;
  QToolButton* m_modelButton = nullptr;
  QMenu* m_modelMenu = nullptr;
  StorageNotice* m_storageNotice = nullptr;
  NoticeBar* m_notice = nullptr;
  NoticeBar* m_undo = nullptr;
  QStackedWidget* m_stack = nullptr;
  WelcomePage* m_welcome = nullptr;
  TranscriptView* m_transcript = nullptr;
  Composer* m_composer = nullptr;
  ComparisonController* m_comparison = nullptr;
  ComparisonView* m_comparisonView = nullptr;
  ComparisonSetup* m_comparisonSetup = nullptr;
  AnswerCheck* m_check = nullptr;
  PlanLine* m_planLine = nullptr;
  QDockWidget* m_dock = nullptr;
  InspectorPanel* m_inspector = nullptr;
  KeptMapPages* m_keptMaps = nullptr;
  QLabel* m_status = nullptr;
  QAction* m_stopAction = nullptr;
  QAction* m_undoAction = nullptr;
  QAction* m_regenerateAction = nullptr;
  QAction* m_checkAction = nullptr;
  QAction* m_copyAnswerAction = nullptr;
  QAction* m_panelAction = nullptr;
  QAction* m_sidebarAction = nullptr;
  QTimer m_draftTimer;
  QTimer m_viewTimer;
  std::optional<ConversationId> m_shown;  // whose draft is in the composer
  int m_arrangement = -1;
  bool m_narrow = false;
  bool m_sidebarWanted = true;
  bool m_panelWanted = true;
  bool m_restoring = false;
  bool m_writtenEarly = false;  // what is in the composer could not be saved: the chats are not open
};

}  // namespace winnow::ui
