#include "app/process/process_start.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <string_view>

namespace winnow::app {
namespace {

// Runs before any library's constructor, so with system calls alone.
void requireWorkingFolder(int, char**, char**) {
  static char path[1 << 16];
  if (::syscall(SYS_getcwd, path, sizeof path) > 0 || errno != ENOENT) return;
  constexpr std::string_view kSentence =
      "winnow: the folder that the program was started in does not exist any more; start it in another one\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(1);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const kEntry)(int, char**, char**) = requireWorkingFolder;

}  // namespace

void beginProcess() {
  ::umask(077);
  std::signal(SIGXFSZ, SIG_IGN);
}

void keepDecimalPoint() { std::setlocale(LC_NUMERIC, "C"); }

}  // namespace winnow::app
