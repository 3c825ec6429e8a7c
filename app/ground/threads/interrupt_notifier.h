// Tells an event loop of an interrupt, as its timers and sockets are told: nobody looks at the token again and again.
#pragma once

#include <QSocketNotifier>
#include <functional>
#include <memory>
#include <vector>

#include "engine/base/interrupt.h"

namespace winnow::app {

class InterruptNotifier {
 public:
  // act: called once, by the loop of this thread, as soon as the token's state is beyond this one. It must outlive the loop's run.
  InterruptNotifier(InterruptToken token, Interrupt beyond, std::function<void()> act);

 private:
  void notified();

  const InterruptToken m_token;  // the descriptors live as long
  std::function<void()> m_act;
  std::vector<std::unique_ptr<QSocketNotifier>> m_notifiers;
};

}  // namespace winnow::app
