// The wait for what a process answers: until a message comes, the token is raised, or the time is over. Nobody looks again and again.
//
// An interrupt is told to the process once for each state, and from then on the process has this long to react. Errors: those of
// WorkerChannel. Threads: one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "app/ground/worker/worker_channel.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

// An interrupt that a process is told of, once for each state. From the first on it has so long to react.
class ToldInterrupt {
 public:
  using Clock = std::chrono::steady_clock;

  // tell: sends the process a new state of the token. latest: without an interrupt.
  ToldInterrupt(InterruptToken interrupt, std::function<void(Interrupt)> tell, std::chrono::milliseconds reaction,
                Clock::time_point latest = Clock::time_point::max());

  void tellIfNew();
  void restart();  // the time to react begins now
  Interrupt told() const { return m_told; }
  Clock::time_point latest() const { return m_latest; }
  // The reader of the messages took so long over one.
  void allow(Clock::duration more);
  const std::vector<int>& wakers() const { return m_wakers; }  // descriptors of the states beyond the one that was told

 private:
  const InterruptToken m_interrupt;
  const std::function<void(Interrupt)> m_tell;
  const std::chrono::milliseconds m_reaction;
  Clock::time_point m_latest;
  std::vector<int> m_wakers;
  Interrupt m_told = Interrupt::kNone;
};

// Until then, for WorkerChannel::receive(): -1 for ever.
std::chrono::milliseconds timeUntil(ToldInterrupt::Clock::time_point latest);

class AnswerWait {
 public:
  using Clock = ToldInterrupt::Clock;

  // The parameters are those of ToldInterrupt; answer: the latest time of the next message, unless an interrupt is told.
  AnswerWait(WorkerChannel& channel, InterruptToken interrupt, std::function<void(Interrupt)> tell, std::chrono::milliseconds reaction,
             Clock::time_point answer = Clock::time_point::max());

  // Nothing: the time is over, of the reaction where an interrupt was told().
  std::optional<ChannelMessage> next();
  Interrupt told() const { return m_interrupt.told(); }

 private:
  WorkerChannel& m_channel;
  ToldInterrupt m_interrupt;
};

}  // namespace winnow::app
