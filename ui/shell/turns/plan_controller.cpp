#include "ui/shell/turns/plan_controller.h"

#include <algorithm>

#include "ui/composer/composer.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/recipes/recipe_words.h"
#include "ui/shell/chat/later_question.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {
namespace {

constexpr int kPlanAfterMs = 350;  // typing goes on within less

bool sameMedia(const QList<app::Attachment>& a, const QList<app::Attachment>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const app::Attachment& one, const app::Attachment& other) { return app::asksTheSame(one, other); });
}

bool isEmpty(const app::Draft& draft) { return draft.text.trimmed().isEmpty() && draft.attachments.isEmpty(); }

}  // namespace

PlanController::PlanController(const WindowServices& services, ChatSession& session, Composer& composer, PlanLine& line, QObject* parent)
    : QObject(parent), m_engine(services.engine), m_session(session), m_settings(services.settings), m_composer(composer), m_line(line) {
  m_timer.setSingleShot(true);
  m_timer.setInterval(kPlanAfterMs);
  connect(&m_timer, &QTimer::timeout, this, &PlanController::ask);
  connect(&m_composer, &Composer::draftChanged, this, &PlanController::schedule);
  connect(&m_session.answers, &AnswerRun::stateChanged, this, &PlanController::schedule);
  connect(&m_session.chat, &OpenChat::shown, this, &PlanController::schedule);
  connect(&m_settings, &app::Settings::changed, this, &PlanController::schedule);
  connect(&m_session.answers.monitor(), &CacheMonitor::changed, this, &PlanController::rememberMass);
  connect(&m_line, &PlanLine::remedyChosen, this, &PlanController::apply);
}

void PlanController::schedule() {
  showMass();
  const ModelInfo info = m_session.model.state() == ModelState::kReady ? m_session.model.info() : ModelInfo();
  m_composer.tray()->offerDetails(info.picture_detail, info.frame_detail);
  m_composer.tray()->suit(info.traits);
  if (m_request != 0) m_engine.cancel(std::exchange(m_request, 0));
  const app::Draft draft = m_composer.draft();
  const bool watched = m_session.subject.watchesHere();  // its bar says what is there
  // If the model is not the last answer's, its needs are foreseen before anything is written.
  const bool nothing = watched || !lackText(m_session.model, Ability::kPlan).isEmpty() || (isEmpty(draft) && !readByAnother());
  if (isEmpty(draft)) m_line.clear();
  if (nothing || m_session.model.state() != ModelState::kReady) {
    m_line.clear();
    setForeseen(std::nullopt);
  }
  if (nothing || !m_session.answers.canSend()) {
    m_timer.stop();
  } else {
    m_timer.start();
  }
}

bool PlanController::readByAnother() const {
  LaterQuestion later{.modelFolder = QString::fromStdString(m_session.model.info().folder)};
  return anotherModelReads(m_session.chat.branch(), later);
}

void PlanController::ask() {
  if (m_composer.tray()->opening()) return;  // its end is a change of the draft
  app::Draft draft = m_composer.draft();
  m_written = !isEmpty(draft);
  if (!m_written) draft.text = QStringLiteral("…");
  m_documents.clear();
  const ModelTraits& traits = m_session.model.info().traits;
  m_subject = {draft.attachments, m_session.chat.options().recipe.spec,  traits.reads_narrow_cache,
               traits.window,     m_session.model.info().picture_detail, m_session.model.info().frame_ms};
  try {
    m_request = m_engine.post(Plan{m_session.answers.turnIfSent(draft)}, this, [this](const Event& event) { onEngineEvent(event); });
  } catch (const Exception&) {
    m_line.clear();  // nothing is asked yet; sending will say what is missing
  }
}

void PlanController::onEngineEvent(const Event& event) {
  if (event.id != m_request) return;  // of a draft that has changed since
  if (const auto* planned = std::get_if<Planned>(&event.body)) {
    if (m_written) m_line.setPlan(describePlan(*planned, m_subject));
    const QList<app::StoredMessage> branch = m_session.chat.branch();
    const bool later = std::any_of(branch.begin(), branch.end(), [](const app::StoredMessage& message) { return message.hasRun; });
    setForeseen(Foreseen{later && planned->goes_on_from.empty(), planned->expected_ms});
    if (!m_documents.empty()) m_composer.tray()->judgeDocuments(documentRooms(*planned, m_documents));
  } else if (const auto* medium = std::get_if<MediaSampled>(&event.body)) {
    (medium->kind == MediaKind::kDocument ? m_documents : m_subject.seen).push_back(*medium);
  } else if (std::holds_alternative<Failed>(event.body)) {
    m_line.clear();  // sending says the same, with what can be done about it
  }
  if (ends_request(event)) m_request = 0;
}

void PlanController::setForeseen(const std::optional<Foreseen>& foreseen) {
  if (foreseen == m_foreseen) return;
  m_foreseen = foreseen;
  Q_EMIT changed();
}

void PlanController::apply(const PlanRemedy& remedy) {
  switch (remedy.kind) {
    case PlanRemedy::Kind::kFrames: m_composer.tray()->scaleFrames(remedy.factor); break;
    case PlanRemedy::Kind::kRetention: m_composer.method()->setShare(remedy.retention); break;
    case PlanRemedy::Kind::kNarrowCache: m_composer.method()->storeInEightBits(); break;
    case PlanRemedy::Kind::kReadTwice: m_composer.method()->readTwice(); break;
    case PlanRemedy::Kind::kDetail: m_composer.tray()->setDetails({{DetailLevel::kMedium}, m_composer.tray()->details().frames}); break;
  }
}

void PlanController::rememberMass() {
  const CacheFigures& figures = m_session.answers.monitor().figures();
  if (!figures.active || figures.retainedMass.empty() || !m_session.answers.writingHere()) return;
  if (m_scored.conversation == m_session.chat.id() && figures.retainedMass.size() == m_scored.mass.size() &&
      std::equal(m_scored.mass.begin(), m_scored.mass.end(), figures.retainedMass.begin(),
                 [](const RetainedMass& a, const RetainedMass& b) { return a.mass == b.mass; })) {
    return;
  }
  m_scored = {m_session.chat.id(), figures.method.toStdString(), {}, figures.retainedMass};
  const QList<app::StoredMessage> thread = m_session.chat.branch();
  const auto question =
      std::find_if(thread.rbegin(), thread.rend(), [](const app::StoredMessage& message) { return message.role == Role::kUser; });
  if (question != thread.rend()) m_scored.media = question->attachments;
  showMass();
}

void PlanController::showMass() {
  const RecipeSpec& recipe = m_session.chat.options().recipe.spec;
  const QList<app::Attachment> attached = m_composer.draft().attachments;
  const bool about = m_scored.conversation != 0 && m_scored.conversation == m_session.chat.id() && m_scored.method == recipe.method &&
                     recipe.scorer.empty() && recipe.scope.empty() && (attached.isEmpty() || sameMedia(attached, m_scored.media));
  m_composer.method()->setRetainedMass(about ? m_scored.mass : std::vector<RetainedMass>());
}

}  // namespace winnow::ui
