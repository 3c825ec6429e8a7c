#include "app/programs/cli/interrupt_signals.h"

#include <atomic>
#include <thread>

namespace winnow::cli {
namespace {

std::atomic<InterruptSource*> g_interrupt{nullptr};
std::atomic<int> g_presses{0};
std::atomic<bool> g_ctrl_c{false};
std::atomic<bool> g_terminate{false};
std::atomic<int> g_handlers{0};  // that run right now, on whichever thread the kernel chose

void on_signal(int signal) {
  g_handlers.fetch_add(1);
  (signal == SIGTERM ? g_terminate : g_ctrl_c).store(true);
  if (InterruptSource* source = g_interrupt.load()) {
    if (g_presses.fetch_add(1) == 0) {
      source->request_stop();
    } else {
      source->request_cancel();
    }
  }
  g_handlers.fetch_sub(1);
}

}  // namespace

InterruptOnSignal::InterruptOnSignal(InterruptSource& source) {
  const bool remembered = g_ctrl_c.load() || g_terminate.load();
  if (remembered) source.request_stop();
  g_presses.store(remembered ? 1 : 0);
  g_interrupt.store(&source);
  take(SIGINT, interrupt_before_);
  take(SIGTERM, terminate_before_);
}

// A signal that was ignored at the start stays ignored: a script's job in the background is not meant by the Ctrl+C at its terminal.
void InterruptOnSignal::take(int signal, struct sigaction& before) {
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

InterruptOnSignal::~InterruptOnSignal() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
  g_interrupt.store(nullptr);
  while (g_handlers.load() > 0) std::this_thread::yield();  // the source must outlive them
}

void forget_signals() {
  g_ctrl_c.store(false);
  g_terminate.store(false);
}

void forget_ctrl_c() { g_ctrl_c.store(false); }

bool termination_requested() { return g_terminate.load(); }

ExitStatus status_after_signals(ExitStatus status) {
  if (status != ExitStatus::kAnswered && status != ExitStatus::kInterrupted) return status;
  if (g_terminate.load()) return ExitStatus::kTerminated;
  return g_ctrl_c.load() ? ExitStatus::kInterrupted : status;
}

}  // namespace winnow::cli
