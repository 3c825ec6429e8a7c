#include "ui/shell/turns/watch_controller.h"

#include <QFile>
#include <utility>

#include "app/ground/worker/engine_end.h"
#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/fault_texts.h"
#include "app/words/format_text.h"
#include "engine/messages/stored_bytes.h"
#include "engine/recipes/method_info.h"
#include "ui/composer/composer.h"
#include "ui/composer/description_dialog.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/watch/watch_dialog.h"

namespace winnow::ui {
namespace {

app::NamedRecipe recipeFor(const RecipeSpec& chosen, std::int64_t capSlots) {
  app::NamedRecipe recipe;
  const bool streams = describe(chosen).value_or(RecipeTraits()).in_clips;
  if (streams) recipe.spec = chosen;
  if (!streams) recipe.spec.method = "self-study-stream";
  recipe.spec.budget_tokens = static_cast<int>(capSlots);
  return recipe;
}

app::Attachment attachmentOf(const app::WatchRequest& request) {
  return {
      .kind = MediaKind::kVideo, .path = QByteArray::fromStdString(request.address), .plan = {.frame_count = 0, .every_s = request.everyS}};
}

constexpr QSize kPicture(384, 216);  // as large as the bar ever shows it

QImage pictureOf(const RgbImage& frame) {
  if (frame.width_px < 1 || frame.height_px < 1) return {};
  const QImage image(frame.rgb.data(), frame.width_px, frame.height_px, qsizetype{3} * frame.width_px, QImage::Format_RGB888);
  return image.scaled(kPicture, Qt::KeepAspectRatio, Qt::SmoothTransformation).convertToFormat(QImage::Format_RGB32);
}

}  // namespace

WatchController::WatchController(const WindowServices& services, ChatSession& session, WatchBar& bar, Composer& composer, QObject* parent)
    : QObject(parent), m_engine(services.engine), m_session(session), m_bar(bar), m_composer(composer), m_live(services.openClips) {
  connect(&m_live, &app::LiveWatch::clipReady, this, &WatchController::feed);
  connect(&m_live, &app::LiveWatch::noticed, this, [this](const MediaNotice& notice) {
    m_notice = app::noticeWords(notice);
    show();
  });
  connect(&m_live, &app::LiveWatch::ended, this, [this](const QString& because) {
    m_notice = because.isEmpty() ? tr("The source has ended.") : app::sentenceOf(because);
    settle();
  });
  connect(&m_live, &app::LiveWatch::failed, this, [this](const Error& error) {
    const app::ErrorText text = app::describeWatchFault(error, name());
    m_notice = text.cause + QLatin1Char(' ') + text.remedy;
    settle();
  });
  connect(&m_live, &app::LiveWatch::caughtUp, this, [this] {
    if (m_waiting) m_waiting->caughtUp = true;
    goOn();
  });
  m_session.subject.setCatchUp([this](std::function<void()> then) { catchUp(std::move(then)); });
  connect(&m_session.answers, &AnswerRun::stateChanged, this, &WatchController::feed);
  connect(&m_session.chat, &OpenChat::shown, this, &WatchController::show);
  connect(&m_session.chat, &OpenChat::messageChanged, this, [this](const app::StoredMessage& message) {
    if (message.state == app::MessageState::kFailed && app::isEngineEnd(message.failureCode)) loseWithEngine(message.failureCode);
  });
  connect(&m_session.chat, &OpenChat::created, this, [this](ConversationId id) {
    if (idle() || m_source.conversation != 0) return;
    m_source.conversation = id;
    m_session.subject.setWatched(m_source);
    show();
  });
  connect(&m_session.chat, &OpenChat::creationFailed, this, [this] {
    if (m_source.conversation == 0) letGo();  // the window says that nothing can be saved
  });
  connect(&m_session.chat, &OpenChat::replaced, this, &WatchController::letGo);
  connect(&m_session.list, &ChatList::aboutToRemove, this, [this](ConversationId id) {
    if (id == m_source.conversation) letGo();
  });
  connect(&m_session.model, &ModelSession::gone, this,
          [this] { lose(tr("Another model was loaded, which has not seen it. Watch it again.")); });
  connect(&m_bar, &WatchBar::pauseToggled, this, [this] {
    m_live.setPaused(!m_live.paused());
    show();
  });
  connect(&m_bar, &WatchBar::stopRequested, this, &WatchController::stop);
  connect(&m_bar, &WatchBar::againRequested, this, &WatchController::watchAgain);
  connect(&m_bar, &WatchBar::closeRequested, this, &WatchController::letGo);
  connect(&m_bar, &WatchBar::descriptionRequested, this, &WatchController::showDescription);
}

bool WatchController::lost() const {
  const auto* ended = std::get_if<Ended>(&m_state);
  return ended != nullptr && ended->lost;
}

bool WatchController::here() const { return !idle() && m_source.conversation == m_session.chat.id(); }

QString WatchController::name() const { return app::watchedName(QFile::decodeName(m_source.attachment.path)); }

QString WatchController::blockedReason() const {
  if (const QString lack = lackText(m_session.model, Ability::kWatch); !lack.isEmpty()) return lack;
  if (m_session.model.readsTextOnly()) return tr("This model reads text only. Choose one that reads videos under Model, then watch.");
  if (m_session.model.readsNoVideos())
    return tr("This model reads images, but no videos. Choose one that reads them under Model, then watch.");
  const bool running = std::holds_alternative<Running>(m_state);
  if (running && !here()) {
    const app::Conversation* chat = m_session.list.find(m_source.conversation);
    const QString title = chat != nullptr ? ConversationListModel::shownTitle(*chat) : tr("another chat");
    return tr("“%1” is watched in the chat “%2”. Stop it there first.").arg(name(), title);
  }
  if (running) return tr("“%1” is being watched. Stop it first.").arg(name());
  return m_session.answers.blockedReason();
}

// ---- begin and end -----------------------------------------------------------------------------------------------------------------

void WatchController::choose() {
  if (const QString reason = blockedReason(); !reason.isEmpty()) {
    m_composer.showNotice(reason);
    return;
  }
  const ModelInfo& model = m_session.model.info();
  const RecipeSpec recipe = recipeFor(m_session.chat.options().recipe.spec, 0).spec;  // but for the cap, which the dialog asks for
  auto* dialog = new WatchDialog({stored_token_bytes(model, recipe), model.visual_tokens_per_frame}, app::cameras(), m_bar.window());
  connect(dialog, &WatchDialog::watchRequested, this, [this](const app::WatchRequest& request) {
    const QString reason = blockedReason();
    reason.isEmpty() ? start(request) : m_composer.showNotice(reason);
  });
  dialog->open();
}

void WatchController::start(const app::WatchRequest& request) {
  letGo();
  m_state = Running{};
  m_source = {m_session.chat.id(), attachmentOf(request), recipeFor(m_session.chat.options().recipe.spec, request.capSlots), false};
  m_asked = request;
  m_picture = {};
  m_watched = {};
  m_notice.clear();
  m_session.subject.setWatched(m_source);
  // A chat without a number could not be found again once another is opened.
  if (m_source.conversation == 0) m_session.chat.create();
  m_live.start(request);
  show();
}

void WatchController::watchAgain() {
  const QString reason = blockedReason();
  reason.isEmpty() ? start(app::WatchRequest(m_asked)) : m_composer.showNotice(reason);
}

void WatchController::stop() {
  m_live.stop();
  settle();
}

// All that was read has gone to the engine, and nothing more comes.
void WatchController::settle() {
  const auto* running = std::get_if<Running>(&m_state);
  if (running != nullptr && !m_live.reading() && !m_live.hasClip() && running->clip == 0) {
    m_state = Ended{};
    if (!m_source.seen) m_session.subject.setWatched(std::nullopt);
  }
  goOn();
  show();
}

void WatchController::stopClips() {
  m_live.stop();
  if (const auto* running = std::get_if<Running>(&m_state); running != nullptr && running->clip != 0) m_engine.cancel(running->clip);
}

void WatchController::letGo() {
  if (idle()) return;
  stopClips();
  m_state = Idle{};
  m_session.subject.setWatched(std::nullopt);
  goOn();
  show();
}

void WatchController::lose(const QString& reason) {
  const bool nothing = std::holds_alternative<Ended>(m_state) && (lost() || !m_source.seen);
  if (idle() || nothing) return;
  stopClips();
  m_state = Ended{/*lost=*/true};
  m_notice = reason;
  m_session.subject.setWatched(std::nullopt);
  goOn();
  show();
}

void WatchController::loseWithEngine(ErrorCode code) {
  lose(app::describeError({code, "", ""}).cause + QLatin1Char(' ') + tr("Watch it again."));
}

// ---- clips -------------------------------------------------------------------------------------------------------------------------

void WatchController::catchUp(std::function<void()> then) {
  m_waiting = Waiting{std::move(then)};
  m_live.catchUp();
  goOn();
}

void WatchController::goOn() {
  if (!m_waiting) return;
  const bool more = std::holds_alternative<Running>(m_state) && (m_live.hasClip() || (m_live.reading() && !m_waiting->caughtUp));
  if (!more) std::exchange(m_waiting, std::nullopt)->then();
}

void WatchController::feed() {
  const bool ready = m_session.model.state() == ModelState::kReady && (!m_session.answers.busy() || m_waiting);
  auto* running = std::get_if<Running>(&m_state);
  if (running == nullptr || m_source.conversation == 0 || running->clip != 0 || !m_live.hasClip() || !ready) return;
  WatchClip clip;
  clip.turn = m_session.answers.turnOf(m_session.subject.aboutWatched(QString()));
  clip.begins = !std::exchange(running->begun, true);
  clip.frames = m_live.takeClip();
  m_picture = pictureOf(clip.frames.back().image);
  running->clip = m_engine.post(std::move(clip), this, [this](const Event& event) { onEngineEvent(event); });
}

void WatchController::onEngineEvent(const Event& event) {
  auto* running = std::get_if<Running>(&m_state);
  if (running == nullptr || event.id != running->clip || !ends_request(event)) return;  // of what was let go
  running->clip = 0;
  if (const auto* watched = std::get_if<Watched>(&event.body)) {
    m_watched = *watched;
    if (!std::exchange(m_source.seen, true)) m_session.subject.setWatched(m_source);
  } else {
    m_live.stop();
    m_notice = tr("Watching was interrupted.");
  }
  const auto* failed = std::get_if<Failed>(&event.body);
  if (failed != nullptr && m_source.seen && app::isEngineEnd(failed->error.code)) return loseWithEngine(failed->error.code);
  if (failed != nullptr) {
    const app::ErrorText text = app::describeWatchFault(failed->error, name());
    m_notice = text.cause + QLatin1Char(' ') + text.remedy;
  }
  feed();
  settle();
}

// ---- what is shown -----------------------------------------------------------------------------------------------------------------

void WatchController::showDescription() {
  const Description& description = m_watched.description;
  (new DescriptionDialog(sentencesOf(description), description.useful, {}, m_bar.window()))->open();
}

QString WatchController::textNow() const {
  if (std::holds_alternative<Ended>(m_state)) {
    if (lost()) return tr("Stopped. What was seen of %1 is gone.").arg(name());
    if (!m_source.seen) return tr("Stopped before anything was seen of %1.").arg(name());
    return tr("Stopped after %1. You can still ask about it.").arg(app::formatClock(m_watched.seen_s));
  }
  if (!m_source.seen) return m_live.paused() ? tr("Paused: %1.").arg(name()) : tr("Waiting for the first frames of %1…").arg(name());
  const double share =
      m_watched.kv_bytes_full > 0 ? static_cast<double>(m_watched.kv_bytes) / static_cast<double>(m_watched.kv_bytes_full) : 1.0;
  const auto frames = static_cast<int>(m_watched.frames);
  const QString text = m_live.paused() ? tr("Paused %1 after %2: %Ln frame(s), %3 kept (%4)", nullptr, frames)
                                       : tr("Watching %1 for %2: %Ln frame(s), %3 kept (%4)", nullptr, frames);
  return text.arg(name(), app::formatClock(m_watched.seen_s), app::formatShare(share), app::formatBytes(m_watched.kv_bytes));
}

void WatchController::show() {
  WatchView view;
  if (here()) {
    view.stage = std::holds_alternative<Ended>(m_state) ? WatchView::Stage::kEnded
                 : !m_live.reading()                    ? WatchView::Stage::kEnding
                 : m_live.paused()                      ? WatchView::Stage::kPaused
                                                        : WatchView::Stage::kRunning;
    view.text = textNow();
    view.notice = m_notice;
    view.picture = m_picture;
    view.again = view.stage == WatchView::Stage::kEnded;
    if (!lost()) view.shares = m_watched.shares;
    view.described = !lost() && !m_watched.description.words.empty();
  }
  m_bar.setView(view);
}

}  // namespace winnow::ui
