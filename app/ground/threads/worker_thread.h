// A thread that does jobs one after another, in the order posted.
//
// Used by whatever works for the window without letting it wait: the engine host, the store's writer and its backups, media previews.
// Their answers go back through a Mailbox. A job that throws ends the program: jobs catch what they call.
// The destructor lets everything that was posted be done and joins; who wants less lets its jobs look at an InterruptToken.
// Threads: post() from any; made and destroyed by one.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace winnow::app {

class WorkerThread {
 public:
  using Job = std::function<void()>;

  // `name`: for debuggers and lists of threads; at most 15 characters are shown.
  explicit WorkerThread(const char* name);
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  void post(Job job);

 private:
  void run();

  std::mutex m_mutex;  // guards the members below
  std::condition_variable m_posted;
  std::deque<Job> m_jobs;
  bool m_quit = false;
  std::thread m_thread;  // last: everything above exists when it starts
};

}  // namespace winnow::app
