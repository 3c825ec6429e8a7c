#include "ui/shell/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDropEvent>
#include <QFile>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QMimeData>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/chat_view/transcript_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/composer.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/answer_check.h"
#include "ui/shell/chat_controller.h"
#include "ui/shell/comparison_controller.h"
#include "ui/shell/conversation_sidebar.h"
#include "ui/shell/kept_map_pages.h"
#include "ui/shell/notice_bar.h"
#include "ui/shell/plan_controller.h"
#include "ui/shell/storage_notice.h"
#include "ui/shell/welcome_page.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/words/display_text.h"
#include "ui/words/format_text.h"
#include "ui/words/model_fault_text.h"

namespace winnow::ui {
namespace {

constexpr int kDraftMs = 400;
constexpr int kUndoMs = 10000;
constexpr int kNarrowUnits = 1000;  // below this the panel becomes a drawer at the bottom

}  // namespace

MainWindow::MainWindow(WindowServices services, InitialState initial, QWidget* parent)
    : QMainWindow(parent), m_services(std::move(services)), m_initial(std::move(initial)) {
  m_controller = new ChatController(m_services.engine, m_services.store, m_services.settings, m_services.methods, this);
  m_comparison = new ComparisonController(m_services.engine, m_services.store, *m_controller, m_services.methods, this);
  m_check = new AnswerCheck(m_services.engine, *m_controller, this);
  setWindowTitle(tr("Winnow"));
  setWindowIcon(applicationIcon());
  setAcceptDrops(true);
  setMinimumSize(480, 400);
  resize(1280, 800);
  setContextMenuPolicy(Qt::NoContextMenu);
  buildCentral();
  buildPanel();
  buildStatus();
  buildMenus();
  new PlanController(m_services.engine, *m_controller, m_services.settings, *m_composer, *m_planLine, this);
  m_draftTimer.setSingleShot(true);
  m_draftTimer.setInterval(kDraftMs);
  m_viewTimer.setSingleShot(true);
  m_viewTimer.setInterval(kDraftMs);
  connectController();
  applyTheme();
  updateModel();
  updateState();
  m_composer->setFocus();
  if (m_services.store.isOpen()) {
    onStoreOpened();
    showConversation();
  } else {
    m_controller->start();
  }
  // The model loads after the window is up; the store does not have to be open for it.
  m_controller->setDevice(m_initial.device);
  m_controller->setDemoModelFolder(m_initial.demoModelFolder);
  if (!m_initial.modelFolder.isEmpty()) m_controller->loadModel(m_initial.modelFolder);
  if (m_initial.demoWanted && m_initial.demoModelFolder.isEmpty()) showModelFault(describeMissingDemo());
}

MainWindow::~MainWindow() = default;

void MainWindow::buildCentral() {
  m_splitter = new QSplitter(Qt::Horizontal);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->setHandleWidth(1);
  m_sidebar = new ConversationSidebar(m_controller->conversations());
  m_splitter->addWidget(m_sidebar);

  m_main = new QWidget;
  auto* column = new QVBoxLayout(m_main);
  setMargins(column, 0, 0, 0, 6);
  column->setSpacing(0);

  auto* top = new QHBoxLayout;
  setMargins(top, 10, 8, 10, 6);
  setSpacing(top, 6);
  m_sidebarButton = new QToolButton;
  m_sidebarButton->setIcon(icon(Glyph::kSidebar, IconColor::kMuted));
  m_sidebarButton->setToolTip(tr("Show or hide the chats (Ctrl+B)"));
  m_sidebarButton->setAccessibleName(tr("Show or hide the chats"));
  m_panelButton = new QToolButton;
  m_panelButton->setIcon(icon(Glyph::kPanel, IconColor::kMuted));
  m_panelButton->setToolTip(tr("Show or hide the live cache (Ctrl+J)"));
  m_panelButton->setAccessibleName(tr("Show or hide the live cache"));
  m_title = new ElidedLabel(Qt::ElideRight);
  setTextRole(m_title, TextRole::kHeading);
  m_modelButton = new QToolButton;
  m_modelButton->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_modelButton->setPopupMode(QToolButton::InstantPopup);
  m_modelButton->setToolTip(tr("Model"));
  m_modelMenu = new QMenu(tr("&Model"), this);
  m_modelButton->setMenu(m_modelMenu);
  for (QToolButton* button : {m_sidebarButton, m_panelButton, m_modelButton}) button->setAutoRaise(true);
  top->addWidget(m_sidebarButton);
  top->addWidget(m_title, 1);
  top->addWidget(m_modelButton);
  top->addWidget(m_panelButton);
  column->addLayout(top);

  const auto inset = [](QWidget* widget) {
    auto* row = new QHBoxLayout;
    setMargins(row, 16, 0, 16, 0);
    row->addStretch(1);
    row->addWidget(widget, 100);
    row->addStretch(1);
    return row;
  };
  m_storageNotice = new StorageNotice(m_services.store);
  column->addLayout(inset(m_storageNotice));
  m_notice = new NoticeBar;
  column->addLayout(inset(m_notice));
  m_stack = new QStackedWidget;
  m_welcome = new WelcomePage(m_initial.samples);
  m_transcript = new TranscriptView;
  m_stack->addWidget(m_welcome);
  m_comparisonView = new ComparisonView;
  m_stack->addWidget(m_transcript);
  m_stack->addWidget(m_comparisonView);
  column->addWidget(m_stack, 1);
  // A low window takes from what can be scrolled before it takes from the box; a hidden page asks for nothing.
  const auto least = [this] { m_stack->setMinimumHeight(showsComparison() ? 0 : theme().px(40)); };
  connect(m_stack, &QStackedWidget::currentChanged, this, least);
  connect(&theme(), &Theme::changed, this, least);
  least();
  m_undo = new NoticeBar;
  column->addLayout(inset(m_undo));
  addGap(column, 4);
  m_comparisonSetup = new ComparisonSetup(m_services.methods, m_services.settings);
  column->addLayout(inset(m_comparisonSetup));
  m_composer = new Composer(m_services.preview, m_services.methods);
  column->addLayout(inset(m_composer));
  m_planLine = new PlanLine;
  column->addLayout(inset(m_planLine));
  const auto widths = [this] {
    for (QWidget* widget :
         {static_cast<QWidget*>(m_storageNotice), static_cast<QWidget*>(m_notice), static_cast<QWidget*>(m_undo),
          static_cast<QWidget*>(m_comparisonSetup), static_cast<QWidget*>(m_composer), static_cast<QWidget*>(m_planLine)}) {
      widget->setMaximumWidth(theme().px(792));
    }
  };
  connect(&theme(), &Theme::changed, this, widths);
  widths();

  m_splitter->addWidget(m_main);
  m_splitter->setStretchFactor(0, 0);
  m_splitter->setStretchFactor(1, 1);
  setCentralWidget(m_splitter);

  connect(m_sidebarButton, &QToolButton::clicked, this, [this] { setSidebarVisible(m_sidebar->isHidden()); });
  connect(m_panelButton, &QToolButton::clicked, this, [this] { setPanelVisible(m_dock->isHidden()); });
}

void MainWindow::buildPanel() {
  m_dock = new QDockWidget(tr("Live cache"), this);
  m_dock->setObjectName(QStringLiteral("cachePanel"));
  m_dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
  m_dock->setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea | Qt::BottomDockWidgetArea);
  m_inspector = new InspectorPanel(m_controller->monitor());
  m_dock->setWidget(m_inspector);
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  setMargins(row, 16, 8, 8, 2);
  auto* title = new QLabel(tr("Live cache"));
  setTextRole(title, TextRole::kHeading);
  auto* close = new QToolButton;
  close->setAutoRaise(true);
  close->setIcon(icon(Glyph::kClose, IconColor::kMuted));
  close->setToolTip(tr("Hide the live cache (Ctrl+J)"));
  close->setAccessibleName(tr("Hide the live cache"));
  row->addWidget(title, 1);
  row->addWidget(close);
  m_dock->setTitleBarWidget(bar);
  m_dock->setAutoFillBackground(true);
  connect(close, &QToolButton::clicked, this, [this] { setPanelVisible(false); });
  const auto tint = [this] {
    QPalette palette = QApplication::palette();
    palette.setColor(QPalette::Window, theme().colors().sidebar);
    m_dock->setPalette(palette);
  };
  connect(&theme(), &Theme::changed, this, tint);
  tint();
  addDockWidget(Qt::RightDockWidgetArea, m_dock);
  connect(m_dock, &QDockWidget::visibilityChanged, this, [this] {
    if (m_panelAction != nullptr) m_panelAction->setChecked(!m_dock->isHidden());
  });
}

void MainWindow::buildStatus() {
  m_status = new ElidedLabel(Qt::ElideRight);
  m_status->setAccessibleName(tr("Status"));
  setTextRole(m_status, TextRole::kCaption);
  setMuted(m_status);
  m_status->setContentsMargins(theme().px(10), theme().px(3), theme().px(10), theme().px(3));
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addWidget(m_status, 1);
}

void MainWindow::connectController() {
  ChatController* c = m_controller;
  connect(c, &ChatController::storeOpened, this, &MainWindow::onStoreOpened);
  connect(c, &ChatController::conversationShown, this, &MainWindow::showConversation);
  connect(c, &ChatController::titleChanged, this, [this] {
    m_title->setText(m_controller->currentTitle());
    setWindowTitle(tr("%1 – Winnow").arg(m_controller->currentTitle()));
    m_shown = m_controller->current();  // a new chat gets its number when it is first saved
    m_sidebar->select(m_controller->current());
  });
  connect(c, &ChatController::messageAdded, this, [this](const MessageContent& message) {
    m_stack->setCurrentWidget(m_transcript);
    m_transcript->appendMessage(message);
    if (message.speaker == Speaker::kUser) m_transcript->scrollToEnd();
  });
  connect(c, &ChatController::messageChanged, m_transcript, &TranscriptView::updateMessage);
  connect(c, &ChatController::textAdded, m_transcript, &TranscriptView::appendText);
  connect(c, &ChatController::phaseChanged, m_transcript, &TranscriptView::setPhase);
  connect(c, &ChatController::sent, this, [this] {
    m_draftTimer.stop();
    m_composer->clear();
    m_composer->setFocus();
  });
  connect(c, &ChatController::stateChanged, this, &MainWindow::updateState);
  connect(c, &ChatController::modelChanged, this, &MainWindow::updateModel);
  connect(c, &ChatController::problem, m_notice, &NoticeBar::showError);
  connect(c, &ChatController::conversationRemoved, this, [this](const QString& title) {
    m_undo->showMessage(tr("“%1” was deleted.").arg(title), tr("Undo"), kUndoMs);
    m_undoAction->setEnabled(true);
  });
  connect(m_undo, &NoticeBar::actionTriggered, c, &ChatController::undoRemove);
  connect(&c->monitor(), &CacheMonitor::changed, this, &MainWindow::updateStatus);

  connect(m_sidebar, &ConversationSidebar::newRequested, this, [this] {
    saveDraftNow();
    m_controller->newConversation();
    m_composer->setFocus();
  });
  connect(m_sidebar, &ConversationSidebar::openRequested, this, [this](ConversationId id) {
    saveDraftNow();
    saveViewNow();
    m_controller->openConversation(id);
  });
  connect(m_sidebar, &ConversationSidebar::deleteRequested, c, &ChatController::remove);

  connectComparison();
  const auto edit = [this](app::MessageId question) {
    const app::Draft unsent = m_composer->draft();
    if (!m_composer->editing() && (!unsent.text.trimmed().isEmpty() || !unsent.attachments.isEmpty())) {
      m_composer->showNotice(tr("Send or clear what you have written, then edit the question."));
      return;
    }
    if (const std::optional<app::Draft> draft = m_controller->beginEdit(question)) {
      m_composer->editQuestion(*draft);
    } else if (const QString reason = m_controller->blockedReason(); !reason.isEmpty()) {
      m_composer->showNotice(reason);
    }
  };
  connect(m_composer, &Composer::editLastRequested, this, [edit] { edit(0); });
  connect(m_transcript, &TranscriptView::editRequested, this, edit);
  m_keptMaps = new KeptMapPages(*c, m_services.store, m_services.preview, m_services.methods, this);
  connect(m_transcript, &TranscriptView::keptMapRequested, m_keptMaps, &KeptMapPages::open);
  connect(m_inspector, &InspectorPanel::keptMapRequested, this, &MainWindow::showKeptMap);
  connect(m_composer, &Composer::editCancelled, c, &ChatController::cancelEdit);
  connect(m_composer, &Composer::recipeChanged, c, &ChatController::setRecipe);
  connect(m_composer->method(), &MethodControl::pickRequested, this, &MainWindow::pickMethod);
  connect(m_composer->method(), &MethodControl::changeRequested, this, [this] { changeRecipe(m_controller->options().recipe); });
  connect(m_composer, &Composer::browseFolderChanged, &m_services.settings, &app::Settings::setLastMediaFolder);
  connect(m_composer, &Composer::draftChanged, this, [this] {
    if (!m_restoring) m_draftTimer.start();
  });
  connect(&m_draftTimer, &QTimer::timeout, this, &MainWindow::saveDraftNow);
  connect(m_transcript, &TranscriptView::scrolled, this, [this] {
    if (!m_restoring) m_viewTimer.start();
  });
  connect(&m_viewTimer, &QTimer::timeout, this, &MainWindow::saveViewNow);
  connect(m_transcript, &TranscriptView::regenerateRequested, c, &ChatController::regenerate);
  connect(m_transcript, &TranscriptView::branchRequested, c, &ChatController::switchBranch);
  connect(m_transcript, &TranscriptView::attachmentActivated, this, &MainWindow::openAttachment);
  connect(m_transcript, &TranscriptView::linkActivated, this, &MainWindow::openLink);
  connect(m_welcome, &WelcomePage::chooseModelRequested, this, &MainWindow::chooseModel);
  connect(m_welcome, &WelcomePage::sampleChosen, this, [this](const QString& file, const QString& question) {
    m_composer->setDraft({question, {}});
    m_composer->addFile(QFile::encodeName(file));
  });
  connect(&m_services.settings, &app::Settings::changed, this, [this](const QString& key) {
    if (key == QLatin1String(app::setting_keys::kTheme) || key == QLatin1String(app::setting_keys::kZoom)) applyTheme();
    if (key == QLatin1String(app::setting_keys::kRecentModelFolders)) rebuildModelMenu();
    m_composer->prompt()->setEnterKey(m_services.settings.sendKey() == app::SendKey::kEnter ? EnterKey::kSends : EnterKey::kControlSends);
    m_composer->setDefaultFrames(m_services.settings.defaultFrameCount());
  });
  connect(&theme(), &Theme::changed, this, [this] {
    arrange();
    updateComparison();
  });
}

void MainWindow::applyTheme() {
  theme().setMode(static_cast<ThemeMode>(static_cast<int>(m_services.settings.theme())));
  theme().setZoomPercent(qRound(m_services.settings.zoom() * 100));
}

void MainWindow::onStoreOpened() {
  const app::Settings& settings = m_services.settings;
  m_restoring = true;
  if (!settings.windowGeometry().isEmpty()) restoreGeometry(settings.windowGeometry());
  if (!settings.windowLayout().isEmpty()) restoreState(settings.windowLayout());
  m_sidebarWanted = settings.sidebarVisible();
  m_panelWanted = settings.cachePanelVisible();
  m_sidebar->setVisible(m_sidebarWanted);
  m_dock->setVisible(m_panelWanted);
  m_restoring = false;
  applyTheme();
  m_composer->prompt()->setEnterKey(settings.sendKey() == app::SendKey::kEnter ? EnterKey::kSends : EnterKey::kControlSends);
  m_composer->setDefaultFrames(settings.defaultFrameCount());
  m_composer->setBrowseFolder(settings.lastMediaFolder());
  if (m_initial.modelFolder.isEmpty() && m_controller->modelState() == ModelState::kNone) {
    const QString last = settings.autoLoadModel() ? settings.lastModelFolder() : QString();
    m_controller->loadModel(last.isEmpty() ? m_initial.demoModelFolder : last);
  }
  m_arrangement = -1;
  m_narrow = dockWidgetArea(m_dock) == Qt::BottomDockWidgetArea;
  arrange();
  rebuildModelMenu();
  begin(std::exchange(m_initial.attachedFile, {}), std::exchange(m_initial.question, {}));
}

// In a new chat, unless something is written already: then the file joins it.
void MainWindow::begin(const QByteArray& file, const QString& question) {
  if (file.isEmpty() && question.isEmpty()) return;
  const app::Draft draft = m_composer->draft();
  if (draft.text.trimmed().isEmpty() && draft.attachments.isEmpty()) {
    m_controller->newConversation();
    m_composer->setDraft({question, {}});
  }
  if (!file.isEmpty()) m_composer->addFile(file);
}

void MainWindow::openFrom(const app::StartRequest& request) {
  if (!request.activationToken.isEmpty()) qputenv("XDG_ACTIVATION_TOKEN", request.activationToken);  // Qt's Wayland plug-in asks for it
  setWindowState(windowState() & ~Qt::WindowMinimized);
  show();
  raise();
  activateWindow();
  const bool other = !request.modelFolder.isEmpty() && request.modelFolder != m_controller->modelFolder();
  if (other && !m_controller->busy()) m_controller->loadModel(request.modelFolder);
  if (showsComparison()) showChat();
  begin(request.file, request.question);
  writeQuestion();
}

bool MainWindow::showsWelcome() const { return m_stack->currentWidget() == m_welcome; }

void MainWindow::showConversation() {
  m_restoring = true;
  m_draftTimer.stop();
  m_viewTimer.stop();
  std::vector<MessageContent> messages = m_controller->currentMessages();
  const bool sameChat = m_shown == m_controller->current();
  m_stack->setCurrentWidget(messages.empty() ? static_cast<QWidget*>(m_welcome) : m_transcript);
  m_transcript->setMessages(std::move(messages));
  m_shown = m_controller->current();
  const app::ViewState& view = m_controller->viewState();
  if (!sameChat) {
    m_transcript->restoreAnchor({view.anchorMessage, view.anchorOffset});
    // What was written while the chats were not open joins what was written in this one before.
    app::Draft draft = m_controller->draft();
    if (m_writtenEarly) {
      const app::Draft early = m_composer->draft();
      draft.text += (draft.text.isEmpty() || early.text.isEmpty() ? QString() : QStringLiteral("\n")) + early.text;
      draft.attachments += early.attachments;
    }
    m_composer->setDraft(draft);
    if (m_writtenEarly) m_draftTimer.start();
  }
  m_composer->method()->setRecipe(m_controller->options().recipe);
  m_restoring = false;
  m_writtenEarly = !m_controller->storeReady();
  m_sidebar->select(m_controller->current());
}

void MainWindow::updateState() {
  if (!m_controller->storeReady()) m_writtenEarly = true;
  const bool writing = m_controller->writingHere() || m_comparison->runningHere();
  m_composer->setBusy(writing);
  m_composer->setBlocked(writing ? QString() : m_controller->blockedReason());
  updateComparison();
  m_regenerateAction->setEnabled(!m_controller->busy() && m_transcript->messageCount() > 0);
  m_copyAnswerAction->setEnabled(m_transcript->messageCount() > 0);
  m_undoAction->setEnabled(m_controller->canUndoRemove());
  updateStatus();
}

void MainWindow::updateModel() {
  const ChatController& c = *m_controller;
  QString text = tr("Choose a model");
  switch (c.modelState()) {
    case ModelState::kNone:
      break;
    case ModelState::kLoading:
      text = c.modelProgress();
      break;
    case ModelState::kReady:
      text = displayText(QString::fromStdString(c.model().name));
      break;
    case ModelState::kFailed:
      text = tr("Model not loaded");
      break;
  }
  m_modelButton->setText(fontMetrics().elidedText(text, Qt::ElideMiddle, theme().px(220)));
  m_modelButton->setAccessibleName(tr("Model: %1").arg(text));
  m_modelButton->setIcon(icon(c.modelState() == ModelState::kFailed ? Glyph::kWarning : Glyph::kChip,
                              c.modelState() == ModelState::kFailed ? IconColor::kDanger : IconColor::kMuted));
  if (c.modelState() == ModelState::kFailed && c.modelError()) {
    const bool bundled = !m_initial.demoModelFolder.isEmpty() && c.modelFolder() == m_initial.demoModelFolder;
    showModelFault(describeModelFault(*c.modelError(), c.modelFolder(), bundled));
  }
  if (c.modelState() == ModelState::kReady) m_notice->dismiss();
  const bool ready = c.modelState() == ModelState::kReady || c.modelState() == ModelState::kLoading;
  m_welcome->setModel(QString::fromStdString(c.model().name), ready,
                      !m_initial.demoModelFolder.isEmpty() && c.modelFolder() == m_initial.demoModelFolder);
  rebuildModelMenu();
  updateStatus();
}

void MainWindow::updateStatus() {
  const ChatController& c = *m_controller;
  const CacheFigures& f = m_controller->monitor().figures();
  QStringList parts;
  if (c.modelState() == ModelState::kReady) {
    parts << displayText(QString::fromStdString(c.model().name));
    parts << QStringLiteral("%1 %2").arg(QString::fromStdString(c.model().device).toUpper(), QString::fromStdString(c.model().dtype));
  } else if (c.modelState() == ModelState::kLoading) {
    parts << c.modelProgress();
  } else {
    parts << tr("No model");
  }
  parts << m_composer->method()->text();
  if (f.active) parts << phaseText(f.phase, f.phaseDone, f.phaseTotal);
  if (f.tokensPerS > 0) parts << tr("%1 tok/s").arg(QLocale().toString(f.tokensPerS, 'f', f.tokensPerS < 10 ? 1 : 0));
  if (c.modelState() == ModelState::kReady && !c.model().device_note.empty())
    parts << displayText(QString::fromStdString(c.model().device_note));
  m_status->setText(parts.join(QStringLiteral("  ·  ")));
  m_status->setToolTip(m_status->text().toHtmlEscaped());
}

QString MainWindow::statusText() const { return m_status->text(); }

void MainWindow::setPanelVisible(bool visible) {
  m_panelWanted = visible;
  m_dock->setVisible(visible);
  m_panelAction->setChecked(visible);
  m_services.settings.setCachePanelVisible(visible);
}

void MainWindow::setSidebarVisible(bool visible) {
  m_sidebarWanted = visible;
  m_sidebar->setVisible(visible);
  m_sidebarAction->setChecked(visible);
  m_services.settings.setSidebarVisible(visible);
}

// In a narrow window the panel becomes a drawer at the bottom, or steps aside when there is no height either; the sidebar steps aside.
// Only crossing a threshold moves anything, so that what the user opens by hand stays open.
void MainWindow::arrange() {
  m_planLine->setCompact(height() < theme().px(480));
  const bool narrow = width() < theme().px(kNarrowUnits);
  const bool cramped = width() < theme().px(700);
  const bool low = height() < theme().px(640);
  const int state = (narrow ? 1 : 0) | (cramped ? 2 : 0) | (low ? 4 : 0);
  if (state == m_arrangement) return;
  m_arrangement = state;
  if (narrow != m_narrow) {
    m_narrow = narrow;
    addDockWidget(narrow ? Qt::BottomDockWidgetArea : Qt::RightDockWidgetArea, m_dock);
  }
  m_dock->setVisible(m_panelWanted && !(narrow && low));
  m_sidebar->setVisible(m_sidebarWanted && !cramped);
  if (m_sidebarAction != nullptr) m_sidebarAction->setChecked(!m_sidebar->isHidden());
  if (!narrow) resizeDocks({m_dock}, {theme().px(330)}, Qt::Horizontal);
  if (narrow) resizeDocks({m_dock}, {theme().px(220)}, Qt::Vertical);
  m_splitter->setSizes({theme().px(230), std::max(200, width() - theme().px(230))});
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  arrange();
  updateComparison();
}

void MainWindow::saveDraftNow() {
  m_draftTimer.stop();
  if (m_controller->storeReady() && !m_restoring) m_controller->saveDraft(m_composer->draft());
}

void MainWindow::saveViewNow() {
  m_viewTimer.stop();
  if (showsWelcome()) return;
  const TranscriptView::Anchor anchor = m_transcript->anchor();
  m_controller->saveView(anchor.message, anchor.offset);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  saveDraftNow();
  saveViewNow();
  m_services.settings.setWindowGeometry(saveGeometry());
  m_services.settings.setWindowLayout(saveState());
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (Composer::accepts(*event->mimeData())) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  m_composer->addMime(*event->mimeData());
  event->setDropAction(Qt::CopyAction);
  event->accept();
}

}  // namespace winnow::ui
