// sandbox_probe WHAT [free]: tries something inside the sandbox of the media process, or (free) outside, to know that it works there.
// Exit status 0: refused; 1: done; 9: this program does not know it. A try that ends the process is refused, too.
// sandbox_probe parent FILE: starts "outlive" in a sandbox, tells its number over the channel, and waits for its own end.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "app/ground/worker/worker_process.h"
#include "app/media/process/kernel_sandbox.h"
#include "app/media/process/media_sandbox.h"

namespace {

using winnow::app::OpenFile;
using winnow::app::WorkerChannel;
using winnow::app::WorkerProcess;

std::string own_file;  // of the test's folder, there and writable
int read_only = -1;    // it, as a medium is handed over

bool ended_well(pid_t child) {
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

bool run_from_memory() {
  const int memory = ::memfd_create("program", 0);
  const int program = ::open("/bin/false", O_RDONLY);
  char bytes[1 << 16];
  for (ssize_t got = 0; (got = ::read(program, bytes, sizeof bytes)) > 0;) {
    if (::write(memory, bytes, static_cast<std::size_t>(got)) != got) return false;
  }
  char* const arguments[] = {const_cast<char*>("false"), nullptr};
  char* const nothing[] = {nullptr};
  ::fexecve(memory, arguments, nothing);
  return false;  // where it works, the other program's status is 1
}

// Its own, which no setting of the machine forbids.
bool read_memory_by_number() {
  char byte = 0;
  iovec here{&byte, 1};
  iovec there{&read_only, 1};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == 1;
}

bool reach(int family, int type) { return ::socket(family, type | SOCK_CLOEXEC, 0) >= 0; }

bool raise_limit() {
  rlimit limit{};
  return ::prlimit(0, RLIMIT_CPU, nullptr, &limit) == 0 && (limit.rlim_cur = 7, ::setrlimit(RLIMIT_CPU, &limit) == 0);
}

bool executable_memory() {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return ::mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

// Does what it can to live on: takes the signal back, says that it is ready, and hears nothing any more.
bool outlive() {
  const bool taken_back = ::prctl(PR_SET_PDEATHSIG, 0) == 0;
  WorkerChannel channel{OpenFile(WorkerProcess::kChannelDescriptor)};
  channel.send(taken_back ? 1 : 0, {});
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

[[noreturn]] void be_parent(const char* program) {
  WorkerProcess child(program, {"outlive", own_file});
  const auto ready = child.channel().receive(std::chrono::seconds(60));
  const pid_t pid = ready ? child.pid() : -1;
  WorkerChannel(OpenFile(WorkerProcess::kChannelDescriptor))
      .send(ready ? ready->kind : 2, {reinterpret_cast<const std::uint8_t*>(&pid), sizeof pid});
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

// As a container does that knows no seccomp inside.
void refuse_filters() {
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
                         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(rules), rules};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

const std::map<std::string, std::function<bool()>> kTries = {
    {"outlive", outlive},
    {"kernel", [] { return winnow::app::kernelSandboxes(); }},
    {"unset-death-signal", [] { return ::prctl(PR_SET_PDEATHSIG, 0) == 0; }},
    {"token", [] { return std::getenv("HF_TOKEN") != nullptr; }},
    {"open", [] { return ::open("/etc/hostname", O_RDONLY) >= 0; }},
    {"open-own", [] { return ::syscall(SYS_open, "/proc/self/maps", O_RDONLY) >= 0; }},
    {"create", [] { return ::open((own_file + ".new").c_str(), O_CREAT | O_WRONLY, 0600) >= 0; }},
    {"look",
     [] {
       struct stat status {};
       return ::stat("/etc/hostname", &status) == 0;
     }},
    {"remove", [] { return ::unlink(own_file.c_str()) == 0; }},
    {"rename", [] { return ::rename(own_file.c_str(), (own_file + ".old").c_str()) == 0; }},
    {"write-medium", [] { return ::fchmod(read_only, 0600) == 0; }},
    {"write-medium-again", [] { return ::open(("/proc/self/fd/" + std::to_string(read_only)).c_str(), O_WRONLY) >= 0; }},
    {"internet", [] { return reach(AF_INET, SOCK_STREAM); }},
    {"datagram", [] { return reach(AF_INET6, SOCK_DGRAM); }},
    {"local-socket", [] { return reach(AF_UNIX, SOCK_STREAM); }},
    {"fork",
     [] {
       const pid_t child = ::fork();
       if (child == 0) ::_exit(0);
       return ended_well(child);
     }},
    {"raw-clone",
     [] {
       const long child = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0L);
       if (child == 0) ::_exit(0);
       return ended_well(static_cast<pid_t>(child));
     }},
    {"run",
     [] {
       ::execl("/bin/false", "false", nullptr);
       return false;
     }},
    {"run-from-memory", run_from_memory},
    {"trace", [] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }},
    {"read-memory-by-number", read_memory_by_number},
    {"signal-parent", [] { return ::kill(::getppid(), 0) == 0; }},
    {"raise-limit", raise_limit},
    {"executable-memory", executable_memory},
    {"much-memory",
     [] { return ::mmap(nullptr, std::size_t{3} << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED; }},
    {"many-files",
     [] {
       rlimit limit{};
       return ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
     }},
    {"change-folder", [] { return ::chdir("/") == 0; }},
    {"threads",
     [] {
       bool ran = false;
       std::thread([&] { ran = true; }).join();
       return ran;
     }},  // needed, and let through
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = kTries.find(argc > 2 ? argv[1] : "");
  if (argc < 3 || (found == kTries.end() && argv[1] != std::string("parent"))) return 9;
  own_file = argv[2];
  if (argv[1] == std::string("parent")) be_parent(argv[0]);
  read_only = ::open(own_file.c_str(), O_RDONLY | O_CLOEXEC);
  const std::string where = argc > 3 ? argv[3] : "inside";
  if (where == "refusing") refuse_filters();
  const bool sandboxed = where != "free" && where != "refusing";
  const bool without_landlock = where == "without-landlock";
  if (sandboxed) {
    const auto report = winnow::app::enterSandbox(std::int64_t{2} << 30, without_landlock ? 0 : winnow::app::landlockOfKernel());
    if (!report.systemCalls || !report.memory || (report.landlock > 0) == without_landlock) return 8;
  }
  return found->second() ? 1 : 0;
}
