#include "app/ground/worker/worker_process.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <system_error>

#include "engine/base/error.h"

extern char** environ;

namespace winnow::app {
namespace {

// Processes that the kernel has killed to free memory since the machine started, those of memory groups included. 0: it does not say.
std::int64_t memoryKills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  std::int64_t count = 0;
  while (counters >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

constexpr const char* kBareVariables[] = {"LD_", "GCONV_PATH", "ASAN_", "LSAN_", "TSAN_", "UBSAN_", "GCOV_", "LLVM_PROFILE"};  // beginnings

std::vector<char*> variablesOf(WorkerEnvironment environment) {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const bool bare = std::ranges::any_of(kBareVariables, [&](const char* beginning) { return text.starts_with(beginning); });
    if (bare || environment == WorkerEnvironment::kWhole) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

// Children of this process that have not been waited for.
struct Running {
  std::mutex mutex;
  std::vector<pid_t> pids;
};
Running& running() {
  static auto* const all = new Running;  // never destroyed: it is asked for while the process ends
  return *all;
}

class SpawnSettings {
 public:
  explicit SpawnSettings(int channel) {
    ::posix_spawn_file_actions_init(&m_actions);
    // Also where it has this number already: the copy is not closed on exec.
    ::posix_spawn_file_actions_adddup2(&m_actions, channel, WorkerProcess::kChannelDescriptor);
    ::posix_spawn_file_actions_addclosefrom_np(&m_actions, WorkerProcess::kChannelDescriptor + 1);
    ::posix_spawnattr_init(&m_attributes);
    ::posix_spawnattr_setflags(&m_attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&m_attributes, 0);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&m_attributes, &none);
    ::posix_spawnattr_setsigdefault(&m_attributes, &all);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&m_actions);
    ::posix_spawnattr_destroy(&m_attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &m_actions; }
  const posix_spawnattr_t* attributes() const { return &m_attributes; }

 private:
  posix_spawn_file_actions_t m_actions{};
  posix_spawnattr_t m_attributes{};
};

}  // namespace

WorkerProcess::WorkerProcess(const std::string& program, const std::vector<std::string>& arguments, WorkerEnvironment environment)
    : m_memoryKills(memoryKills()) {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) throw Exception(ErrorCode::kInternal, program, std::strerror(errno));
  m_channel = std::make_unique<WorkerChannel>(OpenFile(pair[0]));
  const OpenFile theirs(pair[1]);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const SpawnSettings settings(theirs.descriptor());
  std::vector<char*> variables = variablesOf(environment);
  int error = 0;
  try {
    m_starter = std::thread([&] {
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
      error = ::posix_spawn(&m_pid, program.c_str(), settings.actions(), settings.attributes(), words.data(), variables.data());
      m_started.count_down();
      m_over.wait();
    });
    m_started.wait();
  } catch (const std::system_error& problem) {
    error = problem.code().value();
  }
  if (error != 0) {
    m_pid = -1;
    letStarterGo();
    throw Exception(ErrorCode::kInternal, program, std::string("the program cannot be started (") + std::strerror(error) + ")");
  }
  const std::lock_guard lock(running().mutex);
  running().pids.push_back(m_pid);
}

WorkerProcess::~WorkerProcess() {
  m_channel.reset();
  end(std::chrono::seconds(2));
}

WorkerEnd WorkerProcess::end(std::chrono::milliseconds patience) {
  if (!reaped(patience)) {
    ::kill(m_pid, SIGKILL);
    reaped(std::chrono::milliseconds(-1));
    return {WorkerEnd::Kind::kEnded, SIGKILL};
  }
  if (WIFEXITED(m_status)) return {WorkerEnd::Kind::kExited, WEXITSTATUS(m_status)};
  const int signal = WTERMSIG(m_status);
  const bool memory = signal == SIGKILL && memoryKills() > m_memoryKills;
  return {memory ? WorkerEnd::Kind::kOutOfMemory : WorkerEnd::Kind::kSignal, signal};
}

bool WorkerProcess::reaped(std::chrono::milliseconds patience) {
  if (m_pid < 0) return true;
  const OpenFile process(static_cast<int>(::syscall(SYS_pidfd_open, m_pid, 0)));
  if (process) {
    pollfd entry{process.descriptor(), POLLIN, 0};
    int ready = -1;
    do {
      ready = ::poll(&entry, 1, static_cast<int>(patience.count()));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) return false;
  } else if (patience.count() >= 0) {
    return false;  // a kernel before 5.3: no way to wait for a while
  }
  {
    const std::lock_guard lock(running().mutex);  // its number may be another's from now on
    std::erase(running().pids, m_pid);
    pid_t waited = -1;
    do {
      waited = ::waitpid(m_pid, &m_status, 0);
    } while (waited < 0 && errno == EINTR);
    m_pid = -1;
  }
  letStarterGo();
  return true;
}

void WorkerProcess::letStarterGo() {
  m_over.count_down();
  if (m_starter.joinable()) m_starter.join();
}

void killWorkers() noexcept {
  const std::lock_guard lock(running().mutex);
  for (const pid_t pid : running().pids) ::kill(-pid, SIGKILL);
}

OpenFile channelOfThisWorker(const char* name) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(WorkerProcess::kChannelDescriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM)
    return OpenFile(WorkerProcess::kChannelDescriptor);
  std::fprintf(stderr, "%s: is started by winnow and winnow-cli, not by hand\n", name);
  return {};
}

std::string workerProgram(const std::string& name) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw Exception(ErrorCode::kInternal, name, "the folder of this program is not known");
  return workerProgram(name, self.parent_path().string());
}

std::string workerProgram(const std::string& name, const std::string& programFolder) {
  const std::filesystem::path folder(programFolder);
  const std::filesystem::path installed = folder.parent_path() / "lib" / "winnow" / name;
  std::error_code unreadable;
  if (!std::filesystem::exists(folder / name, unreadable) && std::filesystem::exists(installed, unreadable)) return installed.string();
  return (folder / name).string();
}

}  // namespace winnow::app
