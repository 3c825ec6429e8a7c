#include "ui/shell/turns/answer_check.h"

#include <algorithm>
#include <utility>

#include "app/ground/process/power_supply.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/composer/composer.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"

namespace winnow::ui {
namespace {

constexpr int kUnwantedMs = 4000;

// Every recipe of its cache keeps everything: it is the full cache's.
bool isFull(const app::Run& run) {
  return std::ranges::all_of(app::namedMakers(run), [](const app::NamedRecipe& maker) {
    return keeps_everything(maker.spec) || (!maker.spec.budget_tokens && maker.spec.retention >= 1.0);
  });
}

}  // namespace

AnswerCheck::AnswerCheck(const WindowServices& services, ChatSession& session, TranscriptView& transcript, Composer& composer,
                         QObject* parent)
    : QObject(parent),
      m_engine(services.engine),
      m_store(services.store),
      m_settings(services.settings),
      m_session(session),
      m_transcript(transcript),
      m_composer(composer) {
  connect(&m_transcript, &TranscriptView::checkRequested, this, &AnswerCheck::check);
  connect(&m_session.model, &ModelSession::aboutToLoad, this, &AnswerCheck::stop);
  m_quiet.setParent(this);
  m_quiet.setObjectName(QStringLiteral("quiet"));
  m_quiet.setSingleShot(true);
  m_quiet.setInterval(kUnwantedMs);
  connect(&m_quiet, &QTimer::timeout, this, &AnswerCheck::foresee);
  connect(&m_session.answers, &AnswerRun::stateChanged, this, [this] {
    if (const std::optional<AnswerPhase> written = m_session.answers.phase()) m_written = written->answer;
    consider();
  });
  connect(&m_session.chat, &OpenChat::shown, this, &AnswerCheck::consider);
  connect(&m_composer, &Composer::draftChanged, this, &AnswerCheck::consider);
  connect(&m_settings, &app::Settings::changed, this, &AnswerCheck::consider);
}

const app::StoredMessage* AnswerCheck::find(app::MessageId answer) const {
  const QList<app::StoredMessage> branch = m_session.chat.branch();
  const auto found = std::find_if(branch.rbegin(), branch.rend(), [answer](const app::StoredMessage& message) {
    return message.role == Role::kAssistant && message.hasRun && !message.text.isEmpty() && (answer == 0 || message.id == answer);
  });
  return found == branch.rend() ? nullptr : m_session.chat.message(found->id);
}

bool AnswerCheck::canCheck() const { return find(0) != nullptr && lackText(m_session.model, Ability::kScore).isEmpty(); }

void AnswerCheck::check(app::MessageId answer) {
  const app::StoredMessage* message = find(answer);
  if (message == nullptr || !m_session.answers.canSend()) return;
  if (const QString lack = lackText(m_session.model, Ability::kScore); !lack.isEmpty()) return m_composer.showNotice(lack);
  if (message->run.modelFolder != QString::fromStdString(m_session.model.info().folder)) {
    m_composer.showNotice(
        tr("Another model wrote this answer (%1). Load it to check the answer.").arg(app::displayText(message->run.modelName)));
    return;
  }
  if (!message->run.begunBy.isEmpty()) {
    m_composer.showNotice(tr("More than one model wrote this answer: it cannot be checked against one full cache."));
    return;
  }
  try {
    Score score = scoreOf(*message);
    if (m_unasked) end();
    post(std::move(score), *message);
  } catch (const Exception& exception) {
    Q_EMIT problem(exception.error(), message->id);
    return;
  }
  m_session.answers.setOccupied(tr("An answer is being checked against the full cache."));
  m_transcript.setPhase(m_answer, tr("Checking against the full cache"), -1.0);
  Q_EMIT stateChanged();
}

Score AnswerCheck::scoreOf(const app::StoredMessage& answer) const {
  Score score;
  score.turn = m_session.answers.turnOf(m_session.chat.id(), m_session.chat.threadTo(answer.parent), m_session.chat.options(),
                                        answer.run.recipe.spec);
  score.turn.guard = answer.run.guard;
  score.turn.sampling = with_choice(Sampling(), answer.run.sampling);
  score.turn.prompt.thinking = thinking_of(score.turn.sampling);
  score.answer = answer.text.toStdString();
  score.thought = answer.thought.toStdString();
  score.ended = answer.state == app::MessageState::kComplete ? answer.run.stopReason : StopReason::kInterrupted;
  return score;
}

void AnswerCheck::post(Score score, const app::StoredMessage& answer) {
  m_answer = answer.id;
  m_request = m_engine.post(std::move(score), this, [this](const Event& event) { onEvent(event); });
}

// The last answer written, if a check of it would tell something and nobody wants anything else.
const app::StoredMessage* AnswerCheck::unchecked() const {
  if (m_written == 0 || m_settings.unasked().check == app::Unasked::kNever || !m_session.answers.canSend() ||
      !m_composer.draft().isEmpty() || !canCheck())
    return nullptr;
  const app::StoredMessage* answer = find(m_written);
  const bool telling = answer != nullptr && answer->state == app::MessageState::kComplete && !answer->run.agreement &&
                       !isFull(answer->run) && answer->run.begunBy.isEmpty() &&
                       answer->run.modelFolder == QString::fromStdString(m_session.model.info().folder);
  return telling ? answer : nullptr;
}

void AnswerCheck::consider() {
  if (running()) return;
  const app::StoredMessage* answer = unchecked();
  if (m_request != 0 && (answer == nullptr || answer->id != m_answer)) end();
  answer == nullptr || m_request != 0 ? m_quiet.stop() : m_quiet.start();
}

void AnswerCheck::foresee() {
  if (m_settings.unasked().check == app::Unasked::kAlways) return askCost();
  app::tellMains(this, [this](bool mains) {
    if (mains) askCost();
  });
}

// The cost of the full cache is asked first: what was planned is not answered by somebody who waits.
void AnswerCheck::askCost() {
  const app::StoredMessage* answer = unchecked();
  if (answer == nullptr || m_request != 0) return;
  try {
    Plan plan{scoreOf(*answer).turn};
    plan.turn.recipe = RecipeSpec();
    plan.turn.recipe.method = "full";
    plan.turn.recipe.retention = 1.0;
    plan.turn.guard = Guard::kPrefill;
    m_unasked = true;
    m_answer = answer->id;
    m_request = m_engine.post(std::move(plan), this, [this](const Event& event) { onEvent(event); });
  } catch (const Exception&) {
    m_written = 0;
  }
}

void AnswerCheck::checkUnasked(const Planned& full) {
  const app::StoredMessage* answer = unchecked();
  end();
  m_written = 0;
  if (answer == nullptr) return;
  const auto refuse = [&](const QString& reason) { Q_EMIT notChecked(answer->id, reason); };
  if (!full.fits_context) return refuse(tr("Not checked: longer than the model reads"));
  if (!full.fits_memory) return refuse(tr("Not checked: needs %1").arg(app::formatBytes(full.peak_bytes)));
  if (full.expected_ms <= 0.0) return;
  const double wordsMs = static_cast<double>(answer->run.figures.tokens.generated) * full.expected_per_token_ms;
  const double bothMs = full.expected_ms + 2.0 * wordsMs;  // through both caches
  if (bothMs > app::UnaskedWork::kMostCheckMs) return refuse(tr("Not checked: takes about %1").arg(app::formatSeconds(bothMs)));
  m_written = answer->id;
  m_unasked = true;
  post(scoreOf(*answer), *answer);
}

void AnswerCheck::stop() {
  if (running()) m_engine.stop(m_request);
  if (m_unasked) end();
}

void AnswerCheck::onEvent(const Event& event) {
  if (event.id != m_request) return;  // of a check that was ended
  if (const auto* progress = std::get_if<Progress>(&event.body)) {
    if (m_unasked) return;
    m_transcript.setPhase(m_answer, tr("Checking: %1").arg(phaseText(progress->phase, progress->done, progress->total)),
                          phaseShare(progress->done, progress->total));
  } else if (const auto* scored = std::get_if<Scored>(&event.body)) {
    end();
    m_written = 0;
    m_store.saveAgreement(m_answer, scored->agreement);
    if (app::StoredMessage* message = m_session.chat.edit(m_answer)) message->run.agreement = scored->agreement;
    m_session.chat.tellChanged(m_answer);
  } else if (const auto* planned = std::get_if<Planned>(&event.body)) {
    checkUnasked(*planned);
  } else if (const auto* failed = std::get_if<Failed>(&event.body)) {
    const bool asked = !m_unasked;
    end();
    m_written = 0;
    if (asked) Q_EMIT problem(failed->error, m_answer);
  } else if (std::holds_alternative<Finished>(event.body)) {
    end();
  }
}

void AnswerCheck::end() {
  const RequestId request = std::exchange(m_request, 0);
  if (std::exchange(m_unasked, false)) return m_engine.cancel(request);
  m_transcript.setPhase(m_answer, QString(), -1.0);
  m_session.answers.setOccupied(QString());
  Q_EMIT stateChanged();
}

}  // namespace winnow::ui
