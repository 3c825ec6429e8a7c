#include "engine/device/work_team.h"

#include <ATen/Parallel.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace winnow::team {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than what lies between two loops of a decode step, shorter than what a sleeping thread takes to wake several times.
constexpr std::chrono::microseconds kSpin{60};
// Waits in a row that were longer, after which a thread goes to sleep at once, until as many were shorter.
constexpr int kPatience = 4;
// Pieces for each thread: whoever has lost its core leaves the others little to wait for.
constexpr std::int64_t kPiecesEach = 4;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Learns whether spinning for what is waited for pays; each thread has its own.
class Patience {
 public:
  // Waits for `there()`, by spinning for a while and then by `sleep()`, which returns when it may have come.
  template <class There, class Sleep>
  void wait(const There& there, const Sleep& sleep) {
    const Clock::time_point start = Clock::now();
    if (misses_ < kPatience) {
      while (Clock::now() - start < kSpin) {
        for (int i = 0; i < 8; ++i) {
          if (there()) return met(true);
          relax();
        }
      }
    }
    while (!there()) sleep();
    // A sleeper is woken late: what took twice the time may have been as short.
    met(misses_ >= kPatience && Clock::now() - start < 2 * kSpin);
  }

 private:
  void met(bool soon) { misses_ = soon ? std::max(misses_ - 1, 0) : std::min(misses_ + 1, 2 * kPatience); }
  int misses_ = 0;
};

class WorkTeam {
 public:
  explicit WorkTeam(int threads) {
    for (int i = 1; i < threads; ++i) others_.emplace_back([this] { help(); });
  }
  ~WorkTeam() {
    ends_ = true;
    call();
    for (std::thread& thread : others_) thread.join();
  }
  WorkTeam(const WorkTeam&) = delete;
  WorkTeam& operator=(const WorkTeam&) = delete;

  int threads() const { return static_cast<int>(others_.size()) + 1; }

  void share(std::int64_t count, std::int64_t grain, Body body, const void* context) {
    const std::int64_t pieces = std::min(kPiecesEach * threads(), (count + grain - 1) / grain);
    count_ = count;
    length_ = (count + pieces - 1) / pieces;
    body_ = body;
    context_ = context;
    const auto made = static_cast<std::uint32_t>((count + length_ - 1) / length_);
    done_.store(0, std::memory_order_relaxed);
    // From here on the others read what stands above.
    left_.store(std::uint64_t{++loop_} << 32 | made, std::memory_order_release);
    call();
    while (work()) {
    }
    patience_.wait([&] { return done_.load(std::memory_order_acquire) == made; },
                   [&] {
                     const std::uint32_t done = done_.load(std::memory_order_acquire);
                     if (done != made) done_.wait(done, std::memory_order_acquire);
                   });
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  // Takes a piece of the present loop and does it; false: none is left. The loop's number goes with what is left of it, so that a thread
  // that was late takes nothing of one that it has not seen; and a loop's numbers stand until its last piece is done.
  bool work() {
    std::uint64_t left = left_.load(std::memory_order_acquire);
    do {
      if (static_cast<std::uint32_t>(left) == 0) return false;
    } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire));
    const std::int64_t begin = (static_cast<std::int64_t>(static_cast<std::uint32_t>(left)) - 1) * length_;
    try {
      body_(context_, begin, std::min(count_, begin + length_));
    } catch (...) {
      const std::lock_guard lock(thrown_mutex_);
      thrown_ = std::current_exception();
    }
    done_.fetch_add(1, std::memory_order_acq_rel);
    done_.notify_one();
    return true;
  }

  void call() {
    calls_.fetch_add(1, std::memory_order_acq_rel);
    calls_.notify_all();
  }

  void help() {
    pthread_setname_np(pthread_self(), "winnow-team");
    Patience patience;
    while (!ends_) {
      const std::uint32_t calls = calls_.load(std::memory_order_acquire);  // before looking for work: a later call is not missed
      if (work()) continue;
      patience.wait([&] { return calls_.load(std::memory_order_acquire) != calls; },
                    [&] { calls_.wait(calls, std::memory_order_acquire); });
    }
  }

  // The present loop: written by the caller between loops.
  std::int64_t count_ = 0;
  std::int64_t length_ = 0;
  Body body_ = nullptr;
  const void* context_ = nullptr;
  std::uint32_t loop_ = 0;
  Patience patience_;

  alignas(64) std::atomic<std::uint64_t> left_{0};  // the loop's number, and how many of its pieces nobody has taken
  alignas(64) std::atomic<std::uint32_t> done_{0};
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> ends_{false};
  std::mutex thrown_mutex_;
  std::exception_ptr thrown_;
  std::vector<std::thread> others_;
};

}  // namespace

void share(std::int64_t count, std::int64_t grain, Body body, const void* context) {
  if (count <= 0) return;
  static std::mutex in_use;
  static std::unique_ptr<WorkTeam> team;
  const int threads = at::get_num_threads();
  const std::unique_lock lock(in_use, std::try_to_lock);
  if (threads < 2 || count <= grain || !lock.owns_lock()) return body(context, 0, count);
  if (team == nullptr || team->threads() != threads) {
    team.reset();
    team = std::make_unique<WorkTeam>(threads);
  }
  team->share(count, std::max<std::int64_t>(1, grain), body, context);
}

}  // namespace winnow::team
