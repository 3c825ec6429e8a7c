// Menus, shortcuts and the small dialogs of MainWindow; the rest is in main_window.cpp.
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QListView>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QTabWidget>
#include <QToolButton>
#include <QUrl>

#include "ui/chat_view/transcript_view.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/composer.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/method_control.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/recipes/method_picker.h"
#include "ui/recipes/recipe_editor.h"
#include "ui/settings_view/settings_dialog.h"
#include "ui/shell/chat_controller.h"
#include "ui/shell/conversation_sidebar.h"
#include "ui/shell/kept_map_pages.h"
#include "ui/shell/main_window.h"
#include "ui/shell/notice_bar.h"
#include "ui/shell/shortcuts_dialog.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/words/display_text.h"

namespace winnow::ui {

QAction* MainWindow::addCommand(QMenu* menu, const QString& text, const QKeySequence& key, std::function<void()> run) {
  QAction* action = menu->addAction(text);
  action->setShortcut(key);
  connect(action, &QAction::triggered, this, run);
  addAction(action);  // works while the menu bar is hidden
  return action;
}

void MainWindow::buildMenus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  addCommand(file, tr("&New chat"), QKeySequence::New, [this] {
    saveDraftNow();
    m_controller->newConversation();
    m_composer->setFocus();
  });
  addCommand(file, tr("&Attach files…"), QKeySequence::Open, [this] { m_composer->browse(); });
  file->addSeparator();
  addCommand(file, tr("&Settings…"), QKeySequence(Qt::CTRL | Qt::Key_Comma), [this] {
    (new SettingsDialog(m_services.settings, this))->open();
  })->setMenuRole(QAction::PreferencesRole);
  file->addSeparator();
  addCommand(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); })->setMenuRole(QAction::QuitRole);

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  m_undoAction = addCommand(edit, tr("&Undo delete chat"), QKeySequence::Undo, [this] {
    m_controller->undoRemove();
    m_undo->dismiss();
  });
  m_undoAction->setEnabled(false);
  edit->addSeparator();
  addCommand(edit, tr("&Copy selected text"), {}, [this] { m_transcript->copySelection(); });
  m_copyAnswerAction = addCommand(edit, tr("Copy last &answer"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), [this] {
    for (int i = m_transcript->messageCount() - 1; i >= 0; --i) {
      const MessageContent& message = m_transcript->messageAt(i);
      if (message.speaker != Speaker::kAssistant) continue;
      QApplication::clipboard()->setText(message.text);
      break;
    }
  });

  QMenu* view = menuBar()->addMenu(tr("&View"));
  m_sidebarAction =
      addCommand(view, tr("&Chats"), QKeySequence(Qt::CTRL | Qt::Key_B), [this] { setSidebarVisible(m_sidebar->isHidden()); });
  m_sidebarAction->setCheckable(true);
  m_sidebarAction->setChecked(true);
  m_panelAction = addCommand(view, tr("&Live cache"), QKeySequence(Qt::CTRL | Qt::Key_J), [this] { setPanelVisible(m_dock->isHidden()); });
  m_panelAction->setCheckable(true);
  m_panelAction->setChecked(true);
  addCommand(view, tr("Kept &tokens…"), QKeySequence(Qt::CTRL | Qt::Key_T), [this] { showKeptMap(); });
  view->addSeparator();
  const auto zoom = [this](int steps) {
    theme().zoomBy(steps);
    m_services.settings.setZoom(theme().zoom());
  };
  QAction* larger = addCommand(view, tr("Zoom &in"), {}, [zoom] { zoom(1); });
  larger->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
  addCommand(view, tr("Zoom &out"), QKeySequence(Qt::CTRL | Qt::Key_Minus), [zoom] { zoom(-1); });
  addCommand(view, tr("&Normal size"), QKeySequence(Qt::CTRL | Qt::Key_0), [this] { m_services.settings.setZoom(1.0); });
  view->addSeparator();
  QMenu* colours = view->addMenu(tr("&Colours"));
  addCommand(colours, tr("As the &system"), {}, [this] { m_services.settings.setTheme(app::Theme::kSystem); });
  addCommand(colours, tr("&Light"), {}, [this] { m_services.settings.setTheme(app::Theme::kLight); });
  addCommand(colours, tr("&Dark"), {}, [this] { m_services.settings.setTheme(app::Theme::kDark); });
  view->addSeparator();
  addCommand(view, tr("&Full screen"), QKeySequence(Qt::Key_F11), [this] { isFullScreen() ? showNormal() : showFullScreen(); });
  addCommand(view, tr("Next &region"), QKeySequence(Qt::Key_F6), [this] { cycleRegion(); });

  QMenu* chat = menuBar()->addMenu(tr("&Chat"));
  m_stopAction = addCommand(chat, tr("&Stop"), QKeySequence(Qt::Key_Escape), [this] { stopOrLeave(); });
  m_regenerateAction = addCommand(chat, tr("&Regenerate"), QKeySequence(Qt::CTRL | Qt::Key_R), [this] {
    if (m_transcript->messageCount() > 0) m_controller->regenerate(m_transcript->messageAt(m_transcript->messageCount() - 1).id);
  });
  buildComparison(chat);
  chat->addSeparator();
  addCommand(chat, tr("Choose a &method…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M), [this] { pickMethod(); });
  addCommand(chat, tr("Chan&ge the recipe…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R),
             [this] { changeRecipe(m_controller->options().recipe); });
  chat->addSeparator();
  addCommand(chat, tr("Re&name"), QKeySequence(Qt::Key_F2), [this] {
    setSidebarVisible(true);
    m_sidebar->renameSelected();
  });
  addCommand(chat, tr("&Delete"), {}, [this] { m_controller->remove(m_controller->current()); });
  chat->addSeparator();
  addCommand(chat, tr("&Next chat"), QKeySequence(Qt::CTRL | Qt::Key_PageDown), [this] { m_sidebar->step(1); });
  addCommand(chat, tr("&Previous chat"), QKeySequence(Qt::CTRL | Qt::Key_PageUp), [this] { m_sidebar->step(-1); });
  addCommand(chat, tr("&Write a question"), QKeySequence(Qt::CTRL | Qt::Key_L), [this] { writeQuestion(); });

  menuBar()->addMenu(m_modelMenu);
  rebuildModelMenu();

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  addCommand(help, tr("&Keyboard shortcuts"), QKeySequence(Qt::CTRL | Qt::Key_Slash), [this] { showShortcuts(); });
  addCommand(help, tr("&About Winnow"), {}, [this] { showAbout(); })->setMenuRole(QAction::AboutRole);

  // Commands of the model menu that have keys live on the window: the menu is rebuilt often.
  const auto key = [this](const QKeySequence& sequence, std::function<void()> run) {
    auto* action = new QAction(this);
    action->setShortcut(sequence);
    connect(action, &QAction::triggered, this, run);
    addAction(action);
  };
  key(QKeySequence(Qt::CTRL | Qt::Key_M), [this] { m_composer->method()->openCard(); });
  key(QKeySequence(Qt::CTRL | Qt::Key_BracketLeft), [this] { m_composer->method()->stepRetention(-5); });
  key(QKeySequence(Qt::CTRL | Qt::Key_BracketRight), [this] { m_composer->method()->stepRetention(5); });
}

void MainWindow::rebuildModelMenu() {
  m_modelMenu->clear();
  m_modelMenu->addAction(icon(Glyph::kFolder, IconColor::kMuted), tr("&Choose a folder…"), this, &MainWindow::chooseModel);
  const QStringList recent = m_services.settings.recentModelFolders();
  const auto offer = [this](const QString& label, const QString& folder) {
    QAction* action = m_modelMenu->addAction(label, this, [this, folder] { m_controller->loadModel(folder); });
    action->setCheckable(true);
    action->setChecked(m_controller->modelState() == ModelState::kReady && m_controller->modelFolder() == folder);
    action->setToolTip(displayText(folder).toHtmlEscaped());
  };
  m_modelMenu->setToolTipsVisible(true);
  m_modelMenu->addSeparator();
  if (!m_initial.demoModelFolder.isEmpty()) offer(tr("Demo model (shapes and letters)"), m_initial.demoModelFolder);
  for (const QString& folder : recent) {
    if (folder == m_initial.demoModelFolder) continue;
    offer(displayText(QFileInfo(folder).fileName()).replace(QLatin1Char('&'), QLatin1String("&&")), folder);
  }
}

void MainWindow::chooseModel() {
  auto* dialog = new QFileDialog(this, tr("Choose a model folder"), QFileInfo(m_services.settings.lastModelFolder()).absolutePath());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly, true);
  dialog->setLabelText(QFileDialog::Accept, tr("Load"));
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) { m_controller->loadModel(folder); });
  dialog->open();
}

void MainWindow::showModelFault(const ErrorText& text) {
  Notice notice = noticeOf(text);
  notice.actions = {{tr("Choose another folder…"), [this] { chooseModel(); }}};
  const QString tried = m_controller->modelFolder(), demo = m_initial.demoModelFolder;
  if (!demo.isEmpty() && tried != demo) {
    notice.actions.push_back({tr("Use the demo model"), [this, demo] { m_controller->loadModel(demo); }});
  }
  if (!tried.isEmpty()) notice.actions.push_back({tr("Try again"), [this, tried] { m_controller->loadModel(tried); }});
  m_notice->present(notice);
}

void MainWindow::pickMethod() {
  auto* picker = new MethodPicker(m_services.methods, m_services.settings, m_controller->options().recipe, this);
  connect(picker, &MethodPicker::chosen, this, &MainWindow::useRecipe);
  connect(picker, &MethodPicker::changeRequested, this, &MainWindow::changeRecipe);
  picker->open();
}

void MainWindow::changeRecipe(const app::NamedRecipe& start) {
  auto* editor = new RecipeEditor(m_services.methods, m_services.settings, start, m_controller->model().prefixkv_shares, this);
  connect(editor, &RecipeEditor::applied, this, &MainWindow::useRecipe);
  editor->open();
}

void MainWindow::useRecipe(const app::NamedRecipe& recipe) {
  m_composer->method()->setRecipe(recipe);
  m_controller->setRecipe(recipe);
  m_composer->setFocus();
}

void MainWindow::openLink(const QUrl& url) {
  auto* box = new QMessageBox(QMessageBox::Question, tr("Open a link?"),
                              tr("The answer contains this link. Opening it shows the address to the site:"), QMessageBox::NoButton, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  // ASCII form: look-alike letters of other alphabets become visible.
  box->setInformativeText(QString::fromLatin1(url.toEncoded()));
  QPushButton* open = box->addButton(tr("Open in browser"), QMessageBox::AcceptRole);
  QPushButton* copy = box->addButton(tr("Copy address"), QMessageBox::ActionRole);
  box->setDefaultButton(box->addButton(QMessageBox::Cancel));
  connect(box, &QMessageBox::buttonClicked, this, [open, copy, url](QAbstractButton* clicked) {
    if (clicked == open) QDesktopServices::openUrl(url);
    if (clicked == copy) QApplication::clipboard()->setText(url.toString(QUrl::FullyEncoded));
  });
  box->open();
}

void MainWindow::openAttachment(qint64 message, int index) {
  const app::StoredMessage* stored = m_controller->storedMessage(message);
  if (stored == nullptr || index < 0 || index >= stored->attachments.size()) return;
  const app::Attachment& attachment = stored->attachments[index];
  std::vector<double> times = attachment.sampled.actualS;
  if (attachment.kind == MediaKind::kVideo && times.empty()) times = app::plannedTimes(attachment);
  auto* viewer = new FrameViewer(m_services.preview, attachment.path, attachment.kind, times, 0, this);
  auto* pins = new FramePins(viewer);
  if (attachment.kind == MediaKind::kVideo) pins->setFrames(std::move(times), attachment.durationS);
  pins->setRanges(attachment.pins);
  connect(pins, &FramePins::changed, this, [this, pins, message, index] { m_controller->setPins(message, index, pins->ranges()); });
  viewer->setPins(pins, tr("The next answer reads the whole conversation again for it."));
  viewer->open();
}

void MainWindow::cycleRegion() {
  QWidget* reading = showsComparison() ? static_cast<QWidget*>(m_comparisonView) : m_transcript;
  QWidget* regions[] = {m_sidebar->list(), reading, m_composer->prompt(), m_inspector};
  const QWidget* focus = QApplication::focusWidget();
  int at = 2;
  for (int i = 0; i < 4; ++i) {
    if (focus != nullptr && (regions[i] == focus || regions[i]->isAncestorOf(focus))) at = i;
  }
  for (int step = 1; step <= 4; ++step) {
    QWidget* next = regions[(at + step) % 4];
    if (!next->isVisible()) continue;
    // The panel and the comparison take no focus themselves; their first controls do.
    if (next == m_inspector) next = m_inspector->tabs();
    if (next == m_comparisonView && !m_comparisonView->columns().empty()) next = m_comparisonView->columns().front()->header();
    next->setFocus(Qt::TabFocusReason);
    return;
  }
}

void MainWindow::showAbout() {
  auto* box = new QMessageBox(this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setWindowTitle(tr("About Winnow"));
  box->setIconPixmap(applicationIcon().pixmap(theme().px(48), theme().px(48)));
  box->setText(tr("Winnow %1").arg(m_services.version));
  box->setInformativeText(
      tr("Chat about images and long videos with a model on your own computer, and see what its compressed memory keeps.\n\n"
         "Qt %1. No telemetry, no network access.")
          .arg(QLatin1String(qVersion())));
  box->addButton(QMessageBox::Close);
  box->open();
}

void MainWindow::showShortcuts() {
  std::vector<Shortcut> shortcuts;
  for (const QAction* action : actions()) {
    if (action->shortcut().isEmpty() || action->text().isEmpty()) continue;
    QString name = action->text();
    shortcuts.push_back({name.remove(QLatin1Char('&')), action->shortcut().toString(QKeySequence::NativeText)});
  }
  shortcuts.push_back({tr("Next and previous message (in the conversation)"), QStringLiteral("Ctrl+Down, Ctrl+Up")});
  shortcuts.push_back({tr("Next and previous marked word (in the conversation)"), QStringLiteral("F8, Shift+F8")});
  shortcuts.push_back({tr("Reword the last question (in the empty box)"), QStringLiteral("Up")});
  shortcuts.push_back({tr("Cache method"), QStringLiteral("Ctrl+M")});
  shortcuts.push_back({tr("Keep less, keep more"), QStringLiteral("Ctrl+[, Ctrl+]")});
  (new ShortcutsDialog(shortcuts, this))->open();
}

}  // namespace winnow::ui
