#include "app/media/process/media_sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>

#include "app/ground/process/open_file.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

// Memory, time, threads, and bytes of what is open already.
constexpr int kAllowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(readv),
    SCMP_SYS(write),
    SCMP_SYS(pwrite64),
    SCMP_SYS(writev),
    SCMP_SYS(ftruncate),
    SCMP_SYS(close),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

// Calls that no library makes by itself.
constexpr int kDeadly[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(setns),
    SCMP_SYS(unshare),
    SCMP_SYS(bpf),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(personality),
};

constexpr scmp_datum_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// Allowed as long as an argument has, of the bits of a mask, these.
bool allowWhere(scmp_filter_ctx filter, int call, unsigned argument, scmp_datum_t mask, scmp_datum_t bits) {
  return ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, mask, bits}) == 0;
}
bool allowValue(scmp_filter_ctx filter, int call, unsigned argument, scmp_datum_t value) {
  return ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, scmp_arg_cmp{argument, SCMP_CMP_EQ, value, 0}) == 0;
}

bool addRules(scmp_filter_ctx filter) {
  bool added = true;
  for (const int call : kAllowed) added = added && ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) == 0;
  for (const int call : kDeadly) added = added && ::seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, call, 0) == 0;
  added = added && ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
  added = added && allowWhere(filter, SCMP_SYS(clone), 0, CLONE_THREAD | kNewNamespaces, CLONE_THREAD);
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) added = added && allowWhere(filter, call, 2, PROT_EXEC, 0);
  for (const int command : {F_GETFD, F_GETFL}) added = added && allowValue(filter, SCMP_SYS(fcntl), 1, static_cast<scmp_datum_t>(command));
  added = added && allowValue(filter, SCMP_SYS(prctl), 0, PR_SET_NAME);  // not PR_SET_PDEATHSIG: it ends with its parent
  // abort() ends the process itself.
  return added && allowValue(filter, SCMP_SYS(tgkill), 0, static_cast<scmp_datum_t>(::getpid()));
}

// The system calls of a process that reads media and does nothing else, by libseccomp.
//
// Calls on no list give EPERM: libraries look for files that they can do without. Calls that only an attacker makes end the process at
// once. Threads are made (clone with CLONE_THREAD; clone3, whose flags a filter cannot see, is said not to exist, and the C library takes
// the former). Memory is never executable: Qt matches its patterns without compiling them. Held for all threads and for good.

// False: the kernel has no seccomp, or refuses the filter.
bool allowOnlyReading() {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(::seccomp_init(SCMP_ACT_ERRNO(EPERM)), ::seccomp_release);
  if (!filter) return false;
  ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  return addRules(filter.get()) && ::seccomp_load(filter.get()) == 0;
}

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
  LandlockRules rules{.files = kFileRights[std::min<std::size_t>(static_cast<std::size_t>(version), std::size(kFileRights) - 1)]};
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
