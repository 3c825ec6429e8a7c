#include "ui/shell/serving_notice.h"

#include "ui/shell/serving.h"

namespace winnow::ui {

ServingNotice::ServingNotice(Serving& serving, QWidget* parent) : NoticeBar(parent), m_serving(serving) {
  connect(&m_serving, &Serving::changed, this, &ServingNotice::update);
}

QString ServingNotice::words() const {
  const app::ApiServer& server = *m_serving.server();
  const QString counts = tr("Answered: %1 · waiting: %2").arg(server.answered()).arg(server.waiting());
  const QString now = server.isAnswering() ? tr("one is being answered") : QString();
  return tr("Other programs ask this model at %1").arg(m_serving.address()) + QStringLiteral(" · ") + counts +
         (now.isEmpty() ? QString() : QStringLiteral(" · ") + now);
}

// The button stays while the words change: it may have the keyboard.
void ServingNotice::update() {
  if (m_serving.server() == nullptr) return dismiss();
  if (!isHidden()) return setText(words());
  Notice notice;
  notice.text = words();
  notice.closable = false;
  notice.actions.push_back({tr("Stop serving"), [this] { m_serving.setOn(false); }});
  present(notice);
}

}  // namespace winnow::ui
