#include "ui/shell/window/main_window.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDropEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QListView>
#include <QMimeData>
#include <QScreen>
#include <QSplitter>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/display_text.h"
#include "app/words/fault_texts.h"
#include "app/words/format_text.h"
#include "ui/composer/composer.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/chat/conversation_sidebar.h"
#include "ui/shell/model/model_menu.h"
#include "ui/shell/model/model_offer_box.h"
#include "ui/shell/model/model_supply.h"
#include "ui/shell/model/serving.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/window/commands.h"
#include "ui/shell/window/notices.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/rooms.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kNarrowUnits = 1000;  // below this the panel becomes a drawer at the bottom
constexpr int kDrawerUnits = 540;   // and in a window that is lower than this it takes all of it
constexpr int kWideUnits = 1600;    // from here on the sidebar is wide
constexpr int kBesideUnits = 600;   // below this the sidebar takes the place of the chat

QToolButton* panelButton(Glyph glyph, const QString& name, const QString& key) {
  auto* button = new QToolButton;
  button->setAutoRaise(true);
  button->setIcon(icon(glyph, IconColor::kMuted));
  button->setToolTip(QStringLiteral("%1 (%2)").arg(name, key));
  button->setAccessibleName(name);
  return button;
}

// A letter, a digit or a sign, and no command. A space presses buttons and turns pages.
bool isTyped(const QKeyEvent& key) {
  const bool plain = (key.modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
  return plain && !key.text().isEmpty() && key.text().front().isPrint() && !key.text().front().isSpace();
}

}  // namespace

MainWindow::MainWindow(WindowServices services, InitialState initial, QWidget* parent)
    : QMainWindow(parent),
      m_services(std::move(services)),
      m_initial(std::move(initial)),
      m_session(std::make_unique<ChatSession>(AnswerRun::Services{m_services.engine, m_services.store, m_services.settings})) {
  m_session->model.setForm(m_initial.device, m_initial.format);
  m_session->model.setDemoFolder(m_initial.demoModelFolder);
  setWindowTitle(tr("Winnow"));
  setWindowIcon(applicationIcon());
  setAcceptDrops(true);
  setMinimumSize(480, 400);
  // With its title bar and borders it fits on the screen.
  const QSize room = screen()->availableGeometry().size() - QSize(16, 48);
  resize(QSize(1280, 800).boundedTo(room).expandedTo(minimumSize()));
  setContextMenuPolicy(Qt::NoContextMenu);
  m_splitter = new QSplitter(Qt::Horizontal);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->setHandleWidth(1);
  m_sidebar = new ConversationSidebar(m_session->list.model(), m_session->list.places());
  NoticeBar* faults = Notices::faults(m_services.engine, m_session->chat);
  auto* offer = new ModelOfferBox;
  auto* seeing = new ModelOfferBox;
  m_models = new ModelMenu(m_session->model, m_services, *faults, this);
  m_page = new ChatPage(m_services, *m_session, m_initial.samples, {buildTop(), buildServing(*faults), faults, offer, seeing});
  m_downloads = new ModelSupply(
      m_services, {*offer, *seeing, *m_models, *faults}, m_session->model, [this] { return m_session->answers.busy(); }, this);
  connectDownloads();
  m_splitter->addWidget(m_sidebar);
  m_splitter->addWidget(m_page);
  m_splitter->setStretchFactor(0, 0);
  m_splitter->setStretchFactor(1, 1);
  m_rooms = new Rooms(m_splitter);
  setCentralWidget(m_rooms);
  connect(m_rooms, &Rooms::changed, this, &MainWindow::arrangeRooms);
  buildPanel();
  buildStatus();
  m_commands = new Commands({*this, *m_session, *m_page, *m_sidebar, m_services.settings}, m_models->menu(), m_services);
  connectSession();
  applyTheme();
  updateStatus();
  buildRegions();
  new FocusHome(*this, m_regions);
  m_page->writeQuestion();
  m_services.store.isOpen() ? onStoreOpened() : static_cast<void>(m_services.store.open());
  // The model loads after the window is up; the store does not have to be open for it.
  m_session->model.load(m_initial.modelFolder);
  if (m_initial.demoWanted && m_initial.demoModelFolder.isEmpty()) m_models->showFault(app::describeMissingDemo());
}

MainWindow::~MainWindow() = default;

// ---- how it is put together --------------------------------------------------------------------------------------------------------

QWidget* MainWindow::buildTop() {
  auto* top = new QWidget;
  auto* row = new QHBoxLayout(top);
  setMargins(row, 10, 8, 10, 6);
  setSpacing(row, 6);
  QToolButton* chats = panelButton(Glyph::kSidebar, tr("Show or hide the chats"), QStringLiteral("Ctrl+B"));
  QToolButton* cache = panelButton(Glyph::kPanel, tr("Show or hide the live cache"), QStringLiteral("Ctrl+J"));
  m_title = new ElidedLabel(Qt::ElideRight);
  setTextRole(m_title, TextRole::kHeading);
  row->addWidget(chats);
  row->addWidget(m_title, 1);
  row->addWidget(m_models->button());
  row->addWidget(cache);
  connect(chats, &QToolButton::clicked, this, &MainWindow::toggleSidebar);
  connect(cache, &QToolButton::clicked, this, &MainWindow::togglePanel);
  return top;
}

QWidget* MainWindow::buildServing(NoticeBar& faults) {
  m_serving = std::make_unique<Serving>(m_services, m_session->model, faults, nullptr);
  if (m_services.serve) m_models->setServing(m_serving->actions());
  auto* notices = new QWidget;
  auto* column = new QVBoxLayout(notices);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_warning = new NoticeBar(QStringLiteral("warning")));
  column->addWidget(Notices::serving(*m_serving));
  if (m_services.gpu != nullptr) column->addWidget(Notices::gpu(*m_services.gpu, m_services.settings, m_session->model));
  return notices;
}

void MainWindow::tellUnprotected() {
  m_warning->present(
      {.text = tr("This system refuses the sandbox (seccomp) in which Winnow reads pictures, videos and documents. They are read with your "
                  "rights: attach only files that you trust, or start Winnow with --require-sandbox, which refuses them.")});
}

void MainWindow::connectDownloads() {
  connect(m_downloads, &ModelSupply::statusChanged, this, &MainWindow::updateStatus);
  connect(m_downloads, &ModelSupply::opened, m_page, [this] { m_page->writeQuestion(); });  // the button that had the focus is gone
}

void MainWindow::buildPanel() {
  m_dock = new QDockWidget(tr("Live cache"), this);
  m_dock->setObjectName(QStringLiteral("cachePanel"));
  m_dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
  m_dock->setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea | Qt::BottomDockWidgetArea);
  m_inspector = new InspectorPanel(m_session->answers.monitor(), m_services.methods);
  m_dock->setWidget(m_inspector);
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  setMargins(row, 16, 8, 8, 2);
  auto* title = lineLabel(tr("Live cache"), TextRole::kHeading);
  QToolButton* close = panelButton(Glyph::kClose, tr("Hide the live cache"), QStringLiteral("Ctrl+J"));
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
  connect(m_dock, &QDockWidget::visibilityChanged, this, &MainWindow::updatePanels);
  connect(m_inspector, &InspectorPanel::keptMapRequested, m_page, &ChatPage::showKeptMap);
  connect(m_inspector, &InspectorPanel::lastAnswerRequested, this, [this] { m_session->answers.showFigures(); });
  connect(m_page, &ChatPage::figuresRequested, this, [this](qint64 answer) {
    m_session->answers.showFigures(answer);
    m_inspector->tabs()->setCurrentIndex(0);
    setPanelVisible(true);
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

void MainWindow::buildRegions() {
  m_regions.add(m_sidebar->list());
  m_regions.add(m_sidebar->places());
  m_page->addRegions(m_regions);
  m_regions.add(m_inspector, [this] { return m_inspector->tabs(); });  // the panel takes no focus itself
  for (QWidget* beside : {static_cast<QWidget*>(m_sidebar), static_cast<QWidget*>(m_inspector)}) {
    for (QAbstractItemView* list : beside->findChildren<QAbstractItemView*>()) list->installEventFilter(this);
  }
}

void MainWindow::connectSession() {
  OpenChat* chat = &m_session->chat;
  connect(chat, &OpenChat::storeOpened, this, &MainWindow::onStoreOpened);
  connect(chat, &OpenChat::shown, this, [this] { m_sidebar->select(m_session->chat.id()); });
  connect(chat, &OpenChat::titleChanged, this, [this] {
    const QString title = ConversationListModel::shownTitle(m_session->chat.loaded().conversation);
    m_title->setText(title);
    setWindowTitle(tr("%1 — Winnow").arg(title));  // the dash that the platform puts into the titles of dialogs
    m_sidebar->select(m_session->chat.id());
  });
  connect(m_page, &ChatPage::stateChanged, this, &MainWindow::updateStatus);
  connect(&m_session->model, &ModelSession::changed, this, &MainWindow::updateStatus);
  if (m_services.noteModelUse) connect(&m_session->model, &ModelSession::opened, this, m_services.noteModelUse);
  connect(&m_session->answers.monitor(), &CacheMonitor::changed, this, &MainWindow::updateStatus);
  connect(m_sidebar, &ConversationSidebar::newRequested, m_page, [this] { m_page->startNew(); });
  connect(m_sidebar, &ConversationSidebar::searchRequested, &m_session->list, &ChatList::search);
  // A new chat is in no list of what was found.
  connect(&m_session->chat, &OpenChat::startedNew, m_sidebar, &ConversationSidebar::showAll);
  connect(&m_session->chat, &OpenChat::created, m_sidebar, &ConversationSidebar::showAll);
  connect(&m_session->list, &ChatList::restored, m_sidebar, &ConversationSidebar::showAll);
  connect(m_sidebar, &ConversationSidebar::openRequested, m_page, [this](ConversationId id) { m_page->openChat(id); });
  connect(m_sidebar, &ConversationSidebar::placeRequested, this, [this](const app::SearchHit& hit) {
    bringPage();
    m_page->openChat(hit.conversation, hit);
  });
  connect(m_sidebar, &ConversationSidebar::aroundRequested, m_page, &ChatPage::startNew);
  connect(m_sidebar, &ConversationSidebar::deleteRequested, &m_session->list, &ChatList::remove);
  connect(m_sidebar, &ConversationSidebar::pinRequested, &m_session->list, &ChatList::setPinned);
  connect(m_page, &ChatPage::wanted, this, &MainWindow::bringPage);
  connect(m_sidebar->list(), &QAbstractItemView::clicked, this, &MainWindow::bringPage);
  connect(m_sidebar->list(), &QAbstractItemView::activated, m_page, [this] { m_page->writeQuestion(); });
  connect(m_page, &ChatPage::chooseModelRequested, m_models, &ModelMenu::choose);
  connect(&m_services.settings, &app::Settings::changed, this, [this](const QString& key) {
    if (key == QLatin1String(app::setting_keys::kTheme) || key == QLatin1String(app::setting_keys::kZoom)) applyTheme();
  });
  connect(&theme(), &Theme::changed, this, &MainWindow::arrange);
}

void MainWindow::applyTheme() {
  theme().setMode(static_cast<ThemeMode>(static_cast<int>(m_services.settings.theme())));
  theme().setZoomPercent(qRound(m_services.settings.zoom() * 100));
}

void MainWindow::onStoreOpened() {
  const app::Settings& settings = m_services.settings;
  if (!settings.windowGeometry().isEmpty()) restoreGeometry(settings.windowGeometry());
  if (!settings.windowLayout().isEmpty()) restoreState(settings.windowLayout());
  m_sidebarWanted = settings.sidebarVisible();
  m_panelWanted = settings.cachePanelVisible();
  m_sidebar->setVisible(m_sidebarWanted);
  m_dock->setVisible(m_panelWanted);
  applyTheme();
  if (m_initial.modelFolder.isEmpty() && m_session->model.state() == ModelState::kNone) {
    const QString last = settings.atStart().loadModel ? settings.lastModelFolder() : QString();
    m_session->model.load(last.isEmpty() ? m_initial.demoModelFolder : last);
  }
  if (settings.atStart().serve) m_serving->setOn(true);
  if (m_services.gpu != nullptr) m_services.gpu->probe.look();
  m_arrangement = -1;
  m_narrow = dockWidgetArea(m_dock) == Qt::BottomDockWidgetArea;
  arrange();
  m_page->begin(std::exchange(m_initial.attachedFiles, {}), std::exchange(m_initial.question, {}));
}

void MainWindow::openFrom(const app::StartRequest& request) {
  if (!request.activationToken.isEmpty()) qputenv("XDG_ACTIVATION_TOKEN", request.activationToken);  // Qt's Wayland plug-in asks for it
  setWindowState(windowState() & ~Qt::WindowMinimized);
  show();
  raise();
  activateWindow();
  const bool other = !request.modelFolder.isEmpty() && request.modelFolder != m_session->model.folder();
  if (other && !m_session->answers.busy()) m_session->model.load(request.modelFolder);
  m_page->begin(request.files, request.question);
  m_page->writeQuestion();
}

// ---- what it shows -----------------------------------------------------------------------------------------------------------------

void MainWindow::updateStatus() {
  const ModelSession& model = m_session->model;
  const CacheFigures& f = m_session->answers.monitor().figures();
  QStringList parts;
  if (model.state() == ModelState::kReady) {
    const QString weights =
        QString::fromStdString(model.info().dtype);  // "fp32, Q4_1": of what it computes in, and what they are stored in
    parts << app::displayText(QString::fromStdString(model.info().name));
    if (!model.info().server.empty()) {
      parts << app::displayText(QString::fromStdString(model.info().server));
    } else {
      parts << app::formatParameters(model.info().parameter_count);
      parts << weights.section(QStringLiteral(", "), -1) << QString::fromStdString(model.info().device).toUpper();
    }
  } else if (model.state() == ModelState::kLoading) {
    parts << model.progress();
  } else {
    parts << tr("No model");
  }
  parts << m_downloads->status();
  parts << m_page->statusTexts();
  // Only of what is being written: a finished answer's speed beside the method that comes next would be read as that method's.
  if (f.active) parts << (f.waitsFor.isEmpty() ? phaseText(f.phase, f.phaseDone, f.phaseTotal) : f.waitsFor);
  if (f.active && f.tokensPerS > 0) parts << app::formatSpeed(f.tokensPerS);
  if (model.state() == ModelState::kReady && !model.info().device_note.empty())
    parts << app::displayText(QString::fromStdString(model.info().device_note));
  m_status->setText(parts.join(QStringLiteral("  ·  ")));
  m_status->setToolTip(m_status->text().toHtmlEscaped());
}

QString MainWindow::statusText() const { return m_status->text(); }

void MainWindow::updatePanels() {
  giveRoom();
  if (m_commands != nullptr) m_commands->showPanels(!m_sidebar->isHidden(), !m_dock->isHidden());
}

void MainWindow::setPanelVisible(bool visible) {
  m_panelWanted = visible;
  m_dock->setVisible(visible);
  updatePanels();
  m_services.settings.setCachePanelVisible(visible);
}

void MainWindow::setSidebarVisible(bool visible) {
  m_sidebarWanted = visible;
  if (visible && panelStandsAlone()) m_dock->hide();
  m_sidebar->setVisible(visible);
  updatePanels();
  m_services.settings.setSidebarVisible(visible);
}

void MainWindow::togglePanel() { setPanelVisible(m_dock->isHidden()); }
void MainWindow::toggleSidebar() { setSidebarVisible(!m_sidebar->isVisible()); }

// ---- one thing at a time -----------------------------------------------------------------------------------------------------------

bool MainWindow::panelStandsAlone() const {
  return !m_dock->isHidden() && width() < theme().px(kNarrowUnits) && height() < theme().px(kDrawerUnits);
}

bool MainWindow::sidebarStandsAlone() const { return !m_sidebar->isHidden() && width() < theme().px(kBesideUnits); }

// If there is no room for a panel or the chats beside the chat, what was opened takes all of it.
void MainWindow::giveRoom() {
  m_rooms->setVisible(!panelStandsAlone());
  m_page->setVisible(!sidebarStandsAlone());
}

void MainWindow::bringPage() {
  m_rooms->leaveAll();
  if (panelStandsAlone()) m_dock->hide();
  if (sidebarStandsAlone()) m_sidebar->hide();
  updatePanels();
}

// Typing that nothing else takes is meant for the box: a click into the chats or the panel has just taken the keyboard.
void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return bringPage();
  if (m_rooms->open()) return QMainWindow::keyPressEvent(event);
  isTyped(*event) ? m_page->writeQuestion(event->text()) : QMainWindow::keyPressEvent(event);
}

// Lists would look for a row that begins with it.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress || !isTyped(*static_cast<QKeyEvent*>(event))) return QMainWindow::eventFilter(watched, event);
  m_page->writeQuestion(static_cast<QKeyEvent*>(event)->text());
  return true;
}

// In a narrow window the panel becomes a drawer at the bottom, or steps aside when there is no height either; the sidebar steps aside.
// Only crossing a threshold moves anything, so that what the user opens by hand stays open.
void MainWindow::arrange() {
  m_page->arrange();
  const bool narrow = width() < theme().px(kNarrowUnits);
  const bool cramped = width() < theme().px(700);
  const bool low = height() < theme().px(640);
  statusBar()->setVisible(height() >= theme().px(kLowestUnits));
  const bool wide = width() >= theme().px(kWideUnits);  // names of chats have room
  const int state = (narrow ? 1 : 0) | (cramped ? 2 : 0) | (low ? 4 : 0) | (wide ? 8 : 0) | (m_rooms->open() ? 16 : 0);
  if (state == m_arrangement) return giveRoom();
  m_arrangement = state;
  if (narrow != m_narrow) {
    m_narrow = narrow;
    addDockWidget(narrow ? Qt::BottomDockWidgetArea : Qt::RightDockWidgetArea, m_dock);
  }
  m_dock->setVisible(m_panelWanted && !(narrow && low) && !m_rooms->open());
  m_sidebar->setVisible(m_sidebarWanted && !cramped);
  updatePanels();
  if (!narrow) resizeDocks({m_dock}, {theme().px(330)}, Qt::Horizontal);
  if (narrow) resizeDocks({m_dock}, {theme().px(220)}, Qt::Vertical);
  const int chats = theme().px(wide ? 330 : 230);
  m_splitter->setSizes({chats, std::max(200, width() - chats)});
}

void MainWindow::leaveRooms() { m_rooms->leaveAll(); }

void MainWindow::arrangeRooms() {
  arrange();
  if (!m_rooms->open()) m_page->writeQuestion();
}

void MainWindow::focusNextRegion() { m_regions.focusNext(); }

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  arrange();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  m_serving->setOn(false);
  m_page->endNow();
  m_services.settings.setWindowGeometry(saveGeometry());
  m_services.settings.setWindowLayout(saveState());
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!Composer::accepts(*event->mimeData())) return;
  event->acceptProposedAction();
  m_page->markDrop(event->mimeData());
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent* event) {
  m_page->markDrop(nullptr);
  QMainWindow::dragLeaveEvent(event);
}

void MainWindow::dropEvent(QDropEvent* event) {
  m_page->markDrop(nullptr);
  m_page->attach(*event->mimeData());
  event->setDropAction(Qt::CopyAction);
  event->accept();
}

}  // namespace winnow::ui
