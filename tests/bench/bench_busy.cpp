// bench_busy: the sample question with threads that sleep while they wait (as the programs are) against threads that spin (libgomp's
// default), on a machine as it is and beside busy programs.
//
//   bench_busy [--busy N] [--rounds N]       busy programs beside it (2), questions of each kind (10)
//
// Each question is a process of its own, in the order A-B-B-A. Medians; ratios are spinning to sleeping, so above 1 sleeping is faster.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Answer {
  std::string text;
  double first_token_ms = 0.0;
  double token_ms = 0.0;
};

enum class Waiting : int { kSleeping = 1, kSpinning = 2 };

// Programs that take a core each while it lives.
class BusyPrograms {
 public:
  explicit BusyPrograms(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        volatile unsigned turns = 0;
        while (true) turns = turns + 1;
      }
      children_.push_back(child);
    }
  }
  ~BusyPrograms() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  BusyPrograms(const BusyPrograms&) = delete;
  BusyPrograms& operator=(const BusyPrograms&) = delete;

 private:
  std::vector<pid_t> children_;
};

class SampleQuestion {
 public:
  SampleQuestion() : program_(fs::read_symlink("/proc/self/exe").parent_path() / "winnow-cli") {
    std::string pattern = (fs::temp_directory_path() / "winnow-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the answers");
    folder_ = pattern;
  }
  ~SampleQuestion() { fs::remove_all(folder_); }
  SampleQuestion(const SampleQuestion&) = delete;
  SampleQuestion& operator=(const SampleQuestion&) = delete;

  Answer ask(Waiting waiting) const {
    const fs::path out = folder_ / "answer.json";
    const pid_t child = fork();
    if (child == 0) {
      dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      setenv("WINNOW_HOME", folder_.c_str(), 1);
      // A value that says nothing is left alone by the program, and libgomp keeps its default.
      unsetenv("OMP_WAIT_POLICY");
      if (waiting == Waiting::kSpinning) setenv("OMP_WAIT_POLICY", "", 1);
      execl(program_.c_str(), program_.c_str(), "ask", "--sample", "--json", nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) throw std::runtime_error(program_.string() + " ask --sample does not answer");
    const nlohmann::json answer = nlohmann::json::parse(std::ifstream(out));
    return {answer["answer"].get<std::string>(), answer["timings_ms"]["ttft"].get<double>(), 1000.0 / answer["tokens_per_s"].get<double>()};
  }

 private:
  fs::path program_;
  fs::path folder_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Times {
  std::vector<double> first_token_ms;
  std::vector<double> token_ms;
  void add(const Answer& answer) {
    first_token_ms.push_back(answer.first_token_ms);
    token_ms.push_back(answer.token_ms);
  }
};

void measure(const char* where, const SampleQuestion& question, int rounds) {
  Times sleeping;
  Times spinning;
  for (int round = 0; round < rounds; ++round) {
    const bool swapped = round % 2 == 1;
    (swapped ? spinning : sleeping).add(question.ask(swapped ? Waiting::kSpinning : Waiting::kSleeping));
    (swapped ? sleeping : spinning).add(question.ask(swapped ? Waiting::kSleeping : Waiting::kSpinning));
  }
  const double first = median(sleeping.first_token_ms);
  const double token = median(sleeping.token_ms);
  std::printf("%s: first token %.0f ms, spinning to sleeping %.2f; then %.1f ms a token, spinning to sleeping %.2f\n", where, first,
              median(spinning.first_token_ms) / first, token, median(spinning.token_ms) / token);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int busy = 2;
  int rounds = 10;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : 0;
    if ((option != "--busy" && option != "--rounds") || value < 1) {
      std::fprintf(stderr, "usage: bench_busy [--busy N] [--rounds N]\n");
      return 2;
    }
    (option == "--busy" ? busy : rounds) = value;
  }
  try {
    const SampleQuestion question;
    if (question.ask(Waiting::kSleeping).text != question.ask(Waiting::kSpinning).text) throw std::runtime_error("the answers differ");
    double load = 0.0;
    getloadavg(&load, 1);
    std::printf("./winnow bench bench_busy --busy %d --rounds %d (load of the machine before: %.1f)\n", busy, rounds, load);
    measure("as it is", question, rounds);
    const BusyPrograms programs(busy);
    measure(("beside " + std::to_string(busy) + " busy programs").c_str(), question, rounds);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_busy: %s\n", problem.what());
    return 1;
  }
  return 0;
}
