// The actions by menu and key, and whether it can be done now.
//
// Made by main_window.h, whose menu bar it fills. Every command is an action of the window too, so that it works while the menu bar is
// hidden. UI thread only.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <functional>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "app/chats/settings/settings.h"
#include "engine/models/model_info.h"
#include "engine/recipes/method_info.h"

class QAction;
class QMenu;

namespace winnow::app {
class ConversationCaches;
class EngineHost;
}  // namespace winnow::app

namespace winnow::ui {

class ChatPage;
class ConversationSidebar;
class EditCommands;
class MainWindow;
struct ChatSession;
struct WindowServices;

class Commands : public QObject {
  Q_OBJECT
 public:
  struct Subjects {
    MainWindow& window;
    ChatSession& session;
    ChatPage& page;
    ConversationSidebar& sidebar;
    app::Settings& settings;
  };
  Commands(const Subjects& subjects, QMenu* models, const WindowServices& services);

  void showPanels(bool sidebar, bool panel);  // which of them the menu ticks

 private:
  QAction* add(QMenu* menu, const QString& text, const QKeySequence& key, std::function<void()> run);
  void addKey(const QKeySequence& key, std::function<void()> run);
  void buildFile();
  void buildEdit();
  void buildView();
  void buildColours(QMenu* menu);
  void buildChat();
  void buildHelp();
  void showRemoved(const QList<app::Conversation>& removed);
  void update();
  void allow(QAction* action, Ability ability, bool allowed);
  void copyLastAnswer();
  void answerAgain();
  void showAbout();
  void showShortcuts();

  MainWindow& m_window;
  ChatSession& m_session;
  ChatPage& m_page;
  ConversationSidebar& m_sidebar;
  app::Settings& m_settings;
  std::vector<MethodInfo> m_methods;
  QString m_version;
  std::function<QString()> m_systemReport;  // null: none
  app::EngineHost& m_engine;
  const app::ConversationCaches* m_caches;  // null: nothing is kept
  EditCommands* m_edit = nullptr;
  QAction* m_find = nullptr;
  QMenu* m_removed = nullptr;
  QAction* m_export = nullptr;
  QAction* m_copyAnswer = nullptr;
  QAction* m_sidebarAction = nullptr;
  QAction* m_panelAction = nullptr;
  QAction* m_watch = nullptr;
  QAction* m_stop = nullptr;
  QAction* m_regenerate = nullptr;
  QAction* m_continue = nullptr;
  QAction* m_compare = nullptr;
  QAction* m_check = nullptr;
  QList<QAction*> m_ofCache;  // methods and recipes
  QAction* m_pin = nullptr;
};

}  // namespace winnow::ui
