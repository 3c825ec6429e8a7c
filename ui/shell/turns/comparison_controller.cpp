#include "ui/shell/turns/comparison_controller.h"

#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/words/attached_words.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/compare/comparison_view.h"
#include "ui/recipes/later_questions.h"
#include "ui/shell/chat/thread_media.h"
#include "ui/shell/ground/window_services.h"

namespace winnow::ui {
namespace {

// Whose answer a chat with this recipe takes when nobody has chosen: its own method's, else the reference's. -1: none can be taken.
int columnFor(const ComparisonModel& model, const RecipeSpec& recipe) {
  for (int i = 0; i < model.columns(); ++i) {
    if (model.canBeUsed(i) && model.answer(i).run.recipe.spec == recipe) return i;
  }
  if (model.canBeUsed(model.reference())) return model.reference();
  for (int i = 0; i < model.columns(); ++i) {
    if (model.canBeUsed(i)) return i;
  }
  return -1;
}

}  // namespace

ComparisonController::ComparisonController(const WindowServices& services, ChatSession& session, ComparisonView& view,
                                           TranscriptView& transcript, QObject* parent)
    : QObject(parent), m_engine(services.engine), m_store(services.store), m_session(session), m_view(view), m_methods(services.methods) {
  using app::ChatStore;
  connect(&m_session.answers, &AnswerRun::comparisonReady, this, &ComparisonController::begin);
  connect(&m_store, &ChatStore::comparisonSaved, this, [this](app::RequestToken token, const app::Comparison& saved) {
    if (token != m_saving) return;
    m_saving = 0;
    m_savingModel->setSaved(saved);
    m_savingModel.reset();
    m_session.chat.addComparison(saved);
  });
  connect(&m_store, &ChatStore::answerUsed, this, &ComparisonController::onUsed);
  connect(&m_store, &ChatStore::failed, this, [this](app::RequestToken token, const Error&) {
    // The error itself is told by the chat.
    if (token == m_saving) {
      m_saving = 0;
      m_savingModel.reset();
    }
    if (token == m_using) {
      m_using = 0;
      m_afterUse = nullptr;
    }
    if (token == m_reloading) QObject::disconnect(m_whenReloaded);
  });
  connect(&m_store, &ChatStore::conversationDeleted, this, [this](app::RequestToken, ConversationId id) {
    if (running() && id == m_conversation) cancel();
  });
  connect(&m_session.model, &ModelSession::aboutToLoad, this, &ComparisonController::stop);
  connect(&transcript, &TranscriptView::comparisonActivated, this, &ComparisonController::open);
  connect(&m_view, &ComparisonView::stopRequested, this, &ComparisonController::stop);
  connect(&m_view, &ComparisonView::cancelRequested, this, &ComparisonController::cancel);
  connect(&m_view, &ComparisonView::useRequested, this, &ComparisonController::useAnswer);
  connect(&m_view, &ComparisonView::columnFocused, this, &ComparisonController::showFigures);
}

std::shared_ptr<ComparisonModel> ComparisonController::makeModel() const { return std::make_shared<ComparisonModel>(m_methods); }

bool ComparisonController::canAskAgain() const {
  const QList<app::StoredMessage> branch = m_session.chat.branch();
  return std::any_of(branch.begin(), branch.end(), [](const app::StoredMessage& message) { return message.role == Role::kUser; });
}

void ComparisonController::compare(const QString& text, const QList<app::Attachment>& attachments,
                                   const std::vector<app::NamedRecipe>& recipes, ColumnOrder order) {
  if (!m_session.answers.canSend() || recipes.empty()) return;
  m_recipes = recipes;
  m_order = order;
  if (!text.trimmed().isEmpty()) {
    m_session.answers.sendToCompare(text, attachments);
    return;
  }
  QList<app::StoredMessage> thread = m_session.chat.branch();
  while (!thread.isEmpty() && thread.last().role != Role::kUser) thread.removeLast();
  if (!thread.isEmpty()) begin({m_session.chat.id(), thread.last().id, 0}, thread);
}

void ComparisonController::repeat() {
  if (!m_shown || m_shown->running() || !m_session.answers.canSend()) return;
  const app::Comparison& before = m_shown->comparison();
  const QList<app::StoredMessage> thread = m_session.chat.threadTo(before.question);
  if (thread.isEmpty()) return;
  m_recipes.clear();
  for (const app::ComparedAnswer& column : before.columns) m_recipes.push_back(column.run.recipe);
  m_order = before.order;
  begin({m_session.chat.id(), before.question, 0}, thread);
}

void ComparisonController::begin(const app::TurnIds& ids, const QList<app::StoredMessage>& thread) {
  const app::ConversationOptions options = m_session.chat.optionsOf(ids.conversation);
  Compare request;
  try {
    Turn turn = m_session.answers.turnOf(ids.conversation, thread, options, m_recipes.front().spec);
    request.conversation = ids.conversation;
    request.messages = std::move(turn.messages);
    // Greedy, whatever the chat is: what differs between columns is then the methods' doing.
    request.sampling.max_new_tokens = turn.sampling.max_new_tokens;
    request.sampling.room_tokens = turn.sampling.room_tokens;
    request.sampling.thought_tokens = turn.sampling.thought_tokens;
    request.prompt = std::move(turn.prompt);
    request.pins = std::move(turn.pins);
    request.prompt = std::move(turn.prompt);
  } catch (const Exception& exception) {
    Q_EMIT problem(exception.error());
    return;
  }
  for (const app::NamedRecipe& recipe : m_recipes) request.recipes.push_back(recipe.spec);
  request.order = m_order;
  m_runningModel = makeModel();
  m_last = m_runningModel;
  app::Run run = m_session.model.newRun();
  run.sampling = choice_of(request.sampling);
  m_runningModel->begin(m_recipes, m_order, ids.question, run);
  m_thread = thread;
  m_conversation = ids.conversation;
  m_session.answers.monitor().begin(m_recipes.front().spec, FiguresOf::kColumn);
  m_session.answers.monitor().setAttached(attachedIn(m_thread));
  m_request = m_engine.post(std::move(request), this, [this](const Event& event) { onEvent(event); });
  m_session.list.model().setRunning(ids.conversation);
  m_session.chat.tellChanged(ids.question);
  m_session.answers.setOccupied(tr("A comparison is running."));
  if (ids.conversation == m_session.chat.id()) show(m_runningModel);
  Q_EMIT stateChanged();
}

void ComparisonController::onEvent(const Event& event) {
  const std::shared_ptr<ComparisonModel> model = m_runningModel;
  if (const auto* sampled = std::get_if<MediaSampled>(&event.body)) m_session.chat.takeSampled(*sampled, m_thread);
  model->take(event);
  watch(event);
  if (!model->running()) finish();
}

// The live cache panel follows the column that is being written; of interleaved ones, the first.
void ComparisonController::watch(const Event& event) {
  CacheMonitor& monitor = m_session.answers.monitor();
  if (m_order == ColumnOrder::kInterleaved && event.column > 0) return;
  if (std::holds_alternative<ColumnStarted>(event.body)) {
    const RecipeSpec& spec = m_runningModel->answer(event.column).run.recipe.spec;
    monitor.begin(spec, FiguresOf::kColumn);
    monitor.setAttached(attachedIn(m_thread));
  }
  monitor.take(event.body);
  if (std::holds_alternative<CacheReport>(event.body)) monitor.setCause(m_runningModel->answer(event.column).run);
}

void ComparisonController::finish() {
  const std::shared_ptr<ComparisonModel> model = std::exchange(m_runningModel, nullptr);
  m_request = 0;
  m_session.list.model().setRunning(0);
  m_session.chat.tellChanged(model->comparison().question);
  if (!model->cancelled()) {
    m_savingModel = model;
    m_saving = m_store.saveComparison(model->comparison());
  }
  m_session.answers.setOccupied(QString());
  Q_EMIT stateChanged();
}

void ComparisonController::stop() {
  if (running()) m_engine.stop(m_request);
}

void ComparisonController::cancel() {
  if (running()) m_engine.cancel(m_request);
}

void ComparisonController::open(app::MessageId question, int index) {
  const bool here = runningHere() && m_runningModel->comparison().question == question;
  if (here && index == 0) {
    show(m_runningModel);
    return;
  }
  int place = index - (here ? 1 : 0);
  for (const app::Comparison& comparison : m_session.chat.loaded().comparisons) {
    if (comparison.question != question || place-- > 0) continue;
    // One that has just ended keeps what only a running one knows.
    if (m_shown && m_shown->comparison().id == comparison.id) {
      show(m_shown);
      return;
    }
    auto model = makeModel();
    model->show(comparison);
    show(model);
    return;
  }
}

void ComparisonController::show(const std::shared_ptr<ComparisonModel>& model) {
  m_shown = model;
  QString question;
  QStringList media;
  if (const app::StoredMessage* message = m_session.chat.message(model->comparison().question)) {
    question = message->text;
    for (const app::Attachment& attachment : message->attachments) {
      const QString name = app::attachedName(QFile::decodeName(attachment.path));
      const int frames =
          attachment.sampled.actualS.empty() ? attachment.plan.frame_count : static_cast<int>(attachment.sampled.actualS.size());
      const QString length = app::documentLength(attachment.words, 0, attachment.mostTokens);
      media << (attachment.kind == MediaKind::kVideo ? tr("%1, %Ln frame(s)", nullptr, frames).arg(name)
                : length.isEmpty()                   ? name
                                                     : name + QStringLiteral(", ") + length);
    }
  }
  m_view.setModel(model, question, media.join(QStringLiteral(" · ")));
  if (model->running()) m_session.answers.monitor().showRunning();
  Q_EMIT shown();
}

void ComparisonController::showFigures(int column) {
  if (!m_shown || m_shown->running() || column < 0 || column >= m_shown->columns() || !m_shown->answer(column).hasFigures) return;
  m_session.answers.monitor().showStored(m_shown->answer(column).run, attachedIn(m_session.chat.threadTo(m_shown->comparison().question)),
                                         FiguresOf::kColumn);
}

void ComparisonController::useAnswer(int column) {
  if (!m_shown || m_using != 0 || m_session.answers.busy() || !m_shown->canBeUsed(column)) return;
  m_usedColumn = column;
  m_using = m_store.useAnswer(m_shown->comparison().id, column);
}

void ComparisonController::onUsed(app::RequestToken token, const app::TurnIds& ids) {
  if (token != m_using) return;
  m_using = 0;
  const std::function<void()> after = std::exchange(m_afterUse, nullptr);
  if (ids.conversation != m_session.chat.id()) return;
  QString label;
  if (m_shown && m_shown->comparison().question == ids.question && m_usedColumn < m_shown->columns()) {
    m_shown->setUsed(m_usedColumn, ids.answer);
    label = m_shown->label(m_usedColumn);
    // Chosen by the user: the engine goes on from this column's cache, under its recipe.
    if (!after) m_session.chat.setRecipe(m_shown->answer(m_usedColumn).run.recipe);
  }
  QObject::disconnect(m_whenReloaded);
  m_whenReloaded = connect(&m_session.chat, &OpenChat::shown, this, [this, after, label, id = ids.conversation] {
    QObject::disconnect(m_whenReloaded);
    if (m_session.chat.id() != id) return;
    if (after) {
      after();
    } else {
      Q_EMIT answerChosen(label);
    }
  });
  m_reloading = m_session.chat.reload();
}

void ComparisonController::send(const QString& text, const QList<app::Attachment>& attachments) {
  const QList<app::StoredMessage> branch = m_session.chat.branch();
  const bool open =
      !m_session.answers.editing() && !branch.isEmpty() && branch.last().role == Role::kUser && m_using == 0 && m_session.answers.canSend();
  for (const app::Comparison& comparison : m_session.chat.loaded().comparisons) {
    if (!open || comparison.question != branch.last().id) continue;
    auto model = makeModel();
    model->show(comparison);
    const app::ConversationOptions& options = m_session.chat.options();
    const int column = columnFor(*model, options.recipe.spec);
    if (column < 0) continue;
    m_shown = model;
    const bool own = model->answer(column).run.recipe.spec == options.recipe.spec;
    const bool fromColumn = laterGuard(options.laterQuestions, options.recipe.spec) == Guard::kKeep;
    m_afterUse = [this, text, attachments, reads = !own && fromColumn] {
      if (reads) m_session.answers.readAgain();
      m_session.answers.send(text, attachments);
    };
    useAnswer(column);
    return;
  }
  m_session.answers.send(text, attachments);
}

}  // namespace winnow::ui
