#include "app/ground/threads/interrupt_notifier.h"

#include <utility>

namespace winnow::app {

InterruptNotifier::InterruptNotifier(InterruptToken token, Interrupt beyond, std::function<void()> act)
    : m_token(std::move(token)), m_act(std::move(act)) {
  for (const int descriptor : m_token.descriptors(beyond)) {
    m_notifiers.push_back(std::make_unique<QSocketNotifier>(descriptor, QSocketNotifier::Read));
    QObject::connect(m_notifiers.back().get(), &QSocketNotifier::activated, m_notifiers.back().get(), [this] { notified(); });
  }
}

// A raised token's descriptor stays readable.
void InterruptNotifier::notified() {
  for (const auto& notifier : m_notifiers) notifier->setEnabled(false);
  if (const auto act = std::exchange(m_act, nullptr)) act();
}

}  // namespace winnow::app
