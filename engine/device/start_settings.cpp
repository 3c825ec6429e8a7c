// Sets the environment variables that libraries read when they are loaded; what the user has set stands.
//
// OMP_WAIT_POLICY: threads of libtorch's OpenMP sleep at barriers instead of spinning: beside other programs a spinning thread keeps the
// one it waits for from running, and a question takes ten times as long. THP_MEM_ALLOC_ENABLE: libtorch asks for huge pages where it
// allocates two megabytes and more. A decode step reads every weight once, and looking up small pages is a quarter of that.
// MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_: libc keeps up to 128 MB of what a prompt's products gave back, instead of having the
// kernel clear the same pages for the next ones, which took 4 to 8 % of a prompt of 512 tokens.
//
// OpenMP's library reads its variable in its constructor, once. Nothing that is linked to it can be sure to run before that and still be
// seen: the order of constructors follows needs only, and what is first of all (the preinit array, libraries marked initfirst) comes before
// libc's own constructor, which replaces the environment. So the program's preinit function, which runs before any library's constructor,
// starts the program anew with the variables set: the same process, before libtorch has done anything (some 30 ms).
// Linked into every program that has libtorch (LibTorch::cpu brings it). Plain system calls only: no library has been initialised.
#include <sys/auxv.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace {

struct Setting {
  char text[40];
  std::size_t name;  // its length, with the sign behind it
};
Setting g_settings[] = {{"OMP_WAIT_POLICY=PASSIVE", sizeof "OMP_WAIT_POLICY=" - 1},
                        {"THP_MEM_ALLOC_ENABLE=1", sizeof "THP_MEM_ALLOC_ENABLE=" - 1},
                        {"MALLOC_TRIM_THRESHOLD_=134217728", sizeof "MALLOC_TRIM_THRESHOLD_=" - 1},
                        {"MALLOC_MMAP_THRESHOLD_=33554432", sizeof "MALLOC_MMAP_THRESHOLD_=" - 1}};
constexpr std::size_t kSettings = sizeof g_settings / sizeof g_settings[0];
constexpr std::size_t kMostVariables = 4095;

void start_with_settings(int /*argc*/, char** argv, char** environment) {
  // Without an interpreter's base the dynamic loader itself was started with this program as its argument, and would be what starts anew.
  if (getauxval(AT_BASE) == 0) return;
  static char* extended[kMostVariables + kSettings + 1];
  std::size_t count = 0;
  bool there[kSettings] = {};
  for (; environment[count] != nullptr; ++count) {
    if (count == kMostVariables) return;
    for (std::size_t i = 0; i < kSettings; ++i)
      there[i] = there[i] || std::strncmp(environment[count], g_settings[i].text, g_settings[i].name) == 0;
    extended[count] = environment[count];
  }
  const std::size_t given = count;
  for (std::size_t i = 0; i < kSettings; ++i) {
    if (!there[i]) extended[count++] = g_settings[i].text;
  }
  if (count == given) return;
  static char program[4096];  // not /proc/self/exe itself: ps and top show the name that was started
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length > 0) execve(program, argv, extended);
  // If the program cannot be restarted, it goes on as it is: slower, otherwise the same.
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kEntry)(int, char**, char**) = start_with_settings;

}  // namespace
