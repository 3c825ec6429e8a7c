// A process of the program's own that may die: started with one end of a channel as its descriptor 3, and how it ended.
//
// It is in a group of its own, so that what a terminal sends to the program (Ctrl+C) reaches it only as a message, and holds no other file
// of the program but standard input, output and error. It ends when the channel closes, so nothing is left behind however the
// program ends. The thread that starts it is there for as long as this object: a process that wants to be killed with its parent
// (PR_SET_PDEATHSIG) is killed with that thread. Errors: Exception(kInternal) where the program is not there or cannot be started. Threads:
// one at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/ground/worker/worker_channel.h"

namespace winnow::app {

struct WorkerEnd {
  enum class Kind : int {
    kExited = 1,       // by itself: code
    kSignal = 2,       // code: the signal's number
    kOutOfMemory = 3,  // the kernel took it to free memory
    kEnded = 4,        // by end()
  };
  Kind kind = Kind::kExited;
  int code = 0;
};

// The part of the program's environment that it gets.
enum class WorkerEnvironment : int {
  kWhole = 1,
  kBare = 2,  // what the loader, the C library and sanitizers read: nothing of the user's, as keys and tokens are
};

class WorkerProcess {
 public:
  static constexpr int kChannelDescriptor = 3;

  // program: absolute path.
  WorkerProcess(const std::string& program, const std::vector<std::string>& arguments = {},
                WorkerEnvironment environment = WorkerEnvironment::kWhole);
  ~WorkerProcess();  // closes the channel and waits; one that goes on is killed
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  WorkerChannel& channel() { return *m_channel; }
  pid_t pid() const { return m_pid; }
  // How it ended; one that still runs after this time is killed.
  WorkerEnd end(std::chrono::milliseconds patience);

 private:
  bool reaped(std::chrono::milliseconds patience);
  void letStarterGo();

  std::unique_ptr<WorkerChannel> m_channel;
  pid_t m_pid = -1;  // -1: it has been waited for
  int m_status = 0;
  std::int64_t m_memoryKills = 0;  // of the whole machine, when it was started
  std::latch m_started{1}, m_over{1};
  std::thread m_starter;
};

// Kills those that this process has started and not waited for, for one that is about to leave without its destructors.
void killWorkers() noexcept;

// The channel of a process that was started so. One that somebody started by hand has none: it says so, by its name, and gives nothing.
OpenFile channelOfThisWorker(const char* name);

// Absolute path of a worker's program: beside this one, as built, or in ../lib/winnow, as installed. One that is in neither is looked for
// beside this one when it is started.
std::string workerProgram(const std::string& name);
// The same for a program of that folder.
std::string workerProgram(const std::string& name, const std::string& programFolder);

}  // namespace winnow::app
