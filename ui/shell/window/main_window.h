// The window: chats | the chat on screen | live cache panel, with menus and status.
//
// Made by bootstrap on services that outlive it; holds no engine, media or database code: those work on their own threads and are
// reached through ChatSession and MediaPreview. Applies and saves the settings of the window (theme, zoom, geometry, panels).
// UI thread only.
#pragma once

#include <QMainWindow>
#include <memory>

#include "app/ground/process/instance_door.h"
#include "engine/messages/requests.h"
#include "ui/shell/ground/focus_regions.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/window/chat_page.h"

class QDockWidget;
class QLabel;
class QSplitter;
class QToolButton;

namespace winnow::ui {

class Commands;
class ConversationSidebar;
class InspectorPanel;
class ModelSupply;
class ModelMenu;
class NoticeBar;
class Rooms;
class Serving;

// The first contents; found on the disk by bootstrap before the window exists.
struct InitialState {
  QString modelFolder{};          // loaded at once; empty: none
  Device device = Device::kAuto;  // of every model that is loaded, as is the next
  WeightFormat format = WeightFormat::kAuto;
  QString demoModelFolder{};  // offered in the model menu; empty: not there
  bool demoWanted = false;    // it was asked for, there or not
  QList<app::Sample> samples{};
  QList<QByteArray> attachedFiles{};  // to a new chat
  QString question{};                 // typed in, not sent
};

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow(WindowServices services, InitialState initial, QWidget* parent = nullptr);
  ~MainWindow() override;

  // A second start of the program: comes to the front with what that one was asked for.
  void openFrom(const app::StartRequest& request);

  // That the system refuses the sandbox in which media would be read.
  void tellUnprotected();

  ChatSession& session() { return *m_session; }
  ChatPage& page() { return *m_page; }
  ConversationSidebar* sidebar() const { return m_sidebar; }
  InspectorPanel* inspector() const { return m_inspector; }
  void setPanelVisible(bool visible);
  void setSidebarVisible(bool visible);
  void togglePanel();
  void toggleSidebar();
  void focusNextRegion();
  void leaveRooms();  // the chat is seen
  QString statusText() const;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  QWidget* buildTop();
  QWidget* buildServing(NoticeBar& faults);
  void buildRegions();
  void connectDownloads();
  void buildPanel();
  void buildStatus();
  void connectSession();
  void applyTheme();
  void onStoreOpened();
  void updateStatus();
  void updatePanels();
  void arrange();
  void arrangeRooms();
  void giveRoom();
  void bringPage();
  bool panelStandsAlone() const;
  bool sidebarStandsAlone() const;

  WindowServices m_services;
  InitialState m_initial;
  std::unique_ptr<ChatSession> m_session;
  Rooms* m_rooms = nullptr;
  QSplitter* m_splitter = nullptr;
  ConversationSidebar* m_sidebar = nullptr;
  ChatPage* m_page = nullptr;
  QLabel* m_title = nullptr;
  ModelMenu* m_models = nullptr;
  std::unique_ptr<Serving> m_serving;
  NoticeBar* m_warning = nullptr;  // about this system
  ModelSupply* m_downloads = nullptr;
  Commands* m_commands = nullptr;
  QDockWidget* m_dock = nullptr;
  InspectorPanel* m_inspector = nullptr;
  QLabel* m_status = nullptr;
  FocusRegions m_regions;
  int m_arrangement = -1;
  bool m_narrow = false;
  bool m_sidebarWanted = true;
  bool m_panelWanted = true;
};

}  // namespace winnow::ui
