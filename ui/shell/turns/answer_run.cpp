#include "ui/shell/turns/answer_run.h"

#include <QDateTime>
#include <algorithm>
#include <utility>

#include "app/engine/host/turn_builder.h"
#include "app/words/error_text.h"
#include "engine/metrics/continued_figures.h"
#include "ui/composer/description_dialog.h"
#include "ui/recipes/later_questions.h"
#include "ui/shell/chat/chat_list.h"
#include "ui/shell/chat/open_chat.h"
#include "ui/shell/chat/question_subject.h"
#include "ui/shell/chat/thread_media.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/model/model_session.h"
#include "ui/shell/turns/chat_settings.h"

namespace winnow::ui {
namespace {

std::vector<app::TurnTimeline> timelinesOf(const QList<app::StoredMessage>& branch) {
  std::vector<app::TurnTimeline> turns;
  for (const app::StoredMessage& message : branch) {
    if (message.hasRun) turns.push_back(message.run.timeline);
  }
  return turns;
}

bool isAnswer(const app::StoredMessage& message) { return message.role == Role::kAssistant; }

void takeFinished(const app::FinishedTurn& turn, app::StoredMessage& answer) {
  answer.text = turn.text;
  answer.thought = turn.thought;
  answer.state = turn.state;
  answer.failure = turn.failure;
  answer.failureCode = turn.failureCode;
  answer.hasCause = true;
  answer.hasRun = turn.hasRun;
  answer.run = turn.run;
  answer.hasKeptMap = turn.keptMap != nullptr;
}

// Takes over what the cut answer went by; how long the rest may be is as for any answer now.
void goOnFrom(const app::StoredMessage& cut, Turn& turn) {
  SamplingChoice sampling = cut.run.sampling;
  sampling.max_new_tokens.reset();
  turn.sampling = with_choice(turn.sampling, sampling);
  turn.guard = cut.run.guard;
  turn.answer_begun = cut.text.toStdString();
  turn.thought_begun = cut.thought.toStdString();
  turn.prompt.thinking = thinking_of(turn.sampling);
}

// Subtitles that have changed under their name since they were asked about, and shall be read as they are now. The engine knows the bytes
// of the video alone.
bool takesOtherLines(const QList<app::Attachment>& before, const QList<app::Attachment>& now) {
  return std::ranges::any_of(now, [&](const app::Attachment& medium) {
    return !medium.subtitles.isEmpty() && medium.sampled.linesDigest.isEmpty() &&
           std::ranges::any_of(
               before, [&](const app::Attachment& read) { return app::asksTheSame(read, medium) && !read.sampled.linesDigest.isEmpty(); });
  });
}

// Stores the model's descriptions of whole media of a thread: they are found by it, and it is their contents.
void storeDescribed(app::LineStore& store, OpenChat& chat, const Description& description, const QList<app::StoredMessage>& thread) {
  const std::vector<ThreadMedium> media = mediaOf(thread);
  QList<DescribedMedium> described;
  for (const ThreadMedium& each : media)
    described.append({each.attachment().path, each.attachment().kind, each.attachment().sampled.actualS});
  const QHash<int, QList<app::FileLine>> lines = describedLines(description, described);
  for (auto medium = lines.begin(); medium != lines.end(); ++medium) {
    const ThreadMedium& of = media[static_cast<std::size_t>(medium.key())];
    if (of.attachment().sha256.isEmpty() || !isWhole(of.attachment().plan)) continue;
    store.store(of.attachment().sha256, app::LineKind::kDescribed, medium.value());
    if (app::StoredMessage* shown = chat.edit(of.question->id))
      shown->attachments[of.place].hasContents = of.attachment().kind == MediaKind::kVideo;
  }
}

app::StoredMessage newMessage(Role role, app::MessageId id, app::MessageId parent, ConversationId conversation) {
  return {.id = id,
          .conversation = conversation,
          .parent = parent,
          .sequence = id,
          .role = role,
          .createdMs = QDateTime::currentMSecsSinceEpoch()};
}

}  // namespace

AnswerRun::AnswerRun(Services services, Chats chats, QObject* parent)
    : QObject(parent),
      m_engine(services.engine),
      m_store(services.store),
      m_lines(services.store),
      m_settings(services.settings),
      m_model(chats.model),
      m_list(chats.list),
      m_chat(chats.open),
      m_subject(chats.subject) {
  connect(&m_store, &app::ChatStore::turnCommitted, this, &AnswerRun::onCommitted);
  connect(&m_store, &app::ChatStore::failed, this, [this](app::RequestToken token) {
    const auto* saving = std::get_if<Saving>(&m_state);
    if (saving != nullptr && saving->token == token) abandonSaving();
  });
  connect(&m_chat, &OpenChat::created, this, [this](ConversationId id) {
    const auto* saving = std::get_if<Saving>(&m_state);
    if (saving != nullptr && saving->conversation == 0) beginTurn(id);
  });
  connect(&m_chat, &OpenChat::creationFailed, this, &AnswerRun::abandonSaving);
  connect(&m_chat, &OpenChat::replaced, this, &AnswerRun::onReplaced);
  connect(&m_chat, &OpenChat::aboutToShow, this, &AnswerRun::onAboutToShow);
  connect(&m_chat, &OpenChat::stateChanged, this, &AnswerRun::stateChanged);
  connect(&m_subject, &QuestionSubject::changed, this, &AnswerRun::stateChanged);
  connect(&m_model, &ModelSession::aboutToLoad, this, [this] { stop(); });
  connect(&m_model, &ModelSession::changed, this, &AnswerRun::stateChanged);
  connect(&m_list, &ChatList::aboutToRemove, this, [this](ConversationId id) {
    if (writing() != nullptr && writing()->conversation == id) stop();
  });
  connect(&m_list, &ChatList::removed, this, [this](ConversationId id) { m_engine.post(ForgetConversation{id}); });
}

// ---- what it is about --------------------------------------------------------------------------------------------------------------

QString AnswerRun::blockedReason() const {
  if (m_store.openError()) return tr("Your chats could not be opened. Choose above how to continue.");
  if (!m_store.isOpen()) return tr("Opening your chats…");
  // Sent now, the question would begin another chat.
  if (m_chat.opening()) return tr("Opening your chat…");
  if (std::holds_alternative<Saving>(m_state)) return tr("Saving your question…");
  if (writingElsewhere()) return tr("An answer is being written in another chat.");
  if (const auto* occupied = std::get_if<Occupied>(&m_state)) return occupied->reason;
  if (const QString reason = m_subject.blockedReason(); !reason.isEmpty()) return reason;
  return m_model.blockedReason();
}

void AnswerRun::setOccupied(const QString& reason) {
  if (!reason.isEmpty()) {
    m_state = Occupied{reason};
  } else if (std::holds_alternative<Occupied>(m_state)) {
    m_state = Idle{};
  }
  Q_EMIT stateChanged();
}

bool AnswerRun::writingHere() const { return writing() != nullptr && writing()->conversation == m_chat.id(); }

void AnswerRun::showWaiting(const QString& phase, double share, const Progress& frames) {
  auto* run = std::get_if<Writing>(&m_state);
  if (run == nullptr || run->wordsCame()) return;
  run->phase.phase = phase;
  run->phase.share = share;
  m_monitor.setWaiting(phase, share);
  noteFrames(frames);
  if (writingHere()) Q_EMIT phaseChanged(run->phase.answer, phase, share);
}

void AnswerRun::noteFrames(const Progress& frames) {
  auto* run = std::get_if<Writing>(&m_state);
  if (run == nullptr) return;
  const int there = app::videoInParts(run->turn) != nullptr ? app::framesToAnswerFrom(frames) : 0;
  if (std::exchange(run->phase.framesThere, there) != there && writingHere()) m_chat.tellChanged(run->phase.answer);
}

// Does with the frames that are there.
void AnswerRun::answerFromPart() {
  auto* run = std::get_if<Writing>(&m_state);
  m_engine.cancel(run->request);
  Q_EMIT partTaken();
  FramePlan& plan = app::videoInParts(run->turn)->plan;
  plan.taken = std::exchange(run->phase.framesThere, 0);
  plan.set_frames = static_cast<int>(m_model.info().traits.joined_frames);
  app::StoredMessage& question = run->thread.last();
  app::StoredMessage* const shown = m_chat.edit(question.id);
  for (int place = 0; place < question.attachments.size(); ++place) {
    app::Attachment& attachment = question.attachments[place];
    if (shown != nullptr) attachment.pins = shown->attachments[place].pins;  // they may have been changed meanwhile
    if (attachment.kind != MediaKind::kVideo) continue;
    attachment.plan = plan;
    attachment.sampled = {};
    m_store.storeAsked(question.id, place, attachment);
  }
  if (shown != nullptr) {
    shown->attachments = question.attachments;
    m_chat.tellChanged(question.id);
  }
  run->request = m_engine.post(Turn(run->turn), this, [this](const Event& event) { onEvent(event); });
  if (writingHere()) m_chat.tellChanged(run->phase.answer);
}

std::optional<AnswerPhase> AnswerRun::phase() const { return writing() != nullptr ? std::optional(writing()->phase) : std::nullopt; }

app::SharedKeptMap AnswerRun::runningKeptMap(app::MessageId answer) const {
  return writing() != nullptr && writing()->phase.answer == answer ? writing()->keptMap : nullptr;
}

void AnswerRun::onReplaced() {
  if (writing() != nullptr) m_engine.cancel(writing()->request);
  if (!std::holds_alternative<Occupied>(m_state)) m_state = Idle{};
}

// For the chat that is about to be shown: what was written since it was read from the store is only known here.
void AnswerRun::onAboutToShow() {
  if (m_chat.id() != m_editingIn) m_editing = 0;
  if (writingHere()) {
    if (app::StoredMessage* answer = m_chat.edit(writing()->phase.answer)) {
      answer->text = writing()->said.text;
      answer->thought = writing()->said.thought;
      answer->state = app::MessageState::kStreaming;
      answer->hasCause = true;
      answer->run = writing()->run;
    }
    for (const app::StoredMessage& message : writing()->thread) {
      if (app::StoredMessage* shown = m_chat.edit(message.id)) shown->attachments = message.attachments;
    }
  } else if (app::StoredMessage* answer = m_chat.edit(m_finished.answer);
             answer != nullptr && answer->state == app::MessageState::kStreaming) {
    takeFinished(m_finished, *answer);
  }
  showFigures();
}

void AnswerRun::showFigures(app::MessageId answer) {
  QList<app::StoredMessage> branch = m_chat.branch();
  const auto chosen = std::ranges::find(branch, answer, &app::StoredMessage::id);
  const bool earlier = chosen != branch.end() && std::any_of(chosen + 1, branch.end(), isAnswer);
  if (!earlier && writingHere()) {
    m_monitor.setEarlierTurns(timelinesOf(writing()->thread));
    m_monitor.showRunning();
    return;
  }
  if (earlier) branch.erase(chosen + 1, branch.end());
  m_monitor.clear();
  const auto last = std::find_if(branch.rbegin(), branch.rend(), [](const app::StoredMessage& m) { return m.hasRun; });
  std::optional<EarlierAnswer> which;
  if (earlier) which = {answer, static_cast<int>(std::ranges::count_if(branch, isAnswer))};
  if (last != branch.rend()) m_monitor.showStored(last->run, attachedIn(branch), FiguresOf::kAnswer, which);
  m_monitor.setEarlierTurns(timelinesOf(branch));
}

// ---- turns -------------------------------------------------------------------------------------------------------------------------

Turn AnswerRun::turnOf(ConversationId conversation, const QList<app::StoredMessage>& thread, const app::ConversationOptions& options,
                       const RecipeSpec& recipe) const {
  app::TurnOptions turnOptions{
      .recipe = recipe, .sampling = samplingFor(options, m_settings, m_model.info()), .systemPrompt = options.systemPrompt};
  Turn turn = app::buildTurn(conversation, askable(thread), turnOptions);
  turn.guard = laterGuard(options.laterQuestions, recipe);
  return turn;
}

Turn AnswerRun::turnOf(const AskedQuestion& question) const {
  Turn turn = turnOf(question.conversation, question.thread, m_chat.optionsOf(question.conversation), question.recipe.spec);
  const bool again = m_readAgain && m_readAgain->conversation == question.conversation && m_readAgain->recipe == question.recipe.spec;
  if (again) turn.guard = Guard::kPrefill;
  if (question.alone) turn.guard = Guard::kAlone;
  return turn;
}

void AnswerRun::readAgain() {
  m_readAgain = ReadAgain{m_chat.id(), m_chat.options().recipe.spec};
  Q_EMIT stateChanged();
}

bool AnswerRun::readsAgain() const {
  return m_readAgain && m_readAgain->conversation == m_chat.id() && m_readAgain->recipe == m_chat.options().recipe.spec;
}

QList<app::StoredMessage> AnswerRun::threadBefore() const {
  const app::StoredMessage* edited = m_chat.message(m_editing);
  return edited != nullptr ? m_chat.threadTo(edited->parent) : m_chat.branch();
}

Turn AnswerRun::turnIfSent(const app::Draft& draft) const {
  app::StoredMessage question{.role = Role::kUser, .text = draft.text, .attachments = m_subject.savedWith(draft.attachments)};
  QList<app::StoredMessage> thread = threadBefore();
  thread.append(question);
  return turnOf(m_subject.asked(m_chat.id(), thread, m_chat.options().recipe));
}

// ---- sending -----------------------------------------------------------------------------------------------------------------------

void AnswerRun::send(const QString& text, const QList<app::Attachment>& attachments) {
  Saving saving;
  saving.asks = m_chat.message(m_editing) != nullptr ? Asks::kWording : Asks::kQuestion;
  saving.asked = m_askedBefore.value_or(Time::clock::now());
  saving.text = text;
  saving.attachments = m_subject.savedWith(attachments);
  begin(std::move(saving));
}

void AnswerRun::sendToCompare(const QString& text, const QList<app::Attachment>& attachments) {
  Saving saving;
  saving.asks = m_chat.message(m_editing) != nullptr ? Asks::kComparisonOfWording : Asks::kComparison;
  saving.text = text;
  saving.attachments = m_subject.savedWith(attachments);
  begin(std::move(saving));
}

void AnswerRun::begin(Saving saving) {
  if (!canSend()) return;
  if (const app::StoredMessage* edited = m_chat.message(m_editing);
      edited != nullptr && takesOtherLines(edited->attachments, saving.attachments))
    m_engine.post(ForgetConversation{m_chat.id()});
  saving.thread = threadBefore();
  saving.conversation = m_chat.id();
  post(std::move(saving));
}

void AnswerRun::sendDraft(const app::LoadedConversation& chat, Time asked) {
  if (busy()) return;
  Saving saving;
  saving.conversation = chat.conversation.id;
  saving.asked = asked;
  saving.text = chat.draft.text;
  saving.attachments = chat.draft.attachments;
  saving.thread = app::branchTo(chat.messages, chat.conversation.activeLeaf);
  post(std::move(saving));
}

void AnswerRun::post(Saving saving) {
  for (app::Attachment& attachment : saving.attachments) attachment.sampled = {};
  const ConversationId conversation = saving.conversation;
  m_state = std::move(saving);
  conversation != 0 ? beginTurn(conversation) : m_chat.create();
  Q_EMIT stateChanged();
}

void AnswerRun::beginTurn(ConversationId conversation) {
  auto& saving = std::get<Saving>(m_state);
  saving.conversation = conversation;
  const app::MessageId parent = saving.thread.isEmpty() ? 0 : saving.thread.last().id;
  const app::NewQuestion question{conversation, parent, saving.text, saving.attachments};
  saving.token = compares(saving.asks) ? m_store.beginQuestion(question) : m_store.beginTurn(question);
}

void AnswerRun::regenerate(app::MessageId id, Again how) {
  const app::StoredMessage* message = m_chat.message(id);
  const bool canBe = message != nullptr && (how != Again::kGoingOn || app::canGoOn(*message));
  if (!canBe || !canSend()) return;
  const app::MessageId question = message->role == Role::kUser ? message->id : message->parent;
  if (how == Again::kFromAll) {
    if (const std::optional<app::Draft> draft = beginEdit(question)) send(draft->text, draft->attachments);
    return;
  }
  Saving saving{.asks = Asks::kAnswerAgain, .asked = Time::clock::now(), .how = how};
  if (how == Again::kGoingOn) saving.cut = *message;
  saving.conversation = m_chat.id();
  saving.leaf = m_chat.loaded().conversation.activeLeaf;
  saving.thread = m_chat.threadTo(question);
  saving.token = m_store.beginAnswer(question);
  m_editing = 0;
  m_state = std::move(saving);
  Q_EMIT stateChanged();
}

void AnswerRun::abandonSaving() {
  if (!std::holds_alternative<Saving>(m_state)) return;
  m_state = Idle{};
  Q_EMIT stateChanged();
}

std::optional<app::Draft> AnswerRun::beginEdit(app::MessageId question) {
  if (busy()) return std::nullopt;
  const QList<app::StoredMessage> branch = m_chat.branch();
  const auto found = std::find_if(branch.rbegin(), branch.rend(), [question](const app::StoredMessage& message) {
    return message.role == Role::kUser && (question == 0 || message.id == question);
  });
  if (found == branch.rend()) return std::nullopt;
  m_editing = found->id;
  m_editingIn = m_chat.id();
  app::Draft draft{found->text, m_subject.attachedOf(found->attachments)};
  // Only what identifies other subtitles stays of what was read. All frames are asked for, if a part was answered from.
  for (app::Attachment& attachment : draft.attachments) {
    attachment.plan.taken = 0;
    attachment.plan.set_frames = 1;
    app::SampledTimes lines{.linesDigest = attachment.sampled.linesDigest};
    attachment.sampled = lines;
  }
  return draft;
}

// ---- saved -------------------------------------------------------------------------------------------------------------------------

void AnswerRun::onCommitted(app::RequestToken token, const app::TurnIds& ids) {
  const auto* saving = std::get_if<Saving>(&m_state);
  if (saving == nullptr || saving->token != token) return;
  Saving saved = *saving;
  if (saved.asks != Asks::kAnswerAgain) {
    const app::MessageId parent = saved.thread.isEmpty() ? 0 : saved.thread.last().id;
    app::StoredMessage question = newMessage(Role::kUser, ids.question, parent, ids.conversation);
    question.text = saved.text;
    question.attachments = saved.attachments;
    saved.thread.append(question);
    if (ids.conversation == m_chat.id())
      m_chat.append(question, rewords(saved.asks) ? OpenChat::Shown::kWithTheRest : OpenChat::Shown::kAlone);
    m_store.saveDraft(ids.conversation, {});
  }
  if (compares(saved.asks)) {
    compareAfter(saved, ids);
    return;
  }
  m_subject.gather(ids.conversation, saved.thread.last(), [this, saved, ids] {
    const auto* still = std::get_if<Saving>(&m_state);
    if (still != nullptr && still->token == saved.token) answerAfter(saved, ids);
  });
}

void AnswerRun::compareAfter(const Saving& saved, const app::TurnIds& ids) {
  m_state = Idle{};
  if (ids.conversation == m_chat.id()) {
    m_editing = 0;
    if (rewords(saved.asks)) m_chat.showAgain();
    Q_EMIT sent();
  }
  m_list.refresh();
  Q_EMIT comparisonReady(ids, saved.thread);
  Q_EMIT stateChanged();
}

void AnswerRun::answerAfter(const Saving& saved, const app::TurnIds& ids) {
  const bool here = ids.conversation == m_chat.id();
  Writing run{.conversation = ids.conversation, .phase = {ids.answer, tr("Starting"), -1.0, ids.conversation}, .thread = saved.thread};
  if (saved.leaf != ids.question) run.earlier = saved.leaf;
  if (saved.cut) {
    run.cut = saved.cut;
    run.said = run.begun();
    if (saved.cut->hasRun) run.figures = saved.cut->run.figures;
  }
  const AskedQuestion asked = m_subject.asked(
      ids.conversation, run.thread, saved.cut && saved.cut->hasCause ? saved.cut->run.recipe : m_chat.optionsOf(ids.conversation).recipe);
  run.run = m_model.newRun();
  run.run.recipe = asked.recipe;
  if (saved.cut && saved.cut->hasCause) run.run.begunBy = app::begunBy(saved.cut->run, run.run.modelName);
  m_state = run;
  m_list.model().setRunning(ids.conversation);
  m_monitor.begin(asked.recipe.spec, FiguresOf::kAnswer, saved.asked);
  m_monitor.setAttached(attachedIn(run.thread));
  m_monitor.setByServer(!lackText(m_model, Ability::kCompress).isEmpty());
  if (here) {
    showFigures();
    app::StoredMessage answer = newMessage(Role::kAssistant, ids.answer, ids.question, ids.conversation);
    answer.state = app::MessageState::kStreaming;
    answer.text = run.said.text;
    answer.thought = run.said.thought;
    answer.hasCause = true;
    answer.run = run.run;
    const bool alone = saved.asks == Asks::kQuestion;
    m_chat.append(answer, alone ? OpenChat::Shown::kAlone : OpenChat::Shown::kWithTheRest);
    // The other answers or wordings leave the screen, with everything that followed them.
    if (!alone) m_chat.showAgain();
  }
  try {
    Turn turn = turnOf(asked);
    if (saved.cut) goOnFrom(*saved.cut, turn);
    if (saved.how == Again::kAlone) turn.guard = Guard::kAlone;
    turn.asked = saved.asked;
    auto& writing = std::get<Writing>(m_state);
    writing.run.guard = turn.guard;
    writing.run.sampling = choice_of(turn.sampling);
    writing.turn = turn;
    noteCause();
    writing.request = m_engine.post(std::move(turn), this, [this](const Event& event) { onEvent(event); });
  } catch (const Exception& exception) {
    finish(app::MessageState::kFailed, nullptr, exception.error());
  }
  if (here && saved.asks != Asks::kAnswerAgain) {
    m_editing = 0;
    Q_EMIT sent();
  }
  m_list.refresh();
  Q_EMIT stateChanged();
}

void AnswerRun::stop(Stopped what) {
  auto* run = std::get_if<Writing>(&m_state);
  if (run == nullptr) return;
  if (what == Stopped::kWaiting && run->phase.framesThere > 0) return answerFromPart();
  if (what == Stopped::kWaiting && !run->phase.canAnswerNow) return;
  run->thoughtEnds = what == Stopped::kWaiting;
  m_engine.stop(run->request);
}

// ---- the engine's events -----------------------------------------------------------------------------------------------------------

void AnswerRun::onEvent(const Event& event) {
  auto* run = std::get_if<Writing>(&m_state);
  if (run == nullptr || run->request != event.id) return;  // of chats that were replaced meanwhile
  const bool goesOn = run->thoughtEnds && std::holds_alternative<Finished>(event.body);
  if (!goesOn) m_monitor.take(event.body);
  if (const auto* progress = std::get_if<Progress>(&event.body)) {
    if (run->wordsCame()) return;
    run->phase.phase = phaseText(progress->phase, progress->done, progress->total);
    run->phase.share = phaseShare(progress->done, progress->total);
    noteFrames(*progress);
    if (writingHere()) Q_EMIT phaseChanged(run->phase.answer, run->phase.phase, run->phase.share);
  } else if (const auto* delta = std::get_if<TextDelta>(&event.body)) {
    onText(*delta);
  } else if (const auto* sampled = std::get_if<MediaSampled>(&event.body)) {
    m_chat.takeSampled(*sampled, run->thread);
  } else if (const auto* report = std::get_if<CacheReport>(&event.body)) {
    run->run.makers = app::runMakers(report->makers, run->run.recipe, run->thread);
    noteCause();
    storeDescribed(m_lines, m_chat, report->description, run->thread);
    run->keptMap = std::make_shared<const app::KeptMap>(app::KeptMap::fromReport(*report));
    Q_EMIT keptMapKnown(run->phase.answer, run->keptMap);
  } else if (const auto* finished = std::get_if<Finished>(&event.body)) {
    onFinished(*finished);
  } else if (const auto* failed = std::get_if<Failed>(&event.body)) {
    finish(app::MessageState::kFailed, nullptr, failed->error);
  }
}

void AnswerRun::onFinished(const Finished& finished) {
  auto& run = std::get<Writing>(m_state);
  const bool interrupted = finished.reason == StopReason::kInterrupted;
  if (interrupted && run.thoughtEnds) return answerNow(finished);
  if (!finished.restored && !finished.answer.empty()) run.said.text = QString::fromStdString(run.turn.answer_begun + finished.answer);
  finish(interrupted ? app::MessageState::kInterrupted : app::MessageState::kComplete, finished.restored ? nullptr : &finished,
         std::nullopt);
}

// The same answer goes on behind its thought, which is now as long as it may be.
void AnswerRun::answerNow(const Finished& thought) {
  auto& run = std::get<Writing>(m_state);
  if (!thought.restored) run.figures = run.figures ? continued_figures(*run.figures, thought.figures) : thought.figures;
  run.thoughtEnds = false;
  run.phase.canAnswerNow = false;
  run.turn.answer_begun = run.said.text.toStdString();  // it may just have begun
  run.turn.thought_begun = run.said.thought.toStdString();
  run.turn.sampling.thought_tokens = 1;
  run.request = m_engine.post(Turn(run.turn), this, [this](const Event& event) { onEvent(event); });
  m_chat.tellChanged(run.phase.answer);
}

// Before the first word: an answer that is cut off by the end of the program is still headed by who wrote it.
void AnswerRun::noteCause() {
  const Writing& run = std::get<Writing>(m_state);
  app::AnswerSoFar soFar = run.said;
  soFar.cause = run.run;
  m_store.appendStreaming(run.phase.answer, soFar);
  m_monitor.setCause(run.run);
  if (app::StoredMessage* answer = m_chat.edit(run.phase.answer)) {
    answer->hasCause = true;
    answer->run = run.run;
  }
}

void AnswerRun::onText(const TextDelta& delta) {
  auto& run = std::get<Writing>(m_state);
  const app::MessageId id = run.phase.answer;
  const QString text = QString::fromUtf8(delta.text.data(), static_cast<qsizetype>(delta.text.size()));
  const bool first = !run.wordsCame();
  const bool thought = delta.kind == TextKind::kThought;
  const bool begins = thought ? !run.phase.thoughtBegan : run.phase.thoughtBegan && !run.phase.thoughtEnded;
  (thought ? run.said.thought : run.said.text) += text;
  run.phase.phase.clear();
  if (begins) {
    const auto now = Time::clock::now();
    (thought ? run.phase.thoughtBegan : run.phase.thoughtEnded) = now;
    run.phase.canAnswerNow = thought && m_model.info().server.empty();
  }
  m_store.appendStreaming(id, run.said);
  if (!writingHere()) return;
  if (app::StoredMessage* answer = m_chat.edit(id)) (thought ? answer->thought : answer->text) += text;
  if (first) Q_EMIT phaseChanged(id, QString(), -1.0);
  if (begins) return m_chat.tellChanged(id);  // with what was added
  thought ? Q_EMIT thoughtAdded(id, text) : Q_EMIT textAdded(id, text);
}

void AnswerRun::finish(app::MessageState state, const Finished* finished, const std::optional<Error>& error) {
  const Writing run = std::get<Writing>(std::exchange(m_state, Idle{}));
  if (state == app::MessageState::kInterrupted && run.earlier != 0 && !run.wordsCame()) return withdraw(run);
  app::FinishedTurn turn{.answer = run.phase.answer, .text = run.said.text, .state = state, .thought = run.said.thought};
  if (error) {
    turn.failure = app::failureText(*error);
    turn.failureCode = error->code;
  }
  turn.hasCause = true;
  turn.run = run.run;
  if (finished != nullptr) {
    turn.hasRun = true;
    turn.run.figures = run.figures ? continued_figures(*run.figures, finished->figures) : finished->figures;
    turn.run.timeline = m_monitor.recorded();
    turn.run.stopReason = finished->reason;
    turn.keptMap = run.keptMap;
    if (m_readAgain && m_readAgain->conversation == run.conversation) m_readAgain.reset();
  }
  // A model that added nothing has no part in it.
  if (run.cut && !run.wordsCame() && run.cut->run.modelFolder != run.run.modelFolder) {
    turn.run = run.cut->run;
    turn.hasRun = run.cut->hasRun;
    turn.keptMap = nullptr;
    if (finished != nullptr) turn.run.stopReason = finished->reason;
  }
  m_store.finishTurn(turn);
  m_finished = turn;
  m_list.model().setRunning(0);
  if (app::StoredMessage* answer = m_chat.edit(turn.answer)) {
    takeFinished(turn, *answer);
    m_chat.tellChanged(turn.answer);
    showFigures();
  }
  Q_EMIT stateChanged();
}

// Stopped before its first word, a further answer would be the one before it once more, or an empty one.
void AnswerRun::withdraw(const Writing& run) {
  m_store.setActiveLeaf(run.conversation, run.earlier, run.phase.answer);
  m_list.model().setRunning(0);
  if (m_chat.message(run.phase.answer) != nullptr) m_chat.showAgain(run.phase.answer, run.earlier);
  Q_EMIT stateChanged();
}

}  // namespace winnow::ui
