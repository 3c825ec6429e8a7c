#include "app/media/process/media_process.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include "app/ground/worker/answer_wait.h"
#include "app/media/process/media_answers.h"
#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{10};                // at a token, while another question is answered
constexpr milliseconds kStartPatience{150'000};  // a machine that is busy beyond measure gives a start little time
constexpr milliseconds kEndPatience{2'000};      // of one that has closed its channel
constexpr std::int64_t kSpareSeconds = 10;

// An answer that is malformed, as opposed to one that reports a fault.
class Unsound : public std::exception {};

template <class Read>
auto soundly(const Read& read) {
  try {
    return read();
  } catch (const Exception&) {
    throw Unsound();
  }
}

std::string howItEnded(const WorkerEnd& end) {
  switch (end.kind) {
    case WorkerEnd::Kind::kExited:
      if (end.code == kFilesMissingStatus) return "more files are open at once than the system allows (ulimit -Hn): attach fewer";
      return "the process that reads media ended (status " + std::to_string(end.code) + ")";
    case WorkerEnd::Kind::kOutOfMemory: return "the system ended the process that reads media to free memory";
    case WorkerEnd::Kind::kEnded: return "the process that reads media gave an answer that is none";
    case WorkerEnd::Kind::kSignal: break;
  }
  if (end.code == SIGXCPU) return "reading it took more processor time than one step may take";
  if (end.code == SIGSYS) return "the process that reads media tried what it may not do, and was ended";
  return "the process that reads media crashed (" + std::string(::strsignal(end.code)) + ")";
}

}  // namespace

MediaProcess::MediaProcess(MediaProcessSettings settings) : m_settings(std::move(settings)) {}

MediaProcess::~MediaProcess() = default;

std::unique_lock<std::timed_mutex> MediaProcess::locked(const InterruptToken& interrupt) {
  std::unique_lock lock(m_asking, std::defer_lock);
  do {
    interrupt.throw_if_requested();
  } while (!lock.try_lock_for(kLook));
  return lock;
}

MediaProcess::Start MediaProcess::ask(const MediaQuestion& question, Start of, const InterruptToken& interrupt, const Take& take) {
  const auto lock = locked(interrupt);
  if (m_process) forgetIfGone();
  if (of != kAnyProcess && (of != m_start || !m_process)) return kAnyProcess;
  if (!m_process) start(interrupt);
  if (m_settings.requireSandbox && !m_sandbox.systemCalls) {
    throw Exception(ErrorCode::kFileUnreadable, question.subject,
                    "this system refuses the sandbox (seccomp) in which it would be read, and --require-sandbox asks for one");
  }
  milliseconds patience = kEndPatience;
  try {
    allowProcessorTime();
    m_process->channel().send(static_cast<std::uint32_t>(question.kind), question.bytes, question.files);
    this->take(question, awaited(question, interrupt), interrupt, take);
    return m_start;
  } catch (const ChannelBroken& broken) {
    if (broken.cause() != ChannelBroken::Cause::kClosed) patience = milliseconds(0);
  } catch (const Unsound&) {
    patience = milliseconds(0);
  }
  throw Exception(ErrorCode::kMediaCrashed, question.subject, ended(patience));
}

ChannelMessage MediaProcess::awaited(const MediaQuestion& question, const InterruptToken& interrupt) {
  const auto tell = [&](Interrupt wanted) {
    const InterruptReading message{static_cast<int>(wanted)};
    m_process->channel().send(static_cast<std::uint32_t>(MediaMessage::kInterrupt), wire::encoded_fields(message));
  };
  AnswerWait wait(m_process->channel(), interrupt, tell, m_settings.interruptPatience, Clock::now() + m_settings.patience);
  if (auto answer = wait.next()) return *std::move(answer);
  ended(milliseconds(0));
  if (wait.told() != Interrupt::kNone) interrupt.throw_if_requested();
  throw Exception(ErrorCode::kMediaCrashed, question.subject,
                  "the process that reads media has not answered for " + std::to_string(m_settings.patience.count() / 1000) + " s");
}

void MediaProcess::take(const MediaQuestion& question, const ChannelMessage& answer, const InterruptToken& interrupt,
                        const Take& take) const {
  if (!answer.files.empty()) throw Unsound();
  if (answer.kind == static_cast<std::uint32_t>(MediaMessage::kFailed)) {
    throw Exception(soundly([&] { return failedAnswer(answer.bytes); }));
  }
  if (answer.kind == static_cast<std::uint32_t>(MediaMessage::kInterrupted)) interrupt.throw_if_requested();
  if (answer.kind != static_cast<std::uint32_t>(question.answer)) throw Unsound();
  soundly([&] { take(answer.bytes, m_memory.descriptor()); });
}

std::string MediaProcess::ended(milliseconds patience) {
  const WorkerEnd end = m_process->end(patience);
  m_process.reset();
  m_memory = OpenFile();
  return howItEnded(end);
}

void MediaProcess::forgetIfGone() {
  try {
    if (!m_process->channel().receive(milliseconds(0))) return;
  } catch (const ChannelBroken&) {
  }
  ended(milliseconds(0));
}

void MediaProcess::start(const InterruptToken& interrupt) {
  const std::string program = m_settings.program.empty() ? workerProgram("winnow-media") : m_settings.program;
  m_memory = OpenFile(::memfd_create("frames", MFD_CLOEXEC));
  if (!m_memory)
    throw Exception(ErrorCode::kInternal, program, std::string("there is no memory for its answers (") + std::strerror(errno) + ")");
  m_process = std::make_unique<WorkerProcess>(program, m_settings.arguments, WorkerEnvironment::kBare);
  ++m_start;
  const BeginReading begin{kMediaProtocolVersion, m_settings.limits, m_settings.memoryBytes};
  std::string problem;
  try {
    WorkerChannel& channel = m_process->channel();
    channel.send(static_cast<std::uint32_t>(MediaMessage::kBegin), wire::encoded_fields(begin), std::array{m_memory.descriptor()});
    if (const auto answer = firstAnswer(interrupt)) {
      const auto ready = soundly([&] { return wire::decoded_fields<ReadyToRead>(answer->bytes); });
      m_sandbox = ready.sandbox;
      if (answer->kind == static_cast<std::uint32_t>(MediaMessage::kReady) && ready.version == kMediaProtocolVersion) return;
      problem = "it is of another version of the program";
    } else {
      problem = "it does not start";
    }
    ended(milliseconds(0));
  } catch (const ChannelBroken&) {
    problem = ended(kEndPatience);
  } catch (const Unsound&) {
    problem = ended(milliseconds(0));
  }
  throw Exception(ErrorCode::kInternal, program, problem);
}

std::optional<ChannelMessage> MediaProcess::firstAnswer(const InterruptToken& interrupt) {
  auto answer = m_process->channel().receive(kStartPatience, interrupt.descriptors());
  if (answer || !interrupt.requested()) return answer;
  ended(milliseconds(0));
  throw Interrupted(interrupt.state());
}

// From here on, as much as all processors give in the time that one step may take.
void MediaProcess::allowProcessorTime() const {
  clockid_t clock{};
  timespec used{};
  rlimit limit{};
  if (::clock_getcpuclockid(m_process->pid(), &clock) != 0 || ::clock_gettime(clock, &used) != 0) return;
  if (::prlimit(m_process->pid(), RLIMIT_CPU, nullptr, &limit) != 0) return;
  const std::int64_t seconds = m_settings.limits.decodeBudgetMs / 1000 * std::max(1U, std::thread::hardware_concurrency());
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(used.tv_sec + seconds + kSpareSeconds));
  ::prlimit(m_process->pid(), RLIMIT_CPU, &limit, nullptr);
}

void MediaProcess::tell(MediaMessage kind, const std::vector<std::uint8_t>& bytes, Start of) noexcept {
  const std::lock_guard lock(m_asking);
  if (!m_process || of != m_start) return;
  try {
    m_process->channel().send(static_cast<std::uint32_t>(kind), bytes);
  } catch (const std::exception&) {
    ended(milliseconds(0));  // noticed by nobody: the next question starts another
  }
}

SandboxReport MediaProcess::sandbox() {
  const std::lock_guard lock(m_asking);
  if (!m_process) start({});
  return m_sandbox;
}

std::uint64_t MediaProcess::nextSource() {
  const std::lock_guard lock(m_asking);
  return ++m_lastSource;
}

pid_t MediaProcess::pid() {
  const std::lock_guard lock(m_asking);
  return m_process ? m_process->pid() : -1;
}

}  // namespace winnow::app
