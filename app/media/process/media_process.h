// The process that reads media (winnow-media), as questions that are answered one after another; started at the first.
//
// One that dies, falls silent or answers nonsense is ended, and the file of that question is refused: Exception(kMediaCrashed, file, what
// happened). The next question starts another. What sources it had is gone with it: a question about a source names the start that it
// belongs to (Start). A raised token is told to the process; one that does not react in time is ended, too, and the call ends with
// Interrupted. Other errors: those that the process answers; kInternal where it cannot be started; kFileUnreadable where it has no sandbox
// and must have one.
// Threads: any; one question at a time, the others wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/ground/process/open_file.h"
#include "app/ground/worker/worker_process.h"
#include "app/media/files/limits.h"
#include "app/media/files/passwords.h"
#include "app/media/process/media_protocol.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

struct MediaProcessSettings {
  std::string program{};  // absolute path; empty: this installation's winnow-media
  std::vector<std::string> arguments{};
  MediaLimits limits{};
  // Address space: the largest legal picture and what its decoder takes, libraries and stacks.
  std::int64_t memoryBytes = std::int64_t{4} << 30;
  std::chrono::milliseconds patience{150'000};  // for one answer; a sound process gives up before (limits.decodeBudgetMs)
  std::chrono::milliseconds interruptPatience{3'000};
  bool requireSandbox = false;           // refuse every file where the kernel does not hold the process by seccomp
  const Passwords* passwords = nullptr;  // null: none is known. They outlive the reader
};

struct MediaQuestion {
  MediaMessage kind = MediaMessage::kOpen;
  MediaMessage answer = MediaMessage::kOpened;
  std::string subject;  // the file that is refused if the process dies of it
  std::vector<std::uint8_t> bytes;
  std::vector<int> files;  // descriptors, the caller's
};

class MediaProcess {
 public:
  using Start = std::uint64_t;             // which process it was, counted from 1
  static constexpr Start kAnyProcess = 0;  // also one that is started now
  // Gets the answer, and the memory that frames lie in, before another question may be asked. Throws Exception where it is not sound.
  using Take = std::function<void(const std::vector<std::uint8_t>& answer, int memory)>;

  explicit MediaProcess(MediaProcessSettings settings);
  ~MediaProcess();

  const MediaProcessSettings& settings() const { return m_settings; }

  // Which process has answered; kAnyProcess: the one that was meant is not there any more, and nothing was asked.
  Start ask(const MediaQuestion& question, Start of, const InterruptToken& interrupt, const Take& take);
  // Sends what needs no answer, if the process is still there. Never throws.
  void tell(MediaMessage kind, const std::vector<std::uint8_t>& bytes, Start of) noexcept;
  // The report of a running process, which is started for it.
  SandboxReport sandbox();
  // A number for a source, which none has had.
  std::uint64_t nextSource();

  // For tests; -1: none runs.
  pid_t pid();

 private:
  using Clock = std::chrono::steady_clock;

  std::unique_lock<std::timed_mutex> locked(const InterruptToken& interrupt);
  void start(const InterruptToken& interrupt);
  // Nothing: it does not start.
  std::optional<ChannelMessage> firstAnswer(const InterruptToken& interrupt);
  // One that has died since its last answer did not die of the next question.
  void forgetIfGone();
  void allowProcessorTime() const;
  ChannelMessage awaited(const MediaQuestion& question, const InterruptToken& interrupt);
  void take(const MediaQuestion& question, const ChannelMessage& answer, const InterruptToken& interrupt, const Take& take) const;
  // Ends it. What became of it, in words.
  std::string ended(std::chrono::milliseconds patience);

  const MediaProcessSettings m_settings;
  std::timed_mutex m_asking;  // guards the members below
  std::unique_ptr<WorkerProcess> m_process;
  OpenFile m_memory;
  SandboxReport m_sandbox;
  Start m_start = 0;
  std::uint64_t m_lastSource = 0;
};

}  // namespace winnow::app
