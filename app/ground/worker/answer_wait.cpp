#include "app/ground/worker/answer_wait.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

using std::chrono::milliseconds;

AnswerWait::AnswerWait(WorkerChannel& channel, InterruptToken interrupt, std::function<void(Interrupt)> tell, milliseconds reaction,
                       Clock::time_point answer)
    : m_channel(channel),
      m_interrupt(std::move(interrupt)),
      m_tell(std::move(tell)),
      m_reaction(reaction),
      m_latest(answer),
      m_wakers(m_interrupt.descriptors()) {}

std::optional<ChannelMessage> AnswerWait::next() {
  while (true) {
    if (const Interrupt wanted = m_interrupt.state(); wanted > m_told) {
      if (m_told == Interrupt::kNone) m_latest = Clock::now() + m_reaction;
      m_told = wanted;
      m_wakers = m_interrupt.descriptors(wanted);
      m_tell(wanted);
    }
    const bool forEver = m_latest == Clock::time_point::max();
    const auto left = forEver ? milliseconds(-1) : std::max(std::chrono::ceil<milliseconds>(m_latest - Clock::now()), milliseconds(0));
    auto message = m_channel.receive(left, m_wakers);
    if (!forEver && Clock::now() > m_latest) return std::nullopt;
    if (message) return message;
  }
}

void AnswerWait::allow(Clock::duration more) {
  if (m_latest != Clock::time_point::max()) m_latest += more;
}

}  // namespace winnow::app
