#include "app/worker/worker_process.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

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

WorkerProcess::WorkerProcess(const std::string& program, const std::vector<std::string>& arguments) : m_memoryKills(memoryKills()) {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) throw Exception(ErrorCode::kInternal, program, std::strerror(errno));
  OpenFile ours(pair[0]);
  const OpenFile theirs(pair[1]);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const SpawnSettings settings(theirs.descriptor());
  const int error = ::posix_spawn(&m_pid, program.c_str(), settings.actions(), settings.attributes(), words.data(), environ);
  if (error != 0) {
    m_pid = -1;
    throw Exception(ErrorCode::kInternal, program, std::string("the program cannot be started (") + std::strerror(error) + ")");
  }
  m_channel = std::make_unique<WorkerChannel>(std::move(ours));
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
  pid_t waited = -1;
  do {
    waited = ::waitpid(m_pid, &m_status, 0);
  } while (waited < 0 && errno == EINTR);
  m_pid = -1;
  return true;
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
