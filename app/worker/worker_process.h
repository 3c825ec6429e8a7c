// A process of the program's own that may die: started with one end of a channel as its descriptor 3, and how it ended.
//
// It is in a group of its own, so that what a terminal sends to the program (Ctrl+C) reaches it only as a message, and holds no other file
// of the program but standard input, output and error. It ends when the channel closes, so nothing is left behind however the
// program ends. Errors: Exception(kInternal) where the program is not there or cannot be started. Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/worker/worker_channel.h"

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

class WorkerProcess {
 public:
  static constexpr int kChannelDescriptor = 3;

  // program: absolute path.
  WorkerProcess(const std::string& program, const std::vector<std::string>& arguments = {});
  ~WorkerProcess();  // closes the channel and waits; one that goes on is killed
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  WorkerChannel& channel() { return *m_channel; }
  pid_t pid() const { return m_pid; }
  // How it ended; one that still runs after this time is killed.
  WorkerEnd end(std::chrono::milliseconds patience);

 private:
  bool reaped(std::chrono::milliseconds patience);

  std::unique_ptr<WorkerChannel> m_channel;
  pid_t m_pid = -1;  // -1: it has been waited for
  int m_status = 0;
  std::int64_t m_memoryKills = 0;  // of the whole machine, when it was started
};

// The channel of a process that was started so. One that somebody started by hand has none: it says so, by its name, and gives nothing.
OpenFile channelOfThisWorker(const char* name);

// Absolute path of a worker's program: beside this one, as built, or in ../lib/winnow, as installed. One that is in neither is looked for
// beside this one when it is started.
std::string workerProgram(const std::string& name);
// The same for a program of that folder.
std::string workerProgram(const std::string& name, const std::string& programFolder);

}  // namespace winnow::app
