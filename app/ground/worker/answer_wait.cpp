#include "app/ground/worker/answer_wait.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

using std::chrono::milliseconds;

ToldInterrupt::ToldInterrupt(InterruptToken interrupt, std::function<void(Interrupt)> tell, milliseconds reaction, Clock::time_point latest)
    : m_interrupt(std::move(interrupt)),
      m_tell(std::move(tell)),
      m_reaction(reaction),
      m_latest(latest),
      m_wakers(m_interrupt.descriptors()) {}

void ToldInterrupt::tellIfNew() {
  const Interrupt wanted = m_interrupt.state();
  if (wanted <= m_told) return;
  if (m_told == Interrupt::kNone) m_latest = Clock::now() + m_reaction;
  m_told = wanted;
  m_wakers = m_interrupt.descriptors(wanted);
  m_tell(wanted);
}

void ToldInterrupt::restart() {
  if (m_told != Interrupt::kNone) m_latest = Clock::now() + m_reaction;
}

void ToldInterrupt::allow(Clock::duration more) {
  if (m_told != Interrupt::kNone) m_latest += more;
}

milliseconds timeUntil(ToldInterrupt::Clock::time_point latest) {
  if (latest == ToldInterrupt::Clock::time_point::max()) return milliseconds(-1);
  return std::max(std::chrono::ceil<milliseconds>(latest - ToldInterrupt::Clock::now()), milliseconds(0));
}

AnswerWait::AnswerWait(WorkerChannel& channel, InterruptToken interrupt, std::function<void(Interrupt)> tell, milliseconds reaction,
                       Clock::time_point answer)
    : m_channel(channel), m_interrupt(std::move(interrupt), std::move(tell), reaction, answer) {}

std::optional<ChannelMessage> AnswerWait::next() {
  while (true) {
    m_interrupt.tellIfNew();
    auto message = m_channel.receive(timeUntil(m_interrupt.latest()), m_interrupt.wakers());
    if (Clock::now() > m_interrupt.latest()) return std::nullopt;
    if (message) return message;
  }
}

}  // namespace winnow::app
