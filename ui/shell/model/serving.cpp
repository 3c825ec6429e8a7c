#include "ui/shell/model/serving.h"

#include <QApplication>
#include <QClipboard>

#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/model/model_session.h"

namespace winnow::ui {
namespace {

// Chats that say nothing else are answered so, too.
app::RequestDefaults defaultsOf(const app::Settings& settings) {
  return {.recipe = settings.defaultRecipe().spec,
          .sampling = with_choice(Sampling(), settings.chatDefaults().sampling),
          .plan = {.frame_count = settings.defaultFrameCount()}};
}

}  // namespace

Serving::Serving(const WindowServices& services, ModelSession& model, NoticeBar& faults, QObject* parent)
    : QObject(parent), m_serve(services.serve), m_settings(services.settings), m_model(model), m_faults(faults) {
  m_action = new QAction(tr("&Serve to other programs"), this);
  m_action->setCheckable(true);
  m_action->setEnabled(m_serve != nullptr);
  m_action->setToolTip(tr("Programs on this computer ask the loaded model by OpenAI’s API. Your own questions go first."));
  m_copy = new QAction(tr("Copy its a&ddress"), this);
  m_copy->setVisible(false);
  connect(m_copy, &QAction::triggered, this, [this] { QApplication::clipboard()->setText(address()); });
  connect(m_action, &QAction::triggered, this, &Serving::setOn);
  connect(&m_model, &ModelSession::changed, this, &Serving::follow);
}

Serving::~Serving() = default;

void Serving::setOn(bool on) {
  if (on == (m_server != nullptr)) return;
  m_served.reset();
  on ? start() : m_server.reset();
  m_action->setChecked(m_server != nullptr);
  m_copy->setVisible(m_server != nullptr);
  Q_EMIT changed();
}

void Serving::start() {
  if (m_serve == nullptr) return;
  try {
    m_server = m_serve(defaultsOf(m_settings));
  } catch (const Exception& problem) {
    const QString why = QString::fromStdString(problem.error().subject + ": " + problem.error().reason);
    return m_faults.present(
        {.text = tr("Other programs cannot be served: %1. Change that, and turn it on again.").arg(why), .error = true});
  }
  connect(m_server.get(), &app::ApiServer::changed, this, &Serving::changed);
  follow();
}

void Serving::follow() {
  if (!m_server) return;
  std::optional<QString> served;
  if (m_model.state() == ModelState::kReady)
    served = m_model.folder() + QLatin1Char('\n') + QString::fromStdString(m_model.info().dtype + m_model.info().device);
  if (served == m_served) return;
  m_served = served;
  m_server->setModel(served ? std::optional(m_model.info()) : std::nullopt);
}

QString Serving::address() const { return m_server ? QStringLiteral("http://127.0.0.1:%1/v1").arg(m_server->port()) : QString(); }

}  // namespace winnow::ui
