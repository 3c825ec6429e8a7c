#include "app/programs/cli/typed_questions.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "engine/base/line_reader.h"

namespace winnow::cli {
namespace {

constexpr int kPollMs = 100;

}  // namespace

TypedQuestions::TypedQuestions() : thread_([this] { read(); }) {}

TypedQuestions::~TypedQuestions() {
  stop_ = true;
  thread_.join();
}

std::optional<TypedQuestion> TypedQuestions::next() {
  const std::lock_guard lock(mutex_);
  if (lines_.empty()) return std::nullopt;
  TypedQuestion line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

std::optional<TypedQuestion> TypedQuestions::wait(const InterruptToken& interrupt) {
  {
    std::unique_lock lock(mutex_);
    while (lines_.empty() && !ended_ && !interrupt.requested()) changed_.wait_for(lock, std::chrono::milliseconds(kPollMs));
  }
  return interrupt.requested() ? std::nullopt : next();
}

void TypedQuestions::wake(InterruptSource* waiting) {
  const std::lock_guard lock(mutex_);
  waiting_ = waiting;
  if (waiting_ != nullptr && !lines_.empty()) waiting_->request_stop();
}

void TypedQuestions::add(std::string line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  const std::lock_guard lock(mutex_);
  lines_.push_back({std::move(line)});
  if (waiting_ != nullptr) waiting_->request_stop();
  changed_.notify_all();
}

void TypedQuestions::read() {
  std::string line;
  std::array<char, 4096> buffer{};
  while (!stop_) {
    pollfd waited{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&waited, 1, kPollMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ready < 0 ? -1 : ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    for (const char each : std::string_view(buffer.data(), static_cast<std::size_t>(got))) {
      if (each == '\n') {
        add(std::exchange(line, {}));
      } else if (line.size() < LineReader::kLongestLine) {  // what is longer is cut: no question needs it
        line.push_back(each);
      }
    }
  }
  add(std::move(line));
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace winnow::cli
