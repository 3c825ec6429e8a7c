#include "ui/shell/model/model_session.h"

#include <QFile>
#include <utility>

#include "app/library/models/model_folders.h"
#include "ui/models/cache_monitor.h"

namespace winnow::ui {

ModelSession::ModelSession(app::EngineHost& engine, app::Settings& settings, QObject* parent)
    : QObject(parent), m_engine(engine), m_settings(settings) {
  // They may be read after the first model was asked for.
  connect(&settings, &app::Settings::changed, this, [this](const QString& key) {
    if (key == QLatin1String(app::setting_keys::kWeights)) followWeights();
  });
}

WeightFormat ModelSession::weights() const { return m_format != WeightFormat::kAuto ? m_format : m_settings.weights(); }

void ModelSession::chooseWeights(WeightFormat format) {
  m_format = WeightFormat::kAuto;
  m_settings.setWeights(format);
  followWeights();
}

void ModelSession::followWeights() {
  if (m_state != ModelState::kNone && m_asked.weights != weights()) load(m_asked.path, m_asked.name);
}

std::optional<ModelTraits> ModelSession::traits() const { return m_info.layers > 0 ? std::optional(m_info.traits) : std::nullopt; }

void ModelSession::load(const QString& path, const QString& name) {
  if (path.isEmpty()) return;
  if (m_state == ModelState::kLoading) m_engine.cancel(m_request);
  Q_EMIT aboutToLoad();
  m_error.reset();
  post({path, name, weights()});
}

void ModelSession::post(const Asked& asked) {
  m_asked = asked;
  m_state = ModelState::kLoading;
  m_progress = phaseText(Phase::kLoadWeights, 0, 0);
  LoadModel request{.folder = QFile::encodeName(asked.path).toStdString(), .device = m_device, .format = asked.weights};
  m_request = m_engine.post(std::move(request), this, [this](const Event& event) {
    // A model given up for another reports only that it has cost the one before.
    if (event.id == m_request || std::holds_alternative<ModelUnloaded>(event.body)) onEvent(event.body);
  });
  Q_EMIT changed();
}

// The last one asked for is not there: the one before it is, or has to be read again.
void ModelSession::keepBefore() {
  if (m_before) {
    m_asked = *m_before;
    m_state = ModelState::kReady;
  } else if (!m_lost.path.isEmpty() && m_lost.path != m_asked.path) {
    post(m_lost);
    return;
  } else {
    m_state = m_error ? ModelState::kFailed : ModelState::kNone;
  }
  Q_EMIT changed();
}

void ModelSession::onEvent(const EventBody& body) {
  if (std::holds_alternative<ModelUnloaded>(body)) {
    if (!m_before) return;
    m_lost = *std::exchange(m_before, std::nullopt);
    Q_EMIT gone();
    return;
  }
  if (const auto* progress = std::get_if<Progress>(&body)) {
    m_progress = phaseText(progress->phase, progress->done, progress->total);
  } else if (const auto* loaded = std::get_if<ModelLoaded>(&body)) {
    m_info = loaded->info;
    if (std::exchange(m_before, m_asked)) Q_EMIT gone();
    if (isDemo()) {
      m_info.name = tr("Demo model").toStdString();
    } else if (const QString placed = app::modelNameOf(m_asked.path); !m_asked.name.isEmpty() || placed.contains(QLatin1Char('/'))) {
      m_info.name = (m_asked.name.isEmpty() ? placed : m_asked.name).toStdString();  // "owner/name": its folder is called by a revision
    }
    m_state = ModelState::kReady;
    m_settings.setLastModelFolder(m_asked.path);
    Q_EMIT opened(m_asked.path);
  } else if (const auto* failed = std::get_if<Failed>(&body)) {
    const QString path = m_asked.path;
    m_error = failed->error;
    keepBefore();
    Q_EMIT refused(failed->error, path);
    return;
  } else if (std::holds_alternative<Finished>(body)) {
    keepBefore();  // interrupted
    return;
  }
  Q_EMIT changed();
}

app::Run ModelSession::newRun() const {
  return {.modelName = QString::fromStdString(m_info.name),
          .modelFolder = QString::fromStdString(m_info.folder),
          .family = QString::fromStdString(m_info.family),
          .device = QString::fromStdString(m_info.device)};
}

QString ModelSession::blockedReason() const {
  switch (m_state) {
    case ModelState::kNone: return tr("Choose a model first.");
    case ModelState::kLoading: return tr("The model is still being loaded.");
    case ModelState::kFailed: return tr("No model is loaded. Choose another one.");
    case ModelState::kReady: break;
  }
  return {};
}

}  // namespace winnow::ui
