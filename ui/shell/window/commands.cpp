#include "ui/shell/window/commands.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFontMetrics>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <algorithm>

#include "ui/composer/composer.h"
#include "ui/settings_view/settings_dialog.h"
#include "ui/shell/chat/conversation_sidebar.h"
#include "ui/shell/chat/export_chat.h"
#include "ui/shell/chat/kept_chats_dialog.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/window/chat_page.h"
#include "ui/shell/window/edit_commands.h"
#include "ui/shell/window/main_window.h"
#include "ui/shell/window/shortcuts_dialog.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/icons.h"
#include "ui/theme/rooms.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kMostRemoved = 20;  // in the menu

}  // namespace

Commands::Commands(const Subjects& subjects, QMenu* models, const WindowServices& services)
    : QObject(&subjects.window),
      m_window(subjects.window),
      m_session(subjects.session),
      m_page(subjects.page),
      m_sidebar(subjects.sidebar),
      m_settings(subjects.settings),
      m_methods(services.methods),
      m_version(services.version),
      m_systemReport(services.systemReport),
      m_engine(services.engine),
      m_caches(services.caches) {
  buildFile();
  buildEdit();
  buildView();
  buildChat();
  m_window.menuBar()->addMenu(models);
  buildHelp();
  // The model menu is rebuilt often: what has a key only lives on the window.
  addKey(QKeySequence(Qt::CTRL | Qt::Key_M), [this] { m_page.openMethodCard(); });
  addKey(QKeySequence(Qt::CTRL | Qt::Key_BracketLeft), [this] { m_page.stepRetention(-5); });
  addKey(QKeySequence(Qt::CTRL | Qt::Key_BracketRight), [this] { m_page.stepRetention(5); });
  connect(&m_page, &ChatPage::stateChanged, this, &Commands::update);
  connect(&m_session.list, &ChatList::removed, this, &Commands::update);
  connect(&m_session.list.model(), &QAbstractItemModel::dataChanged, this, &Commands::update);  // pinned
  update();
}

QAction* Commands::add(QMenu* menu, const QString& text, const QKeySequence& key, std::function<void()> run) {
  QAction* action = menu->addAction(text);
  action->setShortcut(key);
  connect(action, &QAction::triggered, this, std::move(run));
  m_window.addAction(action);
  return action;
}

void Commands::addKey(const QKeySequence& key, std::function<void()> run) {
  auto* action = new QAction(this);
  action->setShortcut(key);
  connect(action, &QAction::triggered, this, std::move(run));
  m_window.addAction(action);
}

void Commands::buildFile() {
  QMenu* file = m_window.menuBar()->addMenu(tr("&File"));
  file->setToolTipsVisible(true);
  add(file, tr("&New chat"), QKeySequence::New, [this] { m_page.startNew(); });
  add(file, tr("&Attach files…"), QKeySequence::Open, [this] { m_page.attachFiles(BrowseFor::kFiles); });
  add(file, tr("Attach a fol&der…"), {}, [this] { m_page.attachFiles(BrowseFor::kFolder); });
  add(file, tr("As&k a folder of videos…"), {}, [this] { m_page.openDialog(ChatPage::Dialog::kVideoShelf); });
  m_watch = add(file, tr("&Watch…"), {}, [this] { m_page.watchSource(); });
  if (m_caches != nullptr) {
    const auto showKept = [this] { (new KeptChatsDialog(*m_caches, m_session.list.model(), m_engine, &m_window))->open(); };
    add(file, tr("What chats have &read…"), {}, showKept);
    // Switching off leaves what is there: whoever does it for the sake of privacy is shown it.
    connect(&m_settings, &app::Settings::changed, this, [this, showKept](const QString& key) {
      const bool switchedOff = key == QLatin1String(app::setting_keys::kKeepConversations) && !m_settings.keepConversations();
      if (switchedOff && !m_caches->entries().empty()) showKept();
    });
  }
  m_export = add(file, tr("&Export the chat…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E),
                 [this] { exportChat(&m_window, m_session.chat.loaded(), m_methods); });
  add(file, tr("&Import chats…"), {}, [this] {
    QFileDialog* dialog = fileDialog(&m_window, tr("Import chats of ChatGPT or Open WebUI"), {});
    dialog->setNameFilters({tr("Exported chats (*.json)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this,
            [this](const QString& path) { m_session.list.import(path, m_settings.conversationDefaults()); });
    dialog->open();
  });
  file->addSeparator();
  const auto showSettings = [this] { enterRoom(new SettingsDialog(m_settings, &m_window)); };
  add(file, tr("&Settings…"), QKeySequence(Qt::CTRL | Qt::Key_Comma), showSettings)->setMenuRole(QAction::PreferencesRole);
  file->addSeparator();
  add(file, tr("&Quit"), QKeySequence::Quit, [this] { m_window.close(); })->setMenuRole(QAction::QuitRole);
}

void Commands::buildEdit() {
  QMenu* edit = m_window.menuBar()->addMenu(tr("&Edit"));
  m_edit = new EditCommands(*edit, m_window);
  connect(m_edit, &EditCommands::otherUndoRequested, &m_session.list, &ChatList::undoRemove);
  connect(m_edit, &EditCommands::pasteElsewhere, &m_page, [this] { m_page.writeQuestion(); });
  edit->addSeparator();
  m_find = add(edit, tr("&Find in the chat…"), QKeySequence::Find, [this] { m_page.findInChat(); });
  add(edit, tr("&Search chats…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F), [this] {
    if (m_sidebar.isHidden()) m_window.toggleSidebar();
    m_sidebar.search()->setFocus(Qt::ShortcutFocusReason);
    m_sidebar.search()->selectAll();
  });
  edit->addSeparator();
  m_copyAnswer = add(edit, tr("Copy &last answer"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), [this] { copyLastAnswer(); });
  m_removed = edit->addMenu(tr("&Deleted chats"));
  connect(edit, &QMenu::aboutToShow, &m_session.list, &ChatList::listRemoved);
  connect(&m_session.list, &ChatList::removedListed, this, &Commands::showRemoved);
  showRemoved({});
}

void Commands::showRemoved(const QList<app::Conversation>& removed) {
  m_removed->clear();
  for (const app::Conversation& chat : removed.first(std::min<qsizetype>(removed.size(), kMostRemoved))) {
    const QFontMetrics metrics(m_removed->font());
    QString title = metrics.elidedText(ConversationListModel::shownTitle(chat), Qt::ElideRight, theme().px(360));
    m_removed->addAction(title.replace(u'&', QStringLiteral("&&")), this, [this, id = chat.id] { m_session.list.restore(id); });
  }
  if (removed.isEmpty()) m_removed->addAction(tr("None"))->setEnabled(false);
}

void Commands::buildView() {
  QMenu* view = m_window.menuBar()->addMenu(tr("&View"));
  m_sidebarAction = add(view, tr("&Chats"), QKeySequence(Qt::CTRL | Qt::Key_B), [this] { m_window.toggleSidebar(); });
  m_panelAction = add(view, tr("&Live cache"), QKeySequence(Qt::CTRL | Qt::Key_J), [this] { m_window.togglePanel(); });
  for (QAction* panel : {m_sidebarAction, m_panelAction}) {
    panel->setCheckable(true);
    panel->setChecked(true);
  }
  add(view, tr("Kept &tokens…"), QKeySequence(Qt::CTRL | Qt::Key_T), [this] { m_page.showKeptMap(); });
  view->addSeparator();
  const auto zoom = [this](int steps) {
    theme().zoomBy(steps);
    m_settings.setZoom(theme().zoom());
  };
  QAction* larger = add(view, tr("Zoom &in"), {}, [zoom] { zoom(1); });
  larger->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
  add(view, tr("Zoom &out"), QKeySequence(Qt::CTRL | Qt::Key_Minus), [zoom] { zoom(-1); });
  add(view, tr("&Normal size"), QKeySequence(Qt::CTRL | Qt::Key_0), [this] { m_settings.setZoom(1.0); });
  view->addSeparator();
  buildColours(view->addMenu(tr("&Colours")));
  view->addSeparator();
  add(view, tr("&Full screen"), QKeySequence(Qt::Key_F11),
      [this] { m_window.isFullScreen() ? m_window.showNormal() : m_window.showFullScreen(); });
  add(view, tr("Next &region"), QKeySequence(Qt::Key_F6), [this] { m_window.focusNextRegion(); });
}

void Commands::buildColours(QMenu* menu) {
  auto* group = new QActionGroup(menu);
  const auto addTheme = [&](app::Theme colours, const QString& text) {
    QAction* action = add(menu, text, {}, [this, colours] { m_settings.setTheme(colours); });
    action->setCheckable(true);
    action->setActionGroup(group);
    const auto tick = [this, action, colours] { action->setChecked(m_settings.theme() == colours); };
    connect(&m_settings, &app::Settings::changed, action, tick);
    tick();
  };
  addTheme(app::Theme::kSystem, tr("As the &system"));
  addTheme(app::Theme::kLight, tr("&Light"));
  addTheme(app::Theme::kDark, tr("&Dark"));
}

void Commands::buildChat() {
  QMenu* chat = m_window.menuBar()->addMenu(tr("&Chat"));
  chat->setToolTipsVisible(true);
  m_stop = add(chat, tr("&Stop"), QKeySequence(Qt::Key_Escape), [this] { m_page.stopOrLeave(); });
  m_regenerate = add(chat, tr("&Regenerate"), QKeySequence(Qt::CTRL | Qt::Key_R), [this] { answerAgain(); });
  m_continue = add(chat, tr("Continue the ans&wer"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Return),
                   [this] { m_session.answers.regenerate(m_session.chat.loaded().conversation.activeLeaf, AnswerRun::Again::kGoingOn); });
  chat->addSeparator();
  m_compare = add(chat, tr("&Compare methods…"), QKeySequence(Qt::CTRL | Qt::Key_K), [this] { m_page.compareOrLeave(); });
  m_check = add(chat, tr("&What changed?"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_K), [this] { m_page.checkLastAnswer(); });
  chat->addSeparator();
  m_ofCache << add(chat, tr("Choose a &method…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M),
                   [this] { m_page.openDialog(ChatPage::Dialog::kMethod); });
  add(chat, tr("Chat s&ettings…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
      [this] { m_page.openDialog(ChatPage::Dialog::kChatSettings); });
  m_ofCache << add(chat, tr("Chan&ge the recipe…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R),
                   [this] { m_page.openDialog(ChatPage::Dialog::kRecipe); });
  chat->addSeparator();
  add(chat, tr("Re&name"), QKeySequence(Qt::Key_F2), [this] {
    m_window.setSidebarVisible(true);
    m_sidebar.renameSelected();
  });
  m_pin = add(chat, tr("&Pin to the top"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P), [this] {
    const ConversationId id = m_session.chat.id();
    m_session.list.setPinned(id, !m_session.list.isPinned(id));
  });
  m_pin->setCheckable(true);
  add(chat, tr("&Delete"), {}, [this] { m_session.list.remove(m_session.chat.id()); });
  chat->addSeparator();
  add(chat, tr("&Next chat"), QKeySequence(Qt::CTRL | Qt::Key_PageDown), [this] { m_sidebar.step(1); });
  add(chat, tr("&Previous chat"), QKeySequence(Qt::CTRL | Qt::Key_PageUp), [this] { m_sidebar.step(-1); });
  add(chat, tr("&Write a question"), QKeySequence(Qt::CTRL | Qt::Key_L), [this] { m_page.writeQuestion(); });
  connect(chat, &QMenu::triggered, &m_window, &MainWindow::leaveRooms);  // before what was chosen is done
}

void Commands::buildHelp() {
  QMenu* help = m_window.menuBar()->addMenu(tr("&Help"));
  add(help, tr("&Keyboard shortcuts"), QKeySequence(Qt::CTRL | Qt::Key_Slash), [this] { showShortcuts(); });
  add(help, tr("&About Winnow"), {}, [this] { showAbout(); })->setMenuRole(QAction::AboutRole);
}

void Commands::update() {
  const bool messages = !m_session.chat.branch().isEmpty();
  const bool busy = m_session.answers.busy();
  allow(m_watch, Ability::kWatch, !m_session.model.readsNoVideos());
  m_watch->setText(m_session.model.readsTextOnly()   ? tr("&Watch… (this model reads text only)")
                   : m_session.model.readsNoVideos() ? tr("&Watch… (this model reads no videos)")
                                                     : tr("&Watch…"));
  m_stop->setEnabled(m_page.canStop());
  m_regenerate->setEnabled(!busy && messages);
  allow(m_continue, Ability::kContinue, !busy && messages && app::canGoOn(m_session.chat.branch().last()));
  m_export->setEnabled(messages);
  m_copyAnswer->setEnabled(messages);
  allow(m_check, Ability::kScore, !busy && m_page.canCheck());
  allow(m_compare, Ability::kCompare, true);
  for (QAction* action : m_ofCache) allow(action, Ability::kCompress, true);
  m_edit->setOtherUndo(m_session.list.canUndoRemove() ? tr("&Undo delete chat") : QString());
  m_find->setEnabled(messages);
  m_pin->setEnabled(m_session.chat.id() != 0);
  m_pin->setChecked(m_session.list.isPinned(m_session.chat.id()));
}

// An action that the model cannot do is grey, with the reason.
void Commands::allow(QAction* action, Ability ability, bool allowed) {
  const QString lack = lackText(m_session.model, ability);
  action->setEnabled(allowed && lack.isEmpty());
  action->setToolTip(lack.toHtmlEscaped());
}

void Commands::showPanels(bool sidebar, bool panel) {
  m_sidebarAction->setChecked(sidebar);
  m_panelAction->setChecked(panel);
}

void Commands::copyLastAnswer() {
  const QList<app::StoredMessage> messages = m_session.chat.branch();
  const auto answer =
      std::find_if(messages.rbegin(), messages.rend(), [](const app::StoredMessage& message) { return message.role == Role::kAssistant; });
  if (answer != messages.rend()) QApplication::clipboard()->setText(answer->text);
}

void Commands::answerAgain() {
  const QList<app::StoredMessage> messages = m_session.chat.branch();
  if (!messages.isEmpty()) m_session.answers.regenerate(messages.last().id);
}

void Commands::showAbout() {
  auto* box = new QMessageBox(&m_window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setWindowTitle(tr("About Winnow"));
  box->setIconPixmap(applicationIcon().pixmap(theme().px(48), theme().px(48)));
  box->setText(tr("Winnow %1").arg(m_version));
  box->setInformativeText(
      tr("Chat about images and long videos with a model on your own computer, and see what its compressed memory "
         "keeps.\n\nQt %1. No telemetry. Goes online only for a stream you watch, a model you download or a server you connect to.")
          .arg(QLatin1String(qVersion())));
  box->addButton(QMessageBox::Close);
  if (m_systemReport) {
    const QAbstractButton* copy = box->addButton(tr("Copy system report"), QMessageBox::ActionRole);
    connect(box, &QMessageBox::buttonClicked, this, [this, copy](const QAbstractButton* clicked) {
      if (clicked == copy) QApplication::clipboard()->setText(m_systemReport());
    });
  }
  box->open();
}

void Commands::showShortcuts() {
  std::vector<Shortcut> shortcuts;
  for (const QAction* action : m_window.actions()) {
    if (action->shortcut().isEmpty() || action->text().isEmpty()) continue;
    QString name = action->text();
    shortcuts.push_back({name.remove(QLatin1Char('&')), action->shortcut().toString(QKeySequence::NativeText)});
  }
  shortcuts.push_back({tr("Next and previous message (in the conversation)"), QStringLiteral("Ctrl+Down, Ctrl+Up")});
  shortcuts.push_back({tr("Links and attachments of a message, open one (in the conversation)"), QStringLiteral("Tab, Enter")});
  shortcuts.push_back({tr("What can be done with a message (in the conversation)"), QStringLiteral("Enter")});
  shortcuts.push_back({tr("Next and previous marked word (in the conversation)"), QStringLiteral("F8, Shift+F8")});
  shortcuts.push_back({tr("Edit the last question (when the box is empty)"), QStringLiteral("Up")});
  shortcuts.push_back({tr("Cache method"), QStringLiteral("Ctrl+M")});
  shortcuts.push_back({tr("Keep less, keep more"), QStringLiteral("Ctrl+[, Ctrl+]")});
  (new ShortcutsDialog(shortcuts, &m_window))->open();
}

}  // namespace winnow::ui
