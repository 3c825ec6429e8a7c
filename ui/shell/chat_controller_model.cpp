// The model of ChatController: loading and its events; the rest is in chat_controller.cpp.
#include <QFile>

#include "ui/shell/chat_controller.h"

namespace winnow::ui {

void ChatController::loadModel(const QString& folder) {
  if (folder.isEmpty()) return;
  if (m_modelState == ModelState::kLoading) m_engine.cancel(m_modelRequest);
  if (m_run) stop();
  m_modelFolder = folder;
  m_modelState = ModelState::kLoading;
  m_modelError.reset();
  m_modelProgress = phaseText(Phase::kLoadWeights, 0, 0);
  m_modelRequest =
      m_engine.post(LoadModel{QFile::encodeName(folder).toStdString(), m_device, WeightFormat::kAuto}, this, [this](const Event& event) {
        if (event.id == m_modelRequest) onModelEvent(event.body);  // not that of a model given up for another
      });
  Q_EMIT modelChanged();
  Q_EMIT stateChanged();
}

void ChatController::onModelEvent(const EventBody& body) {
  if (const auto* progress = std::get_if<Progress>(&body)) {
    m_modelProgress = phaseText(progress->phase, progress->done, progress->total);
  } else if (const auto* loaded = std::get_if<ModelLoaded>(&body)) {
    m_model = loaded->info;
    if (!m_demoModelFolder.isEmpty() && m_modelFolder == m_demoModelFolder) m_model.name = tr("Demo model").toStdString();
    m_modelState = ModelState::kReady;
    m_modelRequest = 0;
    m_settings.setLastModelFolder(m_modelFolder);
  } else if (const auto* failed = std::get_if<Failed>(&body)) {
    m_modelError = failed->error;
    m_modelState = ModelState::kFailed;
    m_modelRequest = 0;
  } else if (std::holds_alternative<Finished>(body)) {
    m_modelState = ModelState::kNone;  // interrupted
    m_modelRequest = 0;
  }
  Q_EMIT modelChanged();
  Q_EMIT stateChanged();
}

}  // namespace winnow::ui
