// Threads of libtorch's OpenMP sleep at barriers instead of spinning: beside other programs a spinning thread keeps the one it waits for
// from running, and a question takes ten times as long. A user's own OMP_WAIT_POLICY stands.
//
// The OpenMP library reads the variable in its constructor, once. Nothing that is linked to it can be sure to run before that and still be
// seen: the order of constructors follows needs only, and what is first of all (the preinit array, libraries marked initfirst) comes before
// libc's own constructor, which replaces the environment. So the program's preinit function, which runs before any library's constructor,
// starts the program anew with the variable set: the same process, before libtorch has done anything (some 30 ms).
// Linked into every program that has libtorch (LibTorch::cpu brings it). Plain system calls only: no library has been initialised.
#include <sys/auxv.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace {

constexpr char kVariable[] = "OMP_WAIT_POLICY=";
constexpr std::size_t kMostVariables = 4095;

void start_with_passive_waiting(int /*argc*/, char** argv, char** environment) {
  // Without an interpreter's base the dynamic loader itself was started with this program as its argument, and would be what starts anew.
  if (getauxval(AT_BASE) == 0) return;
  static char passive[] = "OMP_WAIT_POLICY=PASSIVE";
  static char* extended[kMostVariables + 2];
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == kMostVariables || std::strncmp(environment[count], kVariable, sizeof kVariable - 1) == 0) return;
    extended[count] = environment[count];
  }
  extended[count] = passive;
  static char program[4096];  // not /proc/self/exe itself: ps and top show the name that was started
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length > 0) execve(program, argv, extended);
  // What could not be started anew goes on as it is: slower on a busy machine, otherwise the same.
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kEntry)(int, char**, char**) = start_with_passive_waiting;

}  // namespace
