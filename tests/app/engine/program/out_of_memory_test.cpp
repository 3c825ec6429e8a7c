// An engine whose memory ends, by a limit of its own or by the kernel's choice: the request fails of that and of nothing else, and the next
// one is answered.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/app/engine/program/running_engine.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// "VmSize:  1234 kB".
std::int64_t virtual_bytes(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string word;
  std::int64_t kib = 0;
  while (status >> word) {
    if (word == "VmSize:" && status >> kib) return kib * 1024;
  }
  return 0;
}

// A memory group of the kernel's for one process; without the right to make one, nothing.
class MemoryGroup {
 public:
  static std::optional<std::string> folder_for_new() {
    std::ifstream groups("/proc/self/cgroup");
    std::string line;
    while (std::getline(groups, line)) {
      const std::size_t at = line.find(":memory:");
      if (at != std::string::npos) return "/sys/fs/cgroup/memory" + line.substr(at + 8) + "/winnow-test-" + std::to_string(::getpid());
      if (line.starts_with("0::") && fs::exists("/sys/fs/cgroup/cgroup.controllers"))
        return "/sys/fs/cgroup" + line.substr(3) + "/winnow-test-" + std::to_string(::getpid());
    }
    return std::nullopt;
  }

  explicit MemoryGroup(const std::string& folder) : folder_(folder) {
    std::error_code failed;
    made_ = fs::create_directory(folder_, failed);
  }
  ~MemoryGroup() {
    if (made_) ::rmdir(folder_.c_str());
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool take(pid_t process, std::int64_t bytes) const {
    if (!made_) return false;
    for (const char* const limit : {"memory.limit_in_bytes", "memory.max"}) {
      if (fs::exists(folder_ + "/" + limit) && !write(limit, bytes)) return false;
    }
    return write("cgroup.procs", process);
  }

 private:
  bool write(const std::string& name, std::int64_t value) const {
    std::ofstream file(folder_ + "/" + name);
    file << value << std::flush;
    return file.good();
  }

  const std::string folder_;
  bool made_ = false;
};

class OutOfMemory : public RunningEngine {
 protected:
  static bool is_want_of_memory(const EventRecorder& events) {
    return failure(events) == ErrorCode::kOutOfMemory || failure(events) == ErrorCode::kEngineOutOfMemory;
  }

  // Asked in a process that has read nothing yet, which is bounded by `bound` when it begins to.
  EventRecorder ask_bounded(const Turn& turn, const std::function<void(pid_t)>& bound) {
    end_process();
    bool bounded = false;
    return run(
        turn,
        [&](const Event& event) {
          const auto* progress = std::get_if<Progress>(&event.body);
          if (progress == nullptr || progress->phase == Phase::kLoadWeights || std::exchange(bounded, true)) return;
          bound(pid());
        },
        Tries::kOne);
  }

  const Turn turn_ = question("What happens in this video?", 64);
};

TEST_F(OutOfMemory, OfItsOwnLimitFailsTheRequestAndTheNextIsAnswered) {
  load(demo_model());
  const std::string answer = said(ask(turn_));
  int failed = 0;
  for (const std::int64_t more : {0, 2, 8, 16, 32, 64, 256}) {
    SCOPED_TRACE(more);
    pid_t bounded = 0;
    const EventRecorder events = ask_bounded(turn_, [&](pid_t process) {
      bounded = process;
      const rlimit limit{static_cast<rlim_t>(virtual_bytes(process) + more * kMiB), RLIM_INFINITY};
      EXPECT_EQ(::prlimit(process, RLIMIT_AS, &limit, nullptr), 0);
    });
    // Libraries that do not look at what they were given end the process.
    EXPECT_TRUE(is_want_of_memory(events) || failure(events) == ErrorCode::kEngineCrashed || said(events) == answer) << said(events);
    failed += failure(events) ? 1 : 0;
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    if (pid() == bounded) ::prlimit(bounded, RLIMIT_AS, &none, nullptr);
    EXPECT_EQ(said(ask(turn_)), answer);
  }
  EXPECT_GT(failed, 0);
}

TEST_F(OutOfMemory, OfTheKernelsChoiceIsToldAndTheNextIsAnswered) {
  const std::optional<std::string> folder = MemoryGroup::folder_for_new();
  if (!folder) GTEST_SKIP() << "no groups of memory on this machine";
  load(demo_model());
  const std::string answer = said(ask(turn_));
  const MemoryGroup group(*folder);
  bool taken = false;
  const EventRecorder events = ask_bounded(turn_, [&](pid_t process) { taken = group.take(process, 4 * kMiB); });
  if (!taken) GTEST_SKIP() << "no right to make a group of memory";
  EXPECT_EQ(failure(events), ErrorCode::kEngineOutOfMemory) << said(events);
  EXPECT_EQ(said(ask(turn_)), answer);
}

}  // namespace
}  // namespace winnow::testing
