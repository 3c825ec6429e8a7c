#include "ui/shell/chat_controller.h"

#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/engine_host/turn_builder.h"
#include "ui/chat_view/agreement_marks.h"
#include "ui/recipes/recipe_words.h"
#include "ui/words/display_text.h"
#include "ui/words/error_text.h"
#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

std::vector<app::TurnTimeline> timelinesOf(const QList<app::StoredMessage>& branch) {
  std::vector<app::TurnTimeline> turns;
  for (const app::StoredMessage& message : branch) {
    if (message.hasRun) turns.push_back(message.run.timeline);
  }
  return turns;
}

}  // namespace

ChatController::ChatController(app::EngineHost& engine, app::ChatStore& store, app::Settings& settings, std::vector<MethodInfo> methods,
                               QObject* parent)
    : QObject(parent), m_engine(engine), m_store(store), m_settings(settings), m_methods(std::move(methods)) {
  m_current.conversation.options = m_settings.conversationDefaults();
  using app::ChatStore;
  connect(&m_store, &ChatStore::opened, this, [this](app::RequestToken, const app::StoreOpened& report) { onOpened(report); });
  connect(&m_store, &ChatStore::opening, this, &ChatController::stateChanged);
  connect(&m_store, &ChatStore::openFailed, this, &ChatController::stateChanged);
  connect(&m_store, &ChatStore::conversationCreated, this, &ChatController::onCreated);
  connect(&m_store, &ChatStore::conversationLoaded, this, &ChatController::onLoaded);
  connect(&m_store, &ChatStore::turnCommitted, this, &ChatController::onCommitted);
  connect(&m_store, &ChatStore::failed, this, &ChatController::onStoreFailed);
  connect(&m_store, &ChatStore::conversationChanged, this, [this](app::RequestToken, const app::Conversation& conversation) {
    m_list.put(conversation);
    if (conversation.id != current()) return;
    m_current.conversation.title = conversation.title;
    m_current.conversation.preview = conversation.preview;
    Q_EMIT titleChanged();
  });
  connect(&m_store, &ChatStore::conversationDeleted, this, [this](app::RequestToken, ConversationId id) {
    const app::Conversation* gone = m_list.find(id);
    const QString title = gone != nullptr ? ConversationListModel::shownTitle(*gone) : QString();
    const int row = m_list.rowOf(id);
    m_list.remove(id);
    m_lastDeleted = id;
    m_engine.post(ForgetConversation{id});
    if (id == current()) {
      const ConversationId next = m_list.idAt(std::min(row, m_list.rowCount() - 1));
      next != 0 ? openConversation(next) : showAsNew();
    }
    Q_EMIT conversationRemoved(title);
  });
  connect(&m_store, &ChatStore::conversationRestored, this, [this](app::RequestToken, const app::Conversation& conversation) {
    m_list.put(conversation);
    openConversation(conversation.id);
  });
  connect(&m_list, &ConversationListModel::renameRequested, this, &ChatController::rename);
  connect(&m_store, &ChatStore::conversationsListed, this,
          [this](app::RequestToken, const QList<app::Conversation>& conversations) { m_list.setConversations(conversations); });
}

void ChatController::start() {
  if (!m_store.isOpen()) m_store.open();
}

void ChatController::onOpened(const app::StoreOpened& report) {
  // What was opened before, if it was, is another database now.
  if (m_run) m_engine.cancel(m_run->request);
  m_run.reset();
  m_sending.reset();
  m_list.setRunning(0);
  m_current = app::LoadedConversation();
  m_settings.load(report.settings);
  m_list.setConversations(report.conversations);
  const ConversationId last = m_settings.lastConversation();
  if (last != 0 && m_list.find(last) != nullptr) {
    openConversation(last);
  } else {
    showAsNew();
  }
  Q_EMIT storeOpened();
  Q_EMIT stateChanged();
}

// ---- conversations -----------------------------------------------------------------------------------------------------------------

QString ChatController::currentTitle() const { return ConversationListModel::shownTitle(m_current.conversation); }

void ChatController::showAsNew() {
  m_loading = 0;
  m_editing = 0;
  m_current = app::LoadedConversation();
  m_current.conversation.options = m_settings.conversationDefaults();
  m_monitor.clear();
  Q_EMIT conversationShown(m_current);
  Q_EMIT titleChanged();
  Q_EMIT stateChanged();
}

void ChatController::newConversation() {
  // An empty chat is new already.
  if (current() != 0 && m_current.messages.isEmpty() && m_current.conversation.title.isEmpty()) {
    Q_EMIT conversationShown(m_current);
    return;
  }
  showAsNew();
}

void ChatController::openConversation(ConversationId id) {
  if (id == 0 || id == current()) return;
  m_loading = m_store.loadConversation(id);
}

void ChatController::onLoaded(app::RequestToken token, const app::LoadedConversation& loaded) {
  if (token != m_loading) return;
  m_loading = 0;
  if (loaded.conversation.id != current()) m_editing = 0;
  m_current = loaded;
  m_settings.setLastConversation(current());
  if (!writingHere()) showLastFigures();
  // What was streamed since the last write of the store is only known here.
  if (writingHere()) {
    if (app::StoredMessage* answer = stored(m_run->answer)) {
      answer->text = m_run->text;
      answer->state = app::MessageState::kStreaming;
    }
    for (const app::StoredMessage& message : m_run->thread) {
      if (app::StoredMessage* shown = stored(message.id)) shown->attachments = message.attachments;
    }
  }
  Q_EMIT conversationShown(m_current);
  Q_EMIT titleChanged();
  Q_EMIT stateChanged();
}

void ChatController::showLastFigures() {
  m_monitor.clear();
  const QList<app::StoredMessage> branch = app::branchTo(m_current.messages, m_current.conversation.activeLeaf);
  const auto last = std::find_if(branch.rbegin(), branch.rend(), [](const app::StoredMessage& m) { return m.hasRun; });
  if (last != branch.rend()) m_monitor.showStored(last->run);
  m_monitor.setEarlierTurns(timelinesOf(branch));
}

void ChatController::rename(ConversationId id, const QString& title) { m_store.renameConversation(id, title); }

void ChatController::remove(ConversationId id) {
  if (id == 0) return;
  if (m_run && m_run->conversation == id) stop();
  m_store.deleteConversation(id);
}

void ChatController::undoRemove() {
  if (m_lastDeleted == 0) return;
  m_store.restoreConversation(std::exchange(m_lastDeleted, 0));
}

void ChatController::setRecipe(const app::NamedRecipe& recipe) {
  m_current.conversation.options.recipe = recipe;
  if (current() != 0) {
    m_store.setOptions(current(), m_current.conversation.options);
  } else {
    m_settings.setDefaultRecipe(recipe);
  }
  Q_EMIT stateChanged();
}

void ChatController::saveDraft(const app::Draft& draft) {
  if (!m_store.isOpen()) return;
  if (current() != 0) {
    m_current.draft = draft;
    m_store.saveDraft(current(), draft);
    return;
  }
  if (draft.text.isEmpty() && draft.attachments.isEmpty()) return;
  m_draftBeforeCreation = draft;
  if (m_creatingForDraft == 0 && !m_sending) m_creatingForDraft = m_store.createConversation(QString(), options());
}

void ChatController::saveView(app::MessageId anchor, double offset) {
  if (current() == 0 || !m_store.isOpen()) return;
  m_store.saveViewState(current(), {anchor, offset});
}

void ChatController::onCreated(app::RequestToken token, const app::Conversation& conversation) {
  m_list.put(conversation);
  if (m_sending && m_sending->token == token) {
    m_sending->conversation = conversation.id;
    if (current() == 0) m_current.conversation = conversation;
    m_settings.setLastConversation(conversation.id);
    beginTurn();
    Q_EMIT titleChanged();
    return;
  }
  if (token != m_creatingForDraft) return;
  m_creatingForDraft = 0;
  if (current() == 0) {
    m_current.conversation = conversation;
    m_settings.setLastConversation(conversation.id);
  }
  if (m_draftBeforeCreation) m_store.saveDraft(conversation.id, *std::exchange(m_draftBeforeCreation, std::nullopt));
  if (m_sending && m_sending->conversation == 0) {
    m_sending->conversation = conversation.id;
    beginTurn();
  }
  Q_EMIT titleChanged();
}

// ---- sending -----------------------------------------------------------------------------------------------------------------------

QString ChatController::blockedReason() const {
  if (m_store.openError()) return tr("Your chats are not open: choose above how to go on.");
  if (!m_store.isOpen()) return tr("Opening your chats…");
  // Nothing is shown yet that a question could belong to: sent now, it would begin another chat.
  if (current() == 0 && m_loading != 0) return tr("Opening your chat…");
  if (m_sending) return tr("Saving your question…");
  if (m_run && m_run->conversation != current()) return tr("An answer is being written in another chat.");
  if (!m_occupied.isEmpty()) return m_occupied;
  switch (m_modelState) {
    case ModelState::kNone:
      return tr("Choose a model first.");
    case ModelState::kLoading:
      return tr("The model is still being loaded.");
    case ModelState::kFailed:
      return tr("No model is loaded. Choose another one.");
    case ModelState::kReady:
      break;
  }
  return {};
}

void ChatController::send(const QString& text, const QList<app::Attachment>& attachments) { begin(text, attachments, Answers::kOne); }
void ChatController::sendToCompare(const QString& text, const QList<app::Attachment>& attachments) {
  begin(text, attachments, Answers::kCompared);
}

void ChatController::begin(const QString& text, const QList<app::Attachment>& attachments, Answers answers) {
  if (busy() || !blockedReason().isEmpty()) return;
  Sending sending;
  sending.answers = answers;
  sending.text = text;
  sending.attachments = attachments;
  sending.conversation = current();
  sending.rewording = storedMessage(m_editing) != nullptr;
  sending.thread = threadBefore();
  m_sending = std::move(sending);
  if (current() != 0) {
    beginTurn();
  } else if (m_creatingForDraft == 0) {
    m_sending->token = m_store.createConversation(QString(), options());
  }
  Q_EMIT stateChanged();
}

void ChatController::beginTurn() {
  app::NewQuestion question;
  question.conversation = m_sending->conversation;
  question.parent = m_sending->thread.isEmpty() ? 0 : m_sending->thread.last().id;
  question.text = m_sending->text;
  question.attachments = m_sending->attachments;
  m_sending->token = m_sending->answers == Answers::kOne ? m_store.beginTurn(question) : m_store.beginQuestion(question);
}

void ChatController::regenerate(app::MessageId id, int maxNewTokens) {
  const app::StoredMessage* message = storedMessage(id);
  if (message == nullptr || busy() || !blockedReason().isEmpty()) return;
  Sending sending;
  sending.regeneration = true;
  sending.maxNewTokens = maxNewTokens;
  sending.conversation = current();
  const app::MessageId question = message->role == Role::kUser ? message->id : message->parent;
  sending.thread = app::branchTo(m_current.messages, question);
  m_editing = 0;
  m_sending = std::move(sending);
  m_sending->token = m_store.beginAnswer(question);
  Q_EMIT stateChanged();
}

void ChatController::onCommitted(app::RequestToken token, const app::TurnIds& ids) {
  if (!m_sending || m_sending->token != token) return;
  const bool here = ids.conversation == current();
  if (!m_sending->regeneration) {
    app::StoredMessage question;
    question.id = ids.question;
    question.conversation = ids.conversation;
    question.parent = m_sending->thread.isEmpty() ? 0 : m_sending->thread.last().id;
    question.sequence = ids.question;
    question.role = Role::kUser;
    question.text = m_sending->text;
    question.attachments = m_sending->attachments;
    m_sending->thread.append(question);
    if (here) {
      m_current.messages.append(question);
      m_current.draft = {};
      if (m_current.conversation.preview.isEmpty()) m_current.conversation.preview = question.text.simplified().left(120);
      if (!m_sending->rewording) Q_EMIT messageAdded(contentOf(question));
    }
    m_store.saveDraft(ids.conversation, {});
  }
  if (m_sending->answers == Answers::kCompared) {
    if (here) m_current.conversation.activeLeaf = ids.question;
    const Sending sent = *std::exchange(m_sending, std::nullopt);
    if (here) {
      m_editing = 0;
      if (sent.rewording) Q_EMIT conversationShown(m_current);
      Q_EMIT this->sent();
    }
    touch(ids.conversation);
    Q_EMIT titleChanged();
    Q_EMIT comparisonReady(ids, sent.thread);
    Q_EMIT stateChanged();
    return;
  }
  app::StoredMessage answer;
  answer.id = ids.answer;
  answer.conversation = ids.conversation;
  answer.parent = ids.question;
  answer.sequence = ids.answer;
  answer.role = Role::kAssistant;
  answer.state = app::MessageState::kStreaming;
  if (here) {
    m_current.messages.append(answer);
    m_current.conversation.activeLeaf = ids.answer;
  }
  startEngine(ids);
  if (here) {
    if (m_sending->regeneration || m_sending->rewording) {
      // The other answers or wordings leave the screen, with everything that followed them.
      Q_EMIT conversationShown(m_current);
    } else {
      Q_EMIT messageAdded(contentOf(answer));
    }
    if (!m_sending->regeneration) {
      m_editing = 0;
      Q_EMIT sent();
    }
  }
  m_sending.reset();
  touch(ids.conversation);
  Q_EMIT titleChanged();
  Q_EMIT stateChanged();
}

void ChatController::startEngine(const app::TurnIds& ids) {
  Run run;
  run.conversation = ids.conversation;
  run.question = ids.question;
  run.answer = ids.answer;
  const app::Conversation* conversation = m_list.find(ids.conversation);
  run.options = ids.conversation == current() ? options()
                : conversation != nullptr     ? conversation->options
                                              : m_settings.conversationDefaults();
  run.phase = tr("Starting");
  run.thread = m_sending->thread;
  m_run = run;
  m_list.setRunning(ids.conversation);
  m_monitor.setEarlierTurns(timelinesOf(m_sending->thread));
  m_monitor.begin(run.options.recipe.spec);
  try {
    Turn turn = turnOf(ids.conversation, m_sending->thread, run.options, run.options.recipe.spec);
    if (m_sending->maxNewTokens > 0) turn.sampling.max_new_tokens = m_sending->maxNewTokens;
    m_run->request = m_engine.post(std::move(turn), this, [this](const Event& event) {
      if (m_run && m_run->request == event.id) onRunEvent(event.body);
    });
  } catch (const Exception& exception) {
    finish(app::MessageState::kFailed, nullptr, exception.error());
  }
}

void ChatController::stop() {
  if (m_run) m_engine.stop(m_run->request);
}

void ChatController::switchBranch(app::MessageId message, int step) {
  if (busy()) return;
  const QList<app::MessageId> siblings = app::siblingsOf(m_current.messages, message);
  const qsizetype at = siblings.indexOf(message) + step;
  if (at < 0 || at >= siblings.size()) return;
  m_current.conversation.activeLeaf = app::newestLeafUnder(m_current.messages, siblings[at]);
  m_store.setActiveLeaf(current(), m_current.conversation.activeLeaf);
  showLastFigures();
  Q_EMIT conversationShown(m_current);
}

std::optional<app::Draft> ChatController::beginEdit(app::MessageId question) {
  if (busy()) return std::nullopt;
  const QList<app::StoredMessage> branch = app::branchTo(m_current.messages, m_current.conversation.activeLeaf);
  const auto found = std::find_if(branch.rbegin(), branch.rend(), [question](const app::StoredMessage& message) {
    return message.role == Role::kUser && (question == 0 || message.id == question);
  });
  if (found == branch.rend()) return std::nullopt;
  m_editing = found->id;
  app::Draft draft{found->text, found->attachments};
  for (app::Attachment& attachment : draft.attachments) attachment.sampled = {};
  return draft;
}

// ---- the engine's events -----------------------------------------------------------------------------------------------------------

void ChatController::onRunEvent(const EventBody& body) {
  m_monitor.take(body);
  const bool here = writingHere();
  if (const auto* progress = std::get_if<Progress>(&body)) {
    if (!m_run->text.isEmpty()) return;
    m_run->phase = phaseText(progress->phase, progress->done, progress->total);
    m_run->share = phaseShare(progress->done, progress->total);
    if (here) Q_EMIT phaseChanged(m_run->answer, m_run->phase, m_run->share);
  } else if (const auto* delta = std::get_if<TextDelta>(&body)) {
    const QString text = QString::fromUtf8(delta->text.data(), static_cast<qsizetype>(delta->text.size()));
    const bool first = m_run->text.isEmpty();
    m_run->text += text;
    m_run->phase.clear();
    m_store.appendStreaming(m_run->answer, m_run->text);
    if (!here) return;
    if (app::StoredMessage* answer = stored(m_run->answer)) answer->text = m_run->text;
    if (first) Q_EMIT phaseChanged(m_run->answer, QString(), -1.0);
    Q_EMIT textAdded(m_run->answer, text);
  } else if (const auto* sampled = std::get_if<MediaSampled>(&body)) {
    takeSampled(*sampled, m_run->thread);
  } else if (const auto* report = std::get_if<CacheReport>(&body)) {
    m_run->keptMap = std::make_shared<const app::KeptMap>(app::KeptMap::fromReport(*report));
    Q_EMIT keptMapKnown(m_run->answer, m_run->keptMap);
  } else if (const auto* finished = std::get_if<Finished>(&body)) {
    const bool interrupted = finished->reason == StopReason::kInterrupted;
    if (!finished->restored && !finished->answer.empty()) m_run->text = QString::fromStdString(finished->answer);
    finish(interrupted ? app::MessageState::kInterrupted : app::MessageState::kComplete, finished->restored ? nullptr : finished,
           std::nullopt);
  } else if (const auto* failed = std::get_if<Failed>(&body)) {
    finish(app::MessageState::kFailed, nullptr, failed->error);
  }
}

void ChatController::finish(app::MessageState state, const Finished* finished, const std::optional<Error>& error) {
  const Run run = *std::exchange(m_run, std::nullopt);
  app::FinishedTurn turn;
  turn.answer = run.answer;
  turn.text = run.text;
  turn.state = state;
  if (error) {
    turn.failure = failureText(*error);
    turn.failureCode = error->code;
  }
  if (finished != nullptr) {
    turn.hasRun = true;
    turn.run = {QString::fromStdString(m_model.name),
                QString::fromStdString(m_model.folder),
                QString::fromStdString(m_model.device),
                run.options.recipe,
                finished->figures,
                m_monitor.recorded(),
                std::nullopt,
                finished->reason};
    turn.keptMap = run.keptMap;
  }
  m_store.finishTurn(turn);
  m_list.setRunning(0);
  if (run.conversation == current()) {
    if (app::StoredMessage* answer = stored(run.answer)) {
      answer->text = turn.text;
      answer->state = state;
      answer->failure = turn.failure;
      answer->failureCode = turn.failureCode;
      answer->hasRun = turn.hasRun;
      answer->run = turn.run;
      answer->hasKeptMap = turn.keptMap != nullptr;
      Q_EMIT messageChanged(contentOf(*answer));
    }
  }
  Q_EMIT stateChanged();
}

void ChatController::onStoreFailed(app::RequestToken token, const Error& error) {
  if (m_sending && token == m_sending->token) m_sending.reset();
  if (token == m_creatingForDraft) {
    m_creatingForDraft = 0;
    m_sending.reset();
  }
  if (token == m_loading) m_loading = 0;
  if (!is_storage(error.code)) Q_EMIT problem(error);  // those are StorageNotice's
  Q_EMIT stateChanged();
}

void ChatController::touch(ConversationId id) {
  // Order, preview and time are the store's; asking for the list is one short query on its thread.
  Q_UNUSED(id);
  m_store.listConversations();
}

// ---- presentation ------------------------------------------------------------------------------------------------------------------

app::StoredMessage* ChatController::stored(app::MessageId id) {
  for (app::StoredMessage& message : m_current.messages) {
    if (message.id == id) return &message;
  }
  return nullptr;
}

const app::StoredMessage* ChatController::storedMessage(app::MessageId id) const {
  for (const app::StoredMessage& message : m_current.messages) {
    if (message.id == id) return &message;
  }
  return nullptr;
}

std::vector<MessageContent> ChatController::currentMessages() const {
  std::vector<MessageContent> contents;
  for (const app::StoredMessage& message : app::branchTo(m_current.messages, m_current.conversation.activeLeaf)) {
    contents.push_back(contentOf(message));
  }
  return contents;
}

MessageContent ChatController::contentOf(const app::StoredMessage& message) const {
  MessageContent content;
  content.id = message.id;
  content.text = message.text;
  content.speaker = message.role == Role::kUser ? Speaker::kUser : Speaker::kAssistant;
  const QString model = message.hasRun ? message.run.modelName : QString::fromStdString(m_model.name);
  content.roleLabel = message.role == Role::kUser ? tr("You") : model.isEmpty() ? tr("Winnow") : displayText(model);
  for (const app::Attachment& attachment : message.attachments) {
    AttachmentSummary summary;
    summary.video = attachment.kind == MediaKind::kVideo;
    summary.path = QFile::decodeName(attachment.path);
    summary.title = displayText(QFileInfo(summary.path).fileName());
    summary.detail = planDetail(attachment) + pinDetail(attachment);
    if (!attachment.thumbnailPng.isEmpty()) summary.thumbnail.loadFromData(attachment.thumbnailPng, "PNG");
    content.attachments.push_back(std::move(summary));
  }
  const bool running = m_run && m_run->answer == message.id;
  switch (message.state) {
    case app::MessageState::kComplete:
      break;
    case app::MessageState::kInterrupted:
      content.status = MessageStatus::kInterrupted;
      break;
    case app::MessageState::kAbandoned:
      content.status = MessageStatus::kAbandoned;
      break;
    case app::MessageState::kFailed:
      content.status = MessageStatus::kFailed;
      content.error = parseFailure(message.failureCode, message.failure);
      break;
    case app::MessageState::kStreaming:
      content.status = message.text.isEmpty() ? MessageStatus::kWaiting : MessageStatus::kStreaming;
      break;
  }
  if (running) {
    content.phase = m_run->phase;
    content.phaseShare = m_run->share;
  }
  content.hasKeptMap = message.hasKeptMap;
  if (message.hasRun) {
    const TurnFigures& figures = message.run.figures;
    content.metrics.valid = true;
    content.metrics.method = recipeLabel(m_methods, message.run.recipe);
    content.metrics.ttftMs = figures.timings_ms.ttft;
    content.metrics.tokensPerS = figures.tokens_per_s;
    content.metrics.keptShare = figures.achieved_retention;
    content.metrics.kvBytes = figures.kv_bytes.end;
    content.metrics.kvFullBytes = figures.kv_bytes.full_end;
    const bool shortText = std::find(figures.notes.begin(), figures.notes.end(), CompressionNote::kShortText) != figures.notes.end();
    if (shortText) content.metrics.shortTextTokens = message.run.recipe.spec.min_event_tokens;
  }
  if (message.hasRun && message.run.stopReason == StopReason::kLength) {
    content.cutAtTokens = static_cast<int>(message.run.figures.tokens.generated);
    const int longer = std::min(app::Settings::kMostNewTokens, std::max(m_settings.maxNewTokens(), 2 * content.cutAtTokens));
    if (longer > content.cutAtTokens) content.longerTokens = longer;
  }
  if (message.hasRun && !message.text.isEmpty()) {
    content.checkable = true;
    if (const std::optional<Agreement>& agreement = message.run.agreement) {
      content.checked = agreementText(*agreement);
      content.marks = agreementMarks(message.text, *agreement);
    }
  }
  if (m_comparing == message.id && m_comparing != 0) content.comparisons.push_back({0, tr("Comparing…")});
  for (const app::Comparison& comparison : m_current.comparisons) {
    if (comparison.question != message.id) continue;
    const int methods = static_cast<int>(comparison.columns.size());
    content.comparisons.push_back({comparison.id, comparison.failure.isEmpty()
                                                      ? tr("Comparison of %n method(s)", nullptr, methods)
                                                      : tr("Comparison of %n method(s), failed", nullptr, methods)});
  }
  const QList<app::MessageId> siblings = app::siblingsOf(m_current.messages, message.id);
  content.branchCount = std::max<int>(1, static_cast<int>(siblings.size()));
  content.branch = std::max<int>(0, static_cast<int>(siblings.indexOf(message.id)));
  return content;
}

}  // namespace winnow::ui
