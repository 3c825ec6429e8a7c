#include "app/engine/source/in_process_option.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "app/engine/source/engine_source.h"

namespace winnow::app {
namespace {

// Its index; 0: it is not there. Nothing after "--" is an option.
int optionIn(int argc, char** argv) {
  for (int at = 1; at < argc && std::strcmp(argv[at], "--") != 0; ++at) {
    if (std::strcmp(argv[at], kInProcessOption) == 0) return at;
  }
  return 0;
}

[[noreturn]] void becomeTwin(char** argv) {
  std::error_code failed;
  const std::string twin = std::filesystem::read_symlink("/proc/self/exe", failed).string() + "-in-process";
  argv[0] = const_cast<char*>(twin.c_str());
  ::execv(twin.c_str(), argv);
  std::fprintf(stderr, "winnow: %s, which runs the engine in the program itself, cannot be started: %s; build it, or leave out %s\n",
               twin.c_str(), std::strerror(errno), kInProcessOption);
  std::exit(1);
}

}  // namespace

bool followInProcessOption(int& argc, char** argv) {
  const int given = optionIn(argc, argv);
  if (given == 0) return false;
  if (ownEnginePlace() == EnginePlace::kWorkerProcess) becomeTwin(argv);
  for (int at = given; at < argc; ++at) argv[at] = argv[at + 1];  // the last is the null pointer behind the list
  --argc;
  return true;
}

}  // namespace winnow::app
