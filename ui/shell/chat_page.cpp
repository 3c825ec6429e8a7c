#include "ui/shell/chat_page.h"

#include <QFile>
#include <QHBoxLayout>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/chat_view/transcript_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/composer.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/later_choice.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/recipes/later_questions.h"
#include "ui/shell/answer_check.h"
#include "ui/shell/chat_session.h"
#include "ui/shell/comparison_controller.h"
#include "ui/shell/kept_map_pages.h"
#include "ui/shell/later_question.h"
#include "ui/shell/link_question.h"
#include "ui/shell/method_dialogs.h"
#include "ui/shell/plan_controller.h"
#include "ui/shell/preparation_controller.h"
#include "ui/shell/storage_notice.h"
#include "ui/shell/watch_controller.h"
#include "ui/shell/welcome_page.h"
#include "ui/theme/theme.h"
#include "ui/watch/watch_bar.h"

namespace winnow::ui {
namespace {

constexpr int kDraftMs = 400;
constexpr int kUndoMs = 10000;
constexpr int kChosenMs = 8000;
constexpr int kLowUnits = 430;

}  // namespace

ChatPage::ChatPage(const WindowServices& services, ChatSession& session, const QList<app::Sample>& samples, QWidget* top)
    : m_services(services), m_session(session), m_presenter(services.methods) {
  m_comparison = new ComparisonController(m_services.engine, m_services.store, m_session, m_services.methods, this);
  m_check = new AnswerCheck(m_services.engine, m_services.store, m_session, this);
  build(samples, top);
  m_watch = new WatchController(m_services.engine, m_session, m_services.openClips, *m_watchBar, this);
  m_methodDialogs = new MethodDialogs(m_services.methods, m_services.settings, m_session, *m_composer, this);
  m_keptMaps = new KeptMapPages(m_session, m_services.store, m_services.preview, m_services.methods, this);
  auto* preparation = new PreparationController(m_services.engine, m_session, m_services.settings, *m_composer, *m_preparationLine, this);
  auto* plan = new PlanController(m_services.engine, m_session, m_services.settings, *m_composer, *m_planLine, this);
  connect(preparation, &PreparationController::ready, plan, &PlanController::schedule);
  for (QTimer* timer : {&m_draftTimer, &m_viewTimer}) {
    timer->setSingleShot(true);
    timer->setInterval(kDraftMs);
  }
  connectChat();
  connectAnswers();
  connectTranscript();
  connectComposer();
  connectComparison();
  connectCheck();
  connectWatch();
  connect(&m_services.settings, &app::Settings::changed, this, &ChatPage::applySettings);
  connect(&m_session.model, &ModelSession::changed, this, &ChatPage::updateWelcome);
  connect(&theme(), &Theme::changed, this, &ChatPage::updateComparison);
  updateWelcome();
  updateState();
  if (!m_services.store.isOpen()) return;
  applySettings();
  showConversation();
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

void ChatPage::build(const QList<app::Sample>& samples, QWidget* top) {
  auto* column = new QVBoxLayout(this);
  setMargins(column, 0, 0, 0, 6);
  column->setSpacing(0);
  column->addWidget(top);
  m_storageNotice = new StorageNotice(m_services.store);
  addInset(column, m_storageNotice);
  m_notice = new NoticeBar;
  addInset(column, m_notice);
  m_stack = new QStackedWidget;
  m_welcome = new WelcomePage(samples);
  m_transcript = new TranscriptView;
  m_comparisonView = new ComparisonView;
  for (QWidget* page : {static_cast<QWidget*>(m_welcome), static_cast<QWidget*>(m_transcript), static_cast<QWidget*>(m_comparisonView)}) {
    m_stack->addWidget(page);
  }
  column->addWidget(m_stack, 1);
  // A low window takes from what can be scrolled before it takes from the box; a hidden page asks for nothing.
  const auto least = [this] { m_stack->setMinimumHeight(showsComparison() ? 0 : theme().px(40)); };
  connect(m_stack, &QStackedWidget::currentChanged, this, least);
  connect(&theme(), &Theme::changed, this, least);
  least();
  m_undo = new NoticeBar;
  addInset(column, m_undo);
  addGap(column, 4);
  m_comparisonSetup = new ComparisonSetup(m_services.methods, m_services.settings);
  addInset(column, m_comparisonSetup);
  m_watchBar = new WatchBar;
  addInset(column, m_watchBar);
  m_composer = new Composer(m_services.preview, m_services.methods);
  addInset(column, m_composer);
  m_preparationLine = new PreparationLine;
  addInset(column, m_preparationLine);
  m_planLine = new PlanLine;
  addInset(column, m_planLine);
}

void ChatPage::connectChat() {
  OpenChat* chat = &m_session.chat;
  connect(chat, &OpenChat::storeOpened, this, [this] {
    applySettings();
    m_composer->setBrowseFolder(m_services.settings.lastMediaFolder());
  });
  connect(chat, &OpenChat::shown, this, &ChatPage::showConversation);
  connect(chat, &OpenChat::created, this, &ChatPage::updateState);
  connect(chat, &OpenChat::titleChanged, this, [this] { m_shown = m_session.chat.id(); });  // a new one gets its number when first saved
  connect(chat, &OpenChat::messageAdded, this, [this](const app::StoredMessage& message) {
    m_stack->setCurrentWidget(m_transcript);
    m_transcript->appendMessage(contentOf(message));
    if (message.role == Role::kUser) m_transcript->scrollToEnd();
  });
  connect(chat, &OpenChat::messageChanged, this,
          [this](const app::StoredMessage& message) { m_transcript->updateMessage(contentOf(message)); });
  connect(chat, &OpenChat::problem, m_notice, &NoticeBar::showError);
  connect(&m_services.engine, &app::EngineHost::cacheSetAside, m_notice, &NoticeBar::showError);
  connect(&m_session.list, &ChatList::removed, this, [this](ConversationId, ConversationId, const QString& title) {
    m_undo->showMessage(tr("“%1” was deleted.").arg(title), tr("Undo"), kUndoMs);
    Q_EMIT stateChanged();
  });
  connect(&m_session.list, &ChatList::restored, m_undo, &NoticeBar::dismiss);
  connect(m_undo, &NoticeBar::actionTriggered, &m_session.list, &ChatList::undoRemove);
}

void ChatPage::connectAnswers() {
  AnswerRun* answers = &m_session.answers;
  connect(answers, &AnswerRun::textAdded, m_transcript, &TranscriptView::appendText);
  connect(answers, &AnswerRun::phaseChanged, m_transcript, &TranscriptView::setPhase);
  connect(answers, &AnswerRun::stateChanged, this, &ChatPage::updateState);
  connect(answers, &AnswerRun::sent, this, [this] {
    m_draftTimer.stop();
    m_composer->clear();
    m_composer->setFocus();
  });
}

void ChatPage::connectTranscript() {
  connect(m_transcript, &TranscriptView::editRequested, this, &ChatPage::editQuestion);
  connect(m_transcript, &TranscriptView::keptMapRequested, m_keptMaps, &KeptMapPages::open);
  connect(m_transcript, &TranscriptView::scrolled, this, [this] {
    if (!m_restoring) m_viewTimer.start();
  });
  connect(&m_viewTimer, &QTimer::timeout, this, &ChatPage::saveViewNow);
  connect(m_transcript, &TranscriptView::regenerateRequested, &m_session.answers, &AnswerRun::regenerate);
  connect(m_transcript, &TranscriptView::branchRequested, this, [this](qint64 message, int step) {
    if (!m_session.answers.busy()) m_session.chat.switchBranch(message, step);
  });
  connect(m_transcript, &TranscriptView::attachmentActivated, this, &ChatPage::openAttachment);
  connect(m_transcript, &TranscriptView::linkActivated, this, [this](const QUrl& url) { askToOpenLink(window(), url); });
  connect(m_transcript, &TranscriptView::stopRequested, this, &ChatPage::stopOrLeave);
  connect(m_transcript, &TranscriptView::comparisonActivated, m_comparison, &ComparisonController::open);
  connect(m_transcript, &TranscriptView::checkRequested, m_check, &AnswerCheck::check);
}

void ChatPage::connectComposer() {
  connect(m_composer, &Composer::sendRequested, this, &ChatPage::send);
  connect(m_composer, &Composer::stopRequested, this, &ChatPage::stopOrLeave);
  connect(m_composer, &Composer::compareRequested, this, &ChatPage::compareOrLeave);
  connect(m_composer, &Composer::editLastRequested, this, [this] { editQuestion(0); });
  connect(m_composer, &Composer::editCancelled, &m_session.answers, &AnswerRun::cancelEdit);
  connect(m_composer, &Composer::recipeChanged, &m_session.chat, &OpenChat::setRecipe);
  connect(m_composer->method()->later(), &LaterChoice::chosen, &m_session.chat, &OpenChat::setLaterQuestions);
  connect(m_preparationLine, &PreparationLine::idleActionTriggered, m_composer->method(), &MethodControl::openLaterChoice);
  connect(m_composer, &Composer::browseFolderChanged, &m_services.settings, &app::Settings::setLastMediaFolder);
  connect(m_composer, &Composer::draftChanged, this, [this] {
    if (!m_restoring) m_draftTimer.start();
    updateComparison();
  });
  connect(&m_draftTimer, &QTimer::timeout, this, &ChatPage::saveDraftNow);
  connect(m_welcome, &WelcomePage::sampleChosen, this, [this](const QString& file, const QString& question) {
    m_composer->setDraft({question, {}});
    m_composer->addFile(QFile::encodeName(file));
  });
}

void ChatPage::connectComparison() {
  connect(m_comparisonSetup, &ComparisonSetup::compareRequested, this, &ChatPage::compareNow);
  connect(m_comparisonSetup, &ComparisonSetup::closeRequested, this, [this] { showComparisonSetup(false); });
  connect(m_comparison, &ComparisonController::shown, this,
          [this](const std::shared_ptr<ComparisonModel>& model, const QString& question, const QString& media) {
            m_comparisonView->setModel(model, question, media);
            m_stack->setCurrentWidget(m_comparisonView);
            updateComparison();
          });
  connect(m_comparison, &ComparisonController::answerChosen, this, [this](const QString& label) {
    showChat();
    m_composer->setFocus();
    m_undo->showMessage(tr("The chat goes on from the answer of %1.").arg(label), QString(), kChosenMs);
  });
  connect(m_comparison, &ComparisonController::stateChanged, this, &ChatPage::updateState);
  connect(m_comparison, &ComparisonController::problem, m_notice, &NoticeBar::showError);
  connect(m_comparisonView, &ComparisonView::backRequested, this, &ChatPage::showChat);
  connect(m_comparisonView, &ComparisonView::stopRequested, m_comparison, &ComparisonController::stop);
  connect(m_comparisonView, &ComparisonView::cancelRequested, m_comparison, &ComparisonController::cancel);
  connect(m_comparisonView, &ComparisonView::useRequested, m_comparison, &ComparisonController::useAnswer);
  connect(m_comparisonView, &ComparisonView::mapsRequested, this, &ChatPage::showKeptMap);
  connect(m_comparisonView, &ComparisonView::columnFocused, m_comparison, &ComparisonController::showFigures);
  connect(m_stack, &QStackedWidget::currentChanged, this, &ChatPage::updateComparison);
}

void ChatPage::connectCheck() {
  connect(m_check, &AnswerCheck::progressed, m_transcript, &TranscriptView::setPhase);
  connect(m_check, &AnswerCheck::stateChanged, this, &ChatPage::updateState);
  connect(m_check, &AnswerCheck::problem, m_notice, &NoticeBar::showError);
  connect(m_check, &AnswerCheck::refused, m_composer, &Composer::showNotice);
}

void ChatPage::connectWatch() { connect(m_watch, &WatchController::refused, m_composer, &Composer::showNotice); }

void ChatPage::applySettings() {
  const app::Settings& settings = m_services.settings;
  m_composer->prompt()->setEnterKey(settings.sendKey() == app::SendKey::kEnter ? EnterKey::kSends : EnterKey::kControlSends);
  m_composer->setDefaultFrames(settings.defaultFrameCount());
}

// ---- what is on screen -------------------------------------------------------------------------------------------------------------

MessageContent ChatPage::contentOf(const app::StoredMessage& message) const {
  return m_presenter.contentOf(message,
                               {m_session.chat.loaded(), QString::fromStdString(m_session.model.info().name), m_session.answers.phase(),
                                m_comparison->question(), m_services.settings.maxNewTokens(), app::Settings::kMostNewTokens});
}

bool ChatPage::showsComparison() const { return m_stack->currentWidget() == m_comparisonView; }

void ChatPage::showConversation() {
  m_restoring = true;
  m_draftTimer.stop();
  m_viewTimer.stop();
  const OpenChat& chat = m_session.chat;
  std::vector<MessageContent> messages;
  for (const app::StoredMessage& message : chat.branch()) messages.push_back(contentOf(message));
  const bool sameChat = m_shown == chat.id();
  m_stack->setCurrentWidget(messages.empty() ? static_cast<QWidget*>(m_welcome) : m_transcript);
  m_transcript->setMessages(std::move(messages));
  m_shown = chat.id();
  if (!sameChat) {
    const app::ViewState& view = chat.loaded().view;
    m_transcript->restoreAnchor({view.anchorMessage, view.anchorOffset});
    // What was written while the chats were not open joins what was written in this one before.
    app::Draft draft = chat.loaded().draft;
    if (m_writtenEarly) {
      const app::Draft early = m_composer->draft();
      draft.text += (draft.text.isEmpty() || early.text.isEmpty() ? QString() : QStringLiteral("\n")) + early.text;
      draft.attachments += early.attachments;
    }
    m_composer->setDraft(draft);
    if (m_writtenEarly) m_draftTimer.start();
  }
  m_composer->method()->setRecipe(chat.options().recipe);
  m_restoring = false;
  m_writtenEarly = !m_services.store.isOpen();
}

void ChatPage::showChat() {
  m_stack->setCurrentWidget(m_transcript);
  m_transcript->setFocus();
}

void ChatPage::updateWelcome() {
  const ModelSession& model = m_session.model;
  const bool ready = model.state() == ModelState::kReady || model.state() == ModelState::kLoading;
  m_welcome->setModel(QString::fromStdString(model.info().name), ready, model.isDemo());
}

void ChatPage::updateState() {
  if (!m_services.store.isOpen()) m_writtenEarly = true;
  const bool writing = m_session.answers.writingHere() || m_comparison->runningHere();
  m_composer->setBusy(writing);
  m_composer->setBlocked(writing ? QString() : m_session.answers.blockedReason());
  const bool told = writing || m_session.subject.watchesHere();  // of what is watched its bar says what is left
  const RecipeSpec& recipe = m_session.chat.options().recipe.spec;
  const Guard chosen = m_session.chat.options().laterQuestions;
  const LaterQuestion later{recipe, laterGuard(chosen, recipe)};
  m_preparationLine->setIdleText(told ? QString() : laterQuestionText(m_session.chat.branch(), later, m_services.methods),
                                 tr("Later questions…"));
  m_composer->method()->later()->setGuard(chosen, m_session.chat.id() == 0 ? ForChats::kNewOnesToo : ForChats::kThisOne);
  m_composer->method()->setWatching(m_session.subject.watchedRecipe());
  updateComparison();
}

void ChatPage::updateComparison() {
  const bool writing = m_session.answers.writingHere() || m_comparison->runningHere() || m_check->running();
  const bool choosing = !m_comparisonSetup->isHidden();
  // In a low window what is read steps aside while methods are chosen, for the question must stay in view; and the box steps aside for a
  // comparison.
  const bool low = window()->height() < theme().px(kLowUnits);
  m_stack->setVisible(!choosing || !low);
  m_composer->setVisible(choosing || !low || !showsComparison());
  const bool again = m_composer->draft().text.trimmed().isEmpty();
  m_comparisonSetup->setAsksAgain(again && m_comparison->canAskAgain());
  m_comparisonSetup->setBlocked(writing ? tr("Wait, or stop what is being written.") : m_session.answers.blockedReason());
  m_composer->setComparing(choosing);
  Q_EMIT stateChanged();
}

void ChatPage::arrange() {
  const bool low = window()->height() < theme().px(480);
  m_planLine->setCompact(low);
  m_preparationLine->setCompact(low);
  updateComparison();
}

// ---- what is done ------------------------------------------------------------------------------------------------------------------

void ChatPage::begin(const QByteArray& file, const QString& question) {
  if (showsComparison()) showChat();
  if (file.isEmpty() && question.isEmpty()) return;
  const app::Draft draft = m_composer->draft();
  if (draft.text.trimmed().isEmpty() && draft.attachments.isEmpty()) {
    m_session.chat.startNew();
    m_offered = {question, {}};
    m_composer->setDraft(m_offered);
  }
  if (!file.isEmpty()) m_composer->addFile(file);
}

void ChatPage::startNew() {
  saveDraftNow();
  // Files that were refused are no draft, and what the program offered is nobody's.
  if (m_composer->draft().isEmpty() || isOffered(m_composer->draft())) m_composer->clear();
  m_session.chat.startNew();
  m_composer->setFocus();
}

void ChatPage::openChat(ConversationId id) {
  saveNow();
  m_session.chat.open(id);
}

void ChatPage::writeQuestion() {
  if (m_composer->isHidden()) showChat();
  m_composer->prompt()->setFocus();
}

void ChatPage::editQuestion(app::MessageId question) {
  const app::Draft unsent = m_composer->draft();
  if (!m_composer->editing() && (!unsent.text.trimmed().isEmpty() || !unsent.attachments.isEmpty())) {
    m_composer->showNotice(tr("Send or clear what you have written, then edit the question."));
    return;
  }
  if (const std::optional<app::Draft> draft = m_session.answers.beginEdit(question)) {
    m_composer->editQuestion(*draft);
  } else if (const QString reason = m_session.answers.blockedReason(); !reason.isEmpty()) {
    m_composer->showNotice(reason);
  }
}

void ChatPage::compareOrLeave() { showComparisonSetup(m_comparisonSetup->isHidden()); }

void ChatPage::showComparisonSetup(bool visible) {
  if (visible) {
    m_comparisonSetup->setModel(m_session.model.traits());
    m_comparisonSetup->open(m_session.chat.options().recipe);
  } else {
    m_comparisonSetup->hide();
    m_composer->setFocus();
  }
  updateComparison();
}

void ChatPage::compareNow() {
  if (!m_comparisonSetup->problem().isEmpty()) {
    m_composer->showNotice(m_comparisonSetup->problem());
    return;
  }
  const app::Draft draft = m_composer->draft();
  if (draft.text.trimmed().isEmpty() && !m_comparison->canAskAgain()) {
    m_composer->showNotice(tr("Write a question first."));
    return;
  }
  if (!m_composer->readyToSend()) return;
  if (m_session.subject.watchesHere()) {
    m_composer->showNotice(tr("A source is seen only once: methods cannot be compared while a chat is about one that was watched."));
    return;
  }
  m_comparison->compare(draft.text, draft.attachments, m_comparisonSetup->recipes(), m_comparisonSetup->order());
  m_comparisonSetup->hide();
  updateComparison();
  // What was hidden had the focus, which the next in line would take: "New chat".
  m_composer->isHidden() ? m_comparisonView->setFocus() : m_composer->setFocus();
}

void ChatPage::send(const QString& text, const QList<app::Attachment>& attachments) {
  if (!m_comparisonSetup->isHidden()) return compareNow();
  if (m_session.subject.watchesHere() && !attachments.isEmpty()) {
    m_composer->showNotice(
        tr("Questions here are about what is watched, alone. Remove what is attached, or stop watching and close the bar."));
    return;
  }
  m_comparison->send(text, attachments);
}

bool ChatPage::canStop() const {
  if (m_session.answers.writingHere() || m_comparison->runningHere() || m_check->running()) return true;
  // Escape in the box leaves a rewording first.
  return !m_composer->editing() && (!m_comparisonSetup->isHidden() || showsComparison());
}

void ChatPage::stopOrLeave() {
  if (m_check->running()) {
    m_check->stop();
  } else if (m_comparison->runningHere()) {
    m_comparison->stop();
  } else if (m_session.answers.writingHere()) {
    m_session.answers.stop();
  } else if (!m_comparisonSetup->isHidden()) {
    showComparisonSetup(false);
  } else if (showsComparison()) {
    m_comparisonView->alone() >= 0 ? m_comparisonView->showAlone(-1) : showChat();
  }
}

void ChatPage::showKeptMap() { showsComparison() ? m_keptMaps->openComparison(m_comparisonView->model()) : m_keptMaps->openNewest(); }

void ChatPage::openAttachment(qint64 message, int index) {
  const app::StoredMessage* stored = m_session.chat.message(message);
  if (stored == nullptr || index < 0 || index >= stored->attachments.size()) return;
  const app::Attachment& attachment = stored->attachments[index];
  if (app::wasWatched(attachment)) {
    m_composer->showNotice(tr("What was watched cannot be looked at again: its frames were not saved."));
    return;
  }
  std::vector<double> times = attachment.sampled.actualS;
  if (attachment.kind == MediaKind::kVideo && times.empty()) times = app::plannedTimes(attachment);
  auto* viewer = new FrameViewer(m_services.preview, attachment.path, attachment.kind, times, 0, window());
  auto* pins = new FramePins(viewer);
  if (attachment.kind == MediaKind::kVideo) pins->setFrames(std::move(times), attachment.durationS);
  pins->setRanges(attachment.pins);
  connect(pins, &FramePins::changed, this, [this, pins, message, index] { m_session.chat.setPins(message, index, pins->ranges()); });
  viewer->setPins(pins, tr("The next answer reads the whole conversation again for it."));
  viewer->open();
}

// ---- what is kept ------------------------------------------------------------------------------------------------------------------

void ChatPage::saveDraftNow() {
  m_draftTimer.stop();
  if (!m_services.store.isOpen() || m_restoring) return;
  const app::Draft draft = m_composer->draft();
  if (!isOffered(draft)) m_session.chat.saveDraft(draft);
}

bool ChatPage::isOffered(const app::Draft& draft) const {
  return m_session.chat.id() == 0 && !m_offered.text.isEmpty() && draft.text == m_offered.text && draft.attachments.size() <= 1;
}

void ChatPage::saveViewNow() {
  m_viewTimer.stop();
  if (m_stack->currentWidget() == m_welcome) return;
  const TranscriptView::Anchor anchor = m_transcript->anchor();
  m_session.chat.saveView(anchor.message, anchor.offset);
}

void ChatPage::saveNow() {
  saveDraftNow();
  saveViewNow();
}

}  // namespace winnow::ui
