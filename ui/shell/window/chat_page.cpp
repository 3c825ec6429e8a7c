#include "ui/shell/window/chat_page.h"

#include <QFile>
#include <QHBoxLayout>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/library/models/model_shelf.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/composer.h"
#include "ui/composer/drop_mark.h"
#include "ui/composer/later_choice.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/recipes/later_questions.h"
#include "ui/recipes/recipe_words.h"
#include "ui/shell/chat/later_question.h"
#include "ui/shell/ground/focus_regions.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/model/welcome_page.h"
#include "ui/shell/turns/answer_check.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/turns/chat_settings.h"
#include "ui/shell/turns/comparison_chooser.h"
#include "ui/shell/turns/comparison_controller.h"
#include "ui/shell/turns/contents_pages.h"
#include "ui/shell/turns/draft_controller.h"
#include "ui/shell/turns/elsewhere_notice.h"
#include "ui/shell/turns/heard_videos.h"
#include "ui/shell/turns/kept_map_pages.h"
#include "ui/shell/turns/method_dialogs.h"
#include "ui/shell/turns/plan_controller.h"
#include "ui/shell/turns/preparation_controller.h"
#include "ui/shell/turns/sight_notice.h"
#include "ui/shell/turns/transcript_controller.h"
#include "ui/shell/turns/video_shelf.h"
#include "ui/shell/turns/watch_controller.h"
#include "ui/shell/window/notices.h"
#include "ui/theme/find_bar.h"
#include "ui/theme/theme.h"
#include "ui/watch/watch_bar.h"

namespace winnow::ui {
namespace {

constexpr int kChosenMs = 8000;
constexpr int kLowUnits = 430;

}  // namespace

ChatPage::ChatPage(const WindowServices& services, ChatSession& session, const QList<app::Sample>& samples, const Parts& parts)
    : m_session(session), m_methods(services.methods) {
  build(services, samples, parts);
  // Before the transcript's controller hears of it: a view is filled where it is seen.
  const auto showPage = [this] {
    m_stack->setCurrentWidget(m_session.chat.branch().isEmpty() ? static_cast<QWidget*>(m_welcome) : m_transcript);
  };
  connect(&m_session.chat, &OpenChat::shown, this, showPage);
  connect(&m_session.chat, &OpenChat::messageAdded, this, [this] { m_stack->setCurrentWidget(m_transcript); });
  m_comparison = new ComparisonController(services, m_session, *m_comparisonView, *m_transcript, this);
  m_check = new AnswerCheck(services, m_session, *m_transcript, *m_composer, this);
  m_watch = new WatchController(services, m_session, *m_watchBar, *m_composer, this);
  m_methodDialogs = new MethodDialogs(services, m_session, *m_composer, this);
  m_chatSettings = new ChatSettings(m_session, services.settings, *m_composer, this);
  m_keptMaps = new KeptMapPages(services, m_session, *m_transcript, *m_comparisonView, this);
  auto* preparation = new PreparationController(services, m_session, *m_composer, *m_preparationLine, this);
  m_plan = new PlanController(services, m_session, *m_composer, *m_planLine, this);
  connect(preparation, &PreparationController::ready, m_plan, &PlanController::schedule);
  m_transcriptController = new TranscriptController(services, m_session, *m_comparison, *m_transcript, this);
  m_drafts = new DraftController(services, m_session, *m_composer, *m_transcript, this);
  auto* contents = new ContentsPages(services, m_session, *m_composer, this);
  connect(m_transcriptController, &TranscriptController::contentsRequested, contents, &ContentsPages::open);
  connect(m_transcriptController, &TranscriptController::placeInDraftWanted, contents, &ContentsPages::openOfDraft);
  if (services.videos != nullptr) {
    m_videoShelf = new VideoShelf(services, m_session, *m_composer, *contents, m_hearing);
    connect(m_videoShelf, &VideoShelf::aroundWanted, this, &ChatPage::startNew);
    connect(m_videoShelf, &VideoShelf::changed, this, &ChatPage::stateChanged);
  }
  m_sight = new SightNotice(services, m_session, *m_composer, *parts.faults);  // hears of a chat after its draft is in the box
  m_chooser = new ComparisonChooser(m_session, *m_comparison, *m_comparisonSetup, *m_composer, this);
  connectViews();
  if (services.store.isOpen()) showPage();
  updateState();
}

// ---- how it is put together --------------------------------------------------------------------------------------------------------

void ChatPage::addInset(QVBoxLayout* column, QWidget* widget) {
  auto* row = new QHBoxLayout;
  setMargins(row, 16, 0, 16, 0);
  row->addStretch(1);
  row->addWidget(widget, 100);
  row->addStretch(1);
  column->addLayout(row);
  const auto limit = [widget] { widget->setMaximumWidth(theme().px(792)); };
  connect(&theme(), &Theme::changed, widget, limit);
  limit();
}

void ChatPage::hear(const WindowServices& services) {
  auto* hearing = new HeardVideos(*services.hearing, services.engine, services.settings, this);
  m_composer->tray()->hearWith(hearing);
  m_hearing = hearing;
  if (services.shelf != nullptr) connect(services.shelf, &app::ModelShelf::listed, hearing, &HeardVideos::look);
  const auto giveWay = [this, hearing] { hearing->giveWay(m_session.answers.busy() || m_session.model.state() == ModelState::kLoading); };
  connect(&m_session.answers, &AnswerRun::stateChanged, hearing, giveWay);
  connect(&m_session.model, &ModelSession::changed, hearing, giveWay);
  giveWay();
}

void ChatPage::build(const WindowServices& services, const QList<app::Sample>& samples, const Parts& parts) {
  auto* column = new QVBoxLayout(this);
  setMargins(column, 0, 0, 0, 6);
  column->setSpacing(0);
  m_top = parts.top;
  column->addWidget(m_top);
  addInset(column, Notices::storage(services.store));
  addInset(column, parts.serving);
  m_faults = parts.faults;
  addInset(column, m_faults);
  m_stack = new QStackedWidget;
  m_stack->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Ignored);  // what is left
  m_welcome = new WelcomePage(samples, m_session.model, {parts.offer, parts.seeing});
  m_transcript = new TranscriptView;
  m_transcript->setObjectName(QStringLiteral("transcript"));
  m_comparisonView = new ComparisonView;
  for (QWidget* page : {static_cast<QWidget*>(m_welcome), static_cast<QWidget*>(m_transcript), static_cast<QWidget*>(m_comparisonView)}) {
    m_stack->addWidget(page);
  }
  m_find = new FindBar(tr("Find in this chat"), tr("Find in this chat"));
  addInset(column, m_find);
  column->addWidget(m_stack, 1);
  m_undo = Notices::undo(m_session.list);
  addInset(column, m_undo);
  addGap(column, 4);
  m_comparisonSetup = new ComparisonSetup(services.methods, services.settings);
  addInset(column, m_comparisonSetup);
  m_watchBar = new WatchBar;
  addInset(column, m_watchBar);
  m_composer = new Composer(services.preview, services.methods);
  if (services.hearing != nullptr) hear(services);
  m_elsewhere = new ElsewhereNotice(services, m_session, *m_composer);
  addInset(column, m_elsewhere);
  m_dropMark = new DropMark(*m_composer);
  addInset(column, m_composer);
  m_lines = new QWidget;
  auto* lines = new QVBoxLayout(m_lines);
  lines->setContentsMargins({});
  lines->setSpacing(0);
  m_preparationLine = new PreparationLine;
  lines->addWidget(m_preparationLine);
  m_planLine = new PlanLine;
  lines->addWidget(m_planLine);
  addInset(column, m_lines);
}

void ChatPage::connectViews() {
  connect(&theme(), &Theme::changed, this, &ChatPage::arrangeViews);
  connect(m_stack, &QStackedWidget::currentChanged, this, &ChatPage::arrangeViews);
  // The stack moves the keyboard focus from a page that is left to the next one.
  connect(m_stack, &QStackedWidget::currentChanged, m_composer, [this] {
    if (m_stack->isAncestorOf(window()->focusWidget()) && !m_composer->isHidden()) m_composer->setFocus();
  });
  connect(m_stack, &QStackedWidget::currentChanged, m_find, [this] {
    if (m_stack->currentWidget() != m_transcript && !m_find->isHidden()) m_find->close();
  });
  connect(m_find, &FindBar::wordsChanged, m_transcript, &TranscriptView::find);
  connect(m_find, &FindBar::stepRequested, m_transcript, &TranscriptView::stepFound);
  connect(m_find, &FindBar::closed, m_composer, [this] { m_composer->setFocus(); });
  connect(m_transcript, &TranscriptView::foundChanged, m_find, &FindBar::showCount);
  connect(m_transcript, &TranscriptView::figuresRequested, this, &ChatPage::figuresRequested);
  connect(m_chooser, &ComparisonChooser::changed, this, &ChatPage::arrangeViews);
  connect(m_faults, &NoticeBar::changed, this, &ChatPage::arrangeViews);
  connect(&m_session.answers, &AnswerRun::stateChanged, this, &ChatPage::updateState);
  connect(&m_session.chat, &OpenChat::created, this, &ChatPage::updateState);
  connect(m_check, &AnswerCheck::stateChanged, this, &ChatPage::updateState);
  connect(m_check, &AnswerCheck::notChecked, m_transcriptController, &TranscriptController::noteUnchecked);
  connect(m_check, &AnswerCheck::problem, this,
          [this](const Error& error, app::MessageId answer) { tellProblem(error, [this, answer] { m_check->check(answer); }); });
  connect(m_comparison, &ComparisonController::stateChanged, this, &ChatPage::updateState);
  connect(m_comparison, &ComparisonController::problem, this,
          [this](const Error& error) { tellProblem(error, [this] { m_comparison->repeat(); }); });
  connect(m_comparisonView, &ComparisonView::findFileRequested, this, [this] {
    if (const std::optional<Error> missed = m_comparisonView->model()->failure())
      m_transcriptController->find(*missed, [this] { m_comparison->repeat(); });
  });
  connect(m_comparison, &ComparisonController::shown, this, [this] {
    m_stack->setCurrentWidget(m_comparisonView);
    arrangeViews();
  });
  connect(m_comparison, &ComparisonController::answerChosen, this, [this](const QString& label) {
    showChat();
    m_composer->setFocus();
    m_undo->present(
        {.text = tr("The chat continues from the answer of %1.").arg(label), .durationMs = kChosenMs, .about = NoticeAbout::kChat});
  });
  const auto leaveChosen = [this] { m_undo->end(NoticeAbout::kChat); };
  connect(&m_session.answers, &AnswerRun::sent, m_undo, leaveChosen);
  connect(&m_session.chat, &OpenChat::aboutToShow, m_undo, leaveChosen);
  connect(m_comparisonView, &ComparisonView::backRequested, this, &ChatPage::showChat);
  connect(m_transcript, &TranscriptView::stopRequested, this, &ChatPage::stopOrLeave);
  connect(m_transcriptController, &TranscriptController::refused, m_composer, &Composer::showNotice);
  connect(m_transcriptController, &TranscriptController::quoted, m_composer->prompt(), &PromptEdit::quote);
  connect(m_composer, &Composer::stopRequested, this, &ChatPage::stopOrLeave);
  connect(m_welcome, &WelcomePage::chooseModelRequested, this, &ChatPage::chooseModelRequested);
  connect(m_welcome, &WelcomePage::sampleChosen, m_composer, [this](const QString& file, const QString& question) {
    m_composer->setDraft({});
    m_composer->prompt()->setPlainText(question);
    m_composer->prompt()->moveCursor(QTextCursor::End);
    if (!file.isEmpty()) m_composer->addFile(QFile::encodeName(file));
    m_composer->setFocus();
  });
  connect(m_sight, &SightNotice::changed, this, &ChatPage::updateState);
  connect(m_plan, &PlanController::changed, this, &ChatPage::updateState);
  connect(m_elsewhere, &ElsewhereNotice::openRequested, this, [this](ConversationId id) { openChat(id); });
  connect(m_preparationLine, &PreparationLine::idleActionTriggered, this, [this] {
    if (!readingAgainHelps(m_session.chat.branch(), laterQuestion())) return m_composer->method()->openLaterChoice();
    m_session.answers.readAgain();
    m_composer->setFocus();
  });
  connect(m_sight, &SightNotice::chooseModelRequested, this, &ChatPage::chooseModelRequested);
  connect(m_composer, &Composer::modelDropped, &m_session.model, [this](const QString& path) { m_session.model.load(path); });
  connect(m_composer, &Composer::draftChanged, this, &ChatPage::describeText);
  connect(&m_session.chat, &OpenChat::shown, this, &ChatPage::describeText);
  connect(&m_session.model, &ModelSession::changed, this, &ChatPage::describeText);
}

void ChatPage::addRegions(FocusRegions& regions) const {
  // A comparison takes no focus itself; its first control does.
  regions.add(m_comparisonView, [this]() -> QWidget* {
    const std::vector<ColumnView*>& columns = m_comparisonView->columns();
    return columns.empty() ? nullptr : columns.front()->header();
  });
  regions.add(m_transcript);
  regions.addHome(m_composer->prompt());
}

// ---- what is on screen -------------------------------------------------------------------------------------------------------------

bool ChatPage::showsComparison() const { return m_stack->currentWidget() == m_comparisonView; }

QStringList ChatPage::statusTexts() const {
  QStringList texts;
  if (m_videoShelf != nullptr && !m_videoShelf->workText().isEmpty()) texts << m_videoShelf->workText();
  return texts << m_composer->method()->text();
}

void ChatPage::showChat() {
  m_stack->setCurrentWidget(m_transcript);
  m_session.answers.showFigures();  // not those of the column that was looked at last
}

void ChatPage::updateState() {
  const bool writing = m_session.answers.writingHere() || m_comparison->runningHere();
  m_composer->setBusy(writing);
  const QString reason = m_session.answers.blockedReason();
  const bool queues = m_session.answers.phase() && !m_session.answers.writingHere() && m_sight->blockedReason().isEmpty();
  m_composer->setBlocked(writing            ? QString()
                         : reason.isEmpty() ? m_sight->blockedReason()
                                            : reason,
                         queues ? Composer::WhileBlocked::kQueue : Composer::WhileBlocked::kRefuse);
  const QString ofServer = lackText(m_session.model, Ability::kCompress);
  // The bar of a watched source says what is left; a server's cache is unknown; what the model cannot see is not read again.
  const bool told = writing || m_session.subject.watchesHere() || !ofServer.isEmpty() || !m_sight->blockedReason().isEmpty();
  const Guard chosen = m_session.chat.options().laterQuestions;
  if (told) {
    m_preparationLine->setIdleText(QString(), QString());
  } else {
    describeLater();
  }
  m_composer->method()->later()->setGuard(chosen);
  m_composer->method()->setWatching(m_session.subject.watchedRecipe());
  m_composer->method()->setLacking(ofServer);
  describeText();
  arrangeViews();
}

LaterQuestion ChatPage::laterQuestion() const {
  const app::ConversationOptions& options = m_session.chat.options();
  LaterQuestion later{.recipe = options.recipe, .guard = laterGuard(options.laterQuestions, options.recipe.spec)};
  if (m_session.model.state() == ModelState::kReady) {
    later.modelName = QString::fromStdString(m_session.model.info().name);
    later.modelFolder = QString::fromStdString(m_session.model.info().folder);
  }
  later.readsAgain = m_session.answers.readsAgain() || m_plan->readsAgain();
  later.expectedMs = m_plan->expectedMs();
  return later;
}

void ChatPage::describeLater() {
  const QList<app::StoredMessage> branch = m_session.chat.branch();
  const LaterQuestion later = laterQuestion();
  const QString action =
      readingAgainHelps(branch, later) ? tr("Read again with %1").arg(recipeLabel(m_methods, later.recipe)) : tr("Later questions…");
  m_preparationLine->setIdleText(laterQuestionText(branch, later, m_methods), action);
}

void ChatPage::describeText() {
  const QList<app::StoredMessage> thread = m_session.chat.branch();
  const bool attached =
      !m_composer->draft().attachments.isEmpty() || m_session.subject.watchesHere() ||
      std::any_of(thread.begin(), thread.end(), [](const app::StoredMessage& message) { return !message.attachments.isEmpty(); });
  m_composer->method()->setTextAlone(!attached);
  m_composer->prompt()->setHint(m_session.model.readsTextOnly()   ? tr("Ask something…")
                                : m_session.model.readsNoVideos() ? tr("Ask about an image or a document…")
                                                                  : tr("Ask about an image, a video or a document…"),
                                tr("Ask something…"));
}

void ChatPage::arrangeViews() {
  // A low window takes from what can be scrolled before it takes from the box; a hidden page asks for nothing.
  m_stack->setMinimumHeight(showsComparison() ? 0 : theme().px(40));
  // In a low window what is read steps aside while methods are chosen, for the question must stay in view; the box steps aside for a
  // comparison, and what stands under it for what went wrong.
  const bool low = window()->height() < theme().px(kLowUnits);
  m_stack->setVisible(!m_chooser->choosing() || !low);
  const bool box = m_chooser->choosing() || !low || !showsComparison();
  m_composer->setVisible(box);
  m_lines->setVisible(box && (!low || m_faults->isHidden()));  // of a next question
  m_chooser->update(m_session.answers.writingHere() || m_comparison->runningHere() || m_check->running());
  Q_EMIT stateChanged();
}

void ChatPage::arrange() {
  const int height = window()->height();
  const bool low = height < theme().px(480);
  m_top->setVisible(height >= theme().px(kLowestUnits));
  m_planLine->setCompact(low);
  m_preparationLine->setCompact(low);
  arrangeViews();
}

// The action that missed a file, or its password, is done again when that is there.
void ChatPage::tellProblem(const Error& error, const std::function<void()>& again) {
  Notice notice = noticeOf(error, NoticeAbout::kChat);
  if (const QString repair = app::repairOf(error); !repair.isEmpty())
    notice.actions.insert(notice.actions.begin(), {repair, [this, error, again] { m_transcriptController->find(error, again); }});
  m_faults->present(notice);
}

// ---- what is done ------------------------------------------------------------------------------------------------------------------

void ChatPage::come() {
  if (!isVisible() && window()->isVisible()) Q_EMIT wanted();
}

void ChatPage::begin(const QList<QByteArray>& files, const QString& question) {
  if (showsComparison()) showChat();
  m_drafts->begin(files, question);
}

void ChatPage::startNew(const QByteArray& video, double atS) {
  come();
  m_drafts->startNew();
  if (!video.isEmpty()) m_drafts->attachAround(video, atS);
}

void ChatPage::openChat(ConversationId id, const std::optional<app::SearchHit>& found) {
  if (found && showsComparison()) showChat();
  saveNow();
  found ? m_transcriptController->showPlace(*found) : m_session.chat.open(id);
}

void ChatPage::writeQuestion(const QString& typed) {
  come();
  if (m_composer->isHidden()) showChat();
  m_composer->prompt()->setFocus();
  if (typed.isEmpty()) return;
  m_composer->prompt()->insertPlainText(typed);
  m_composer->prompt()->ensureCursorVisible();
}

void ChatPage::attachFiles(BrowseFor what) {
  come();
  m_composer->browse(what);
}

void ChatPage::attach(const QMimeData& mime) {
  come();
  m_composer->addMime(mime);
}

void ChatPage::markDrop(const QMimeData* dragged) { m_dropMark->mark(dragged); }

void ChatPage::watchSource() {
  come();
  m_watch->choose();
}

void ChatPage::openMethodCard() {
  come();
  if (const QString lack = lackText(m_session.model, Ability::kCompress); !lack.isEmpty()) return m_composer->showNotice(lack);
  m_composer->method()->openCard();
}

void ChatPage::stepRetention(int percent) {
  if (lackText(m_session.model, Ability::kCompress).isEmpty()) m_composer->method()->stepRetention(percent);
}

void ChatPage::openDialog(Dialog dialog) {
  switch (dialog) {
    case Dialog::kMethod: return m_methodDialogs->pick();
    case Dialog::kRecipe: return m_methodDialogs->change();
    case Dialog::kChatSettings: return m_chatSettings->open();
    case Dialog::kVideoShelf:
      if (m_videoShelf != nullptr) m_videoShelf->open();
  }
}

void ChatPage::compareOrLeave() {
  come();
  m_chooser->chooseOrLeave();
}

bool ChatPage::canCheck() const { return m_check->canCheck(); }

void ChatPage::checkLastAnswer() { m_check->check(0); }

bool ChatPage::canStop() const {
  if (m_session.answers.writingHere() || m_comparison->runningHere() || m_check->running()) return true;
  // Escape in the box leaves a rewording first.
  return !m_composer->editing() && (m_chooser->choosing() || showsComparison());
}

void ChatPage::stopOrLeave() {
  if (m_check->running()) {
    m_check->stop();
  } else if (m_comparison->runningHere()) {
    m_comparison->stop();
  } else if (m_session.answers.writingHere()) {
    m_session.answers.stop();
  } else if (!isVisible()) {
    Q_EMIT wanted();
  } else if (m_chooser->choosing()) {
    m_chooser->leave();
  } else if (showsComparison()) {
    m_comparisonView->alone() >= 0 ? m_comparisonView->showAlone(-1) : showChat();
  }
}

void ChatPage::showKeptMap(qint64 answer) {
  if (answer != 0) return m_keptMaps->open(answer);
  showsComparison() ? m_keptMaps->openComparison(m_comparisonView->model()) : m_keptMaps->openNewest();
}

void ChatPage::findInChat() {
  if (m_session.chat.branch().isEmpty()) return;
  come();
  if (showsComparison()) showChat();
  m_find->open();
}

void ChatPage::saveNow() {
  m_drafts->saveNow();
  m_transcriptController->saveView();
}

void ChatPage::endNow() {
  m_watch->stop();
  saveNow();
}

}  // namespace winnow::ui
