#include "app/media/process/allowed_calls.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

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

}  // namespace

bool allowOnlyReading() {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(::seccomp_init(SCMP_ACT_ERRNO(EPERM)), ::seccomp_release);
  if (!filter) return false;
  ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  return addRules(filter.get()) && ::seccomp_load(filter.get()) == 0;
}

}  // namespace winnow::app
