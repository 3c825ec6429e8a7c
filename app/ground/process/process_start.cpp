#include "app/ground/process/process_start.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

namespace winnow::app {
namespace {

constexpr rlim_t kOpenFiles = 4'096;

[[noreturn]] void endWith(int status, std::string_view sentence) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(status);
}

// libtorch's constructors take some 100 MB before main could catch anything.
void endWithoutMemory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    endWith(3, "winnow: there is not enough memory\n");
  } catch (...) {  // falls to abort()
  }
  std::abort();
}

// A descriptor that the starter closed is taken by the next file that is opened: answers would be written into a log. Written or
// read the wrong way round, the device gives an error for every use.
void holdStandardDescriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] const int held = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

// Every attached file is open while it is read. Shells start programs with 1,024, and the kernel allows more.
void allowOpenFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kOpenFiles) return;
  limit.rlim_cur = std::min(limit.rlim_max, kOpenFiles);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void requireWorkingFolder() {
  static char path[1 << 16];
  if (::syscall(SYS_getcwd, path, sizeof path) > 0 || errno != ENOENT) return;
  endWith(1, "winnow: the folder that the program was started in does not exist any more; start it in another one\n");
}

// Runs before any library's constructor: with system calls alone.
void settleBeforeLibraries(int, char**, char**) {
  holdStandardDescriptors();
  std::set_terminate(endWithoutMemory);
  requireWorkingFolder();
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const kEntry)(int, char**, char**) = settleBeforeLibraries;

// XDG's specification has a relative folder ignored; Qt 6.4 follows it to wherever the program was started.
void ignoreRelativeFolders() {
  for (const char* name : {"XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '/') ::unsetenv(name);
  }
}

}  // namespace

void beginProcess() {
  ::umask(077);
  allowOpenFiles();
  std::signal(SIGXFSZ, SIG_IGN);
  ignoreRelativeFolders();
}

void keepDecimalPoint() { std::setlocale(LC_NUMERIC, "C"); }

}  // namespace winnow::app
