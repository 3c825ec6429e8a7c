// SIGINT (Ctrl+C) and SIGTERM: which request they stop, and which status the program ends with.
//
// While an InterruptOnSignal lives, the first signal stops its request (the partial answer stays) and the second cancels it. At other times
// both end the program at once, as they end any program. A signal is remembered: if it comes too late for its request to notice, it stops
// the next one, and the program ends with the signal's status instead of 0. Main thread only, except the signal handler, which touches
// atomics alone.
#pragma once

#include <signal.h>

#include "app/programs/cli/exit_status.h"
#include "engine/base/interrupt.h"

namespace winnow::cli {

// Signals go to `source` during its lifetime, unless the program was started with them ignored. One that was remembered stops it at once.
class InterruptOnSignal {
 public:
  explicit InterruptOnSignal(InterruptSource& source);
  ~InterruptOnSignal();
  InterruptOnSignal(const InterruptOnSignal&) = delete;
  InterruptOnSignal& operator=(const InterruptOnSignal&) = delete;

 private:
  static void take(int signal, struct sigaction& before);

  struct sigaction interrupt_before_ = {};
  struct sigaction terminate_before_ = {};
};

// Call when a program begins: no signal has come.
void forget_signals();
// Call when a conversation goes on: Ctrl+C has stopped its answer. SIGTERM stays, as it is meant for the program.
void forget_ctrl_c();
bool termination_requested();  // SIGTERM came

// `status`, or that of the signal which came while the commands ran. Errors keep their own.
ExitStatus status_after_signals(ExitStatus status);

}  // namespace winnow::cli
