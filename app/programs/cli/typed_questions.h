// Lines of stdin as they come, for a program that is busy with something else meanwhile.
//
// A thread of its own waits for stdin and wakes whoever asked to be woken. Used by watch. Threads: one at a time uses it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/base/interrupt.h"

namespace winnow::cli {

struct TypedQuestion {
  std::string text;
  std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now();  // when its line came
};

class TypedQuestions {
 public:
  TypedQuestions();
  ~TypedQuestions();  // within a tenth of a second, whatever stdin does
  TypedQuestions(const TypedQuestions&) = delete;
  TypedQuestions& operator=(const TypedQuestions&) = delete;

  // The next line that is not empty, if one has come.
  std::optional<TypedQuestion> next();
  // Waits for one; none: stdin has ended, or `interrupt` was requested.
  std::optional<TypedQuestion> wait(const InterruptToken& interrupt);
  // From now on a line stops `waiting` (null: nobody); at once if one is there.
  void wake(InterruptSource* waiting);

 private:
  void read();
  void add(std::string line);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TypedQuestion> lines_;
  InterruptSource* waiting_ = nullptr;
  bool ended_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace winnow::cli
