#include "app/media/process/kernel_sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace winnow::app {
namespace {

constexpr const char* kVariable = "WINNOW_REQUIRE_SANDBOX";

// Lets everything through: what counts is that it is taken. System calls alone, since other threads may hold locks of the parent's.
[[noreturn]] void tryFilter() {
  sock_filter everything{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program{1, &everything};
  const bool taken = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  ::_exit(taken ? 0 : 1);
}

bool tried() {
  const pid_t child = ::fork();
  if (child == 0) tryFilter();
  int status = 0;
  pid_t waited = -1;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (child > 0 && waited < 0 && errno == EINTR);
  return waited != child || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace

bool kernelSandboxes() {
  static const bool does = tried();
  return does;
}

void followRequireSandboxOption(int& argc, char** argv) {
  char** const end = std::find_if(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  char** const found = std::find_if(argv, end, [](const char* word) { return std::strcmp(word, kRequireSandboxOption) == 0; });
  if (found == end) return;
  std::move(found + 1, argv + argc + 1, found);  // with the null pointer behind the list
  --argc;
  ::setenv(kVariable, "1", 1);
}

bool sandboxIsRequired() {
  const char* const value = std::getenv(kVariable);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace winnow::app
