#include "app/media/process/media_sandbox.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "app/ground/process/open_file.h"
#include "app/media/process/allowed_calls.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr rlim_t kMostFiles = 4'096;                       // one for each open source, and those of a question
constexpr rlim_t kMostFileBytes = rlim_t{2} << 30;         // of the memory for frames
constexpr std::uint32_t kVersionAsked = 1;                 // LANDLOCK_CREATE_RULESET_VERSION
constexpr int kWithPorts = 4, kWithScopes = 6;             // versions
constexpr std::uint64_t kPortRights = (1U << 2) - 1;       // bind, connect
constexpr std::uint64_t kScopes = (1U << 2) - 1;           // abstract sockets, signals
constexpr std::uint64_t kFileRights[] = {0,                // by version
                                         (1U << 13) - 1,   //
                                         (1U << 14) - 1,   // rename across folders
                                         (1U << 15) - 1,   // truncate
                                         (1U << 15) - 1,   //
                                         (1U << 16) - 1};  // ioctl of devices

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasShadowMemory = true;  // of more address space than any bound leaves
#else
constexpr bool kHasShadowMemory = false;
#endif

// Copied from linux/landlock.h of newer kernels than Debian's headers; an older kernel takes it as long as what it does not know is zero.
struct LandlockRules {
  std::uint64_t files = 0;
  std::uint64_t ports = 0;
  std::uint64_t scopes = 0;
};

void requireOneThread() {
  std::error_code failed;
  const auto threads = std::distance(std::filesystem::directory_iterator("/proc/self/task", failed), {});
  if (!failed && threads > 1) throw Exception(ErrorCode::kInternal, "sandbox", "there are threads that it would not hold");
}

bool takeAllFiles(int version) {
  LandlockRules rules;
  rules.files = kFileRights[std::min<std::size_t>(static_cast<std::size_t>(version), std::size(kFileRights) - 1)];
  if (version >= kWithPorts) rules.ports = kPortRights;
  if (version >= kWithScopes) rules.scopes = kScopes;
  const OpenFile ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0)));
  return ruleset && ::syscall(SYS_landlock_restrict_self, ruleset.descriptor(), 0) == 0;
}

bool bound(__rlimit_resource what, rlim_t most) {
  rlimit limit{most, most};
  rlimit before{};
  if (::getrlimit(what, &before) == 0) limit.rlim_cur = limit.rlim_max = std::min(most, before.rlim_max);
  return ::setrlimit(what, &limit) == 0;
}

// Input typed into the program's terminal is not for it, and nothing that it says is for the terminal.
void leaveTerminal() {
  const OpenFile nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int descriptor = STDIN_FILENO; nothing && descriptor <= STDERR_FILENO; ++descriptor) ::dup2(nothing.descriptor(), descriptor);
}

}  // namespace

int landlockOfKernel() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionAsked);
  return static_cast<int>(std::max(version, 0L));
}

SandboxReport enterSandbox(std::int64_t memoryBytes, int landlock) {
  requireOneThread();
  leaveTerminal();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // seccomp refuses to take it back
  SandboxReport report;
  bound(RLIMIT_CORE, 0);
  bound(RLIMIT_NOFILE, kMostFiles);
  bound(RLIMIT_FSIZE, kMostFileBytes);
  report.memory = memoryBytes > 0 && !kHasShadowMemory && bound(RLIMIT_AS, static_cast<rlim_t>(memoryBytes));
  const bool held = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  if (held && landlock > 0 && takeAllFiles(landlock)) report.landlock = landlock;
  report.systemCalls = held && allowOnlyReading();
  return report;
}

}  // namespace winnow::app
