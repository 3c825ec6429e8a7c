#include "app/ground/threads/worker_thread.h"

#include <pthread.h>

#include <string>
#include <utility>

namespace winnow::app {

WorkerThread::WorkerThread(const char* name) : m_thread([this] { run(); }) {
  pthread_setname_np(m_thread.native_handle(), std::string(name).substr(0, 15).c_str());
}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(m_mutex);
    m_quit = true;
  }
  m_posted.notify_one();
  m_thread.join();
}

void WorkerThread::post(Job job) {
  {
    const std::lock_guard lock(m_mutex);
    m_jobs.push_back(std::move(job));
  }
  m_posted.notify_one();
}

void WorkerThread::run() {
  while (true) {
    Job job;
    {
      std::unique_lock lock(m_mutex);
      m_posted.wait(lock, [this] { return m_quit || !m_jobs.empty(); });
      if (m_jobs.empty()) return;
      job = std::move(m_jobs.front());
      m_jobs.pop_front();
    }
    job();
  }
}

}  // namespace winnow::app
