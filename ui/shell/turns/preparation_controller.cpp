#include "ui/shell/turns/preparation_controller.h"

#include <algorithm>
#include <utility>

#include "app/ground/process/power_supply.h"
#include "app/words/attached_words.h"
#include "app/words/format_text.h"
#include "engine/metrics/kept_figures.h"
#include "engine/recipes/method_info.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/composer.h"
#include "ui/composer/method_control.h"
#include "ui/recipes/later_questions.h"
#include "ui/shell/chat/thread_media.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {
namespace {

constexpr int kPrepareAfterMs = 1200;  // after the plan, which is quick

bool sameAttachment(const app::Attachment& a, const app::Attachment& b) { return app::asksTheSame(a, b) && a.pins == b.pins; }

// Those that are not read with the last message's.
int mediaBefore(const Turn& turn) {
  if (turn.guard == Guard::kAlone) return 0;
  int count = 0;
  for (std::size_t i = 0; i + 1 < turn.messages.size(); ++i) {
    const std::vector<Item>& items = turn.messages[i].items;
    count += static_cast<int>(
        std::count_if(items.begin(), items.end(), [](const Item& item) { return std::holds_alternative<MediaItem>(item); }));
  }
  return count;
}

}  // namespace

bool PreparationController::Subject::sameAs(const Subject& other) const {
  const bool sameChat =
      conversation == other.conversation || conversation == kDraftConversation || other.conversation == kDraftConversation;
  return sameChat && after == other.after && systemPrompt == other.systemPrompt && recipe == other.recipe && guard == other.guard &&
         std::equal(attachments.begin(), attachments.end(), other.attachments.begin(), other.attachments.end(), sameAttachment);
}

PreparationController::PreparationController(const WindowServices& services, ChatSession& session, Composer& composer,
                                             PreparationLine& line, QObject* parent)
    : QObject(parent),
      m_engine(services.engine),
      m_lines(services.store),
      m_session(session),
      m_settings(services.settings),
      m_composer(composer),
      m_line(line) {
  m_timer.setSingleShot(true);
  m_timer.setInterval(kPrepareAfterMs);
  connect(&m_timer, &QTimer::timeout, this, &PreparationController::begin);
  connect(&m_composer, &Composer::draftChanged, this, &PreparationController::consider);
  connect(&m_session.answers, &AnswerRun::stateChanged, this, &PreparationController::consider);
  connect(&m_session.chat, &OpenChat::shown, this, &PreparationController::consider);
  connect(&m_settings, &app::Settings::changed, this, &PreparationController::consider);
  connect(&m_session.answers, &AnswerRun::sent, this, [this] {
    m_sent = m_stage == Stage::kRunning;
    show();
  });
  connect(&m_session.answers, &AnswerRun::partTaken, this, &PreparationController::drop);
  connect(&m_line, &PreparationLine::actionTriggered, this, &PreparationController::act);
}

PreparationController::Subject PreparationController::subjectNow() const {
  Subject subject{.conversation = m_session.chat.id()};
  const QList<app::StoredMessage> branch = m_session.chat.branch();
  if (!branch.isEmpty()) subject.after = branch.last().id;
  subject.attachments = m_composer.draft().attachments;
  subject.systemPrompt = m_session.chat.options().systemPrompt;
  subject.recipe = m_session.chat.options().recipe.spec;
  subject.guard = laterGuard(m_session.chat.options().laterQuestions, subject.recipe);
  return subject;
}

void PreparationController::consider() {
  const AnswerRun& answers = m_session.answers;
  // The question that is being saved or answered is what was prepared for.
  if (m_stage == Stage::kRunning && answers.busy() && answers.blockedReason().isEmpty()) return;
  const bool ready = m_session.model.state() == ModelState::kReady && answers.canSend() && !m_composer.tray()->opening();
  const Subject now = subjectNow();
  if (now.attachments.isEmpty() || now.readAgain() || m_session.subject.watchesHere() ||
      !lackText(m_session.model, Ability::kPrepare).isEmpty() || m_settings.unasked().prepare == app::Unasked::kNever)
    return drop();
  if (m_stage != Stage::kNone && now.sameAs(m_subject)) {
    m_subject.conversation = now.conversation;
    if (m_stage == Stage::kWaiting && ready && !m_timer.isActive()) m_timer.start();
    return;
  }
  drop();
  m_subject = now;
  m_stage = Stage::kWaiting;
  if (ready) m_timer.start();
}

void PreparationController::begin() {
  if (m_stage != Stage::kWaiting || m_composer.tray()->tooLong()) return;  // a shorter one is another subject
  if (m_settings.unasked().prepare == app::Unasked::kAlways) return start();
  app::tellMains(this, [this](bool mains) {
    if (m_stage != Stage::kWaiting) return;
    if (mains) return start();
    m_stage = Stage::kDeclined;
    show();
  });
}

void PreparationController::start() {
  m_media.clear();
  m_report = {};
  m_frames = {};
  m_progress.begin({.pictures = !onlyTexts(), .reading = describe(m_subject.recipe).value_or(RecipeTraits()).before_question});
  try {
    Turn turn = m_session.answers.turnIfSent({m_composer.draft().text, m_subject.attachments});
    for (int i = mediaBefore(turn); i > 0; --i) m_media.append(DescribedMedium());
    m_request = m_engine.post(Prepare{std::move(turn)}, this, [this](const Event& event) { onEngineEvent(event); });
    m_stage = Stage::kRunning;
  } catch (const Exception&) {
    m_stage = Stage::kFailed;  // sending says what is missing
  }
  show();
}

void PreparationController::drop() {
  m_timer.stop();
  if (m_request != 0) m_engine.cancel(std::exchange(m_request, 0));
  m_stage = Stage::kNone;
  m_sent = false;
  show();
}

void PreparationController::act() {
  if (m_stage == Stage::kRunning) {
    m_engine.cancel(std::exchange(m_request, 0));
    m_stage = Stage::kDeclined;
    show();
  } else if (m_stage == Stage::kDeclined) {
    start();
  } else if (m_stage == Stage::kReady) {
    showDescription();
  }
}

void PreparationController::onEngineEvent(const Event& event) {
  if (event.id != m_request) return;  // of media that have changed since
  if (const auto* progress = std::get_if<Progress>(&event.body)) {
    m_progress.take(*progress);
    m_frames = *progress;
  } else if (const auto* sampled = std::get_if<MediaSampled>(&event.body)) {
    const bool video = sampled->kind == MediaKind::kVideo;
    if (sampled->kind == MediaKind::kDocument)
      m_composer.tray()->judgeDocuments({{QByteArray::fromStdString(sampled->path), sampled->all_tokens}});
    m_media.append({QByteArray::fromStdString(sampled->path), sampled->kind, video ? sampled->actual_s : std::vector<double>()});
  } else if (const auto* report = std::get_if<CacheReport>(&event.body)) {
    m_report = *report;
    keepDescription();
  } else if (const auto* prepared = std::get_if<Prepared>(&event.body)) {
    m_prepared = *prepared;
    m_stage = Stage::kReady;
    Q_EMIT ready();
  } else if (ends_request(event)) {
    m_stage = Stage::kFailed;  // sending says the same, with what can be done about it
  }
  if (ends_request(event)) {
    m_request = 0;
    m_sent = false;
  }
  show();
  if (m_request == 0) consider();
}

// The description is found and is the contents, before anything is asked.
void PreparationController::keepDescription() {
  const QHash<int, QList<app::FileLine>> lines = describedLines(m_report.description, m_media);
  for (auto medium = lines.begin(); medium != lines.end(); ++medium) {
    for (const app::Attachment& attachment : m_subject.attachments) {
      if (attachment.path == m_media[medium.key()].path && !attachment.sha256.isEmpty() && isWhole(attachment.plan))
        m_lines.store(attachment.sha256, app::LineKind::kDescribed, medium.value());
    }
    for (int i = 0; i < m_composer.tray()->count(); ++i) {
      AttachmentCard* card = m_composer.tray()->card(i);
      const app::Attachment& shown = card->attachment();
      const bool described = shown.path == m_media[medium.key()].path && isWhole(shown.plan);
      if (shown.kind == MediaKind::kVideo && described) card->noteContents();
    }
  }
}

void PreparationController::showDescription() {
  auto* dialog = new DescriptionDialog(sentencesOf(m_report.description), m_report.description.useful, m_media, m_line.window());
  connect(dialog, &DescriptionDialog::frameActivated, m_composer.tray(), &AttachmentTray::frameActivated);
  dialog->open();
}

// Nothing of a text is decoded.
bool PreparationController::onlyTexts() const {
  return std::all_of(m_subject.attachments.begin(), m_subject.attachments.end(),
                     [](const app::Attachment& attachment) { return attachment.kind == MediaKind::kDocument; });
}

void PreparationController::show() {
  PreparationView view;
  if (m_stage == Stage::kRunning) {
    const QString reading = m_progress.startsAgain()            ? tr("The engine starts again")
                            : !onlyTexts()                      ? tr("Preparing")
                            : m_subject.attachments.size() == 1 ? tr("Reading the document")
                                                                : tr("Reading the documents");
    const std::optional<double> left = m_progress.leftMs();
    const QString text = left ? tr("%1: about %2 left").arg(reading, app::formatSeconds(*left)) : reading + QStringLiteral("…");
    view.text = m_sent ? tr("Your question is next. %1").arg(text) : text;
    view.share = m_progress.share();
    if (!m_sent) view.action = tr("Not now");
    if (m_sent) m_session.answers.showWaiting(text, view.share, m_frames);
  } else if (m_stage == Stage::kDeclined) {
    view.text = tr("Not prepared. Your files are read when you ask.");
    view.action = tr("Prepare now");
  } else if (m_stage == Stage::kReady && m_prepared.compressed) {
    const bool once = m_subject.guard == Guard::kPrefill;  // the next question reads it again
    const TokenCounts thread = thread_tokens(m_report);
    const QString share = app::formatShare(kept_share(slots_of(m_report.layers), thread));
    view.text =
        (once ? tr("Ready. Keeps %1 of %2 (%3 of %4) for this question.") : tr("Ready. Keeps %1 of %2 (%3 of %4) for all your questions."))
            .arg(share, app::attachedNoun(app::attachedKind(m_subject.attachments)), app::formatBytes(m_report.kv_bytes.after_event),
                 app::formatBytes(m_report.kv_bytes.full));
    if (!m_report.description.words.empty()) view.action = tr("What is kept…");
  } else if (m_stage == Stage::kReady) {
    view.text = onlyTexts() ? tr("The document is read with your question: this method needs the question to compress.")
                            : tr("Ready. This method compresses once it knows your question.");
  }
  m_line.setView(view);
}

}  // namespace winnow::ui
