// bench_engine_process: what a token's event costs on its way from an engine's process, beside the same engine in this one.
//
//   bench_engine_process [--words N] [--rounds N]       words of the answer (20000), rounds A-B-B-A (5)
//
// The engine is the tests' scripted one, which says a word a token and takes no time of its own. Also: a whole request and its answer (a
// plan), and the text is compared.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/engine/process/process_engine.h"
#include "tests/support/event_recorder.h"
#include "tests/support/scripted_engine.h"

namespace {

using namespace winnow;
using Clock = std::chrono::steady_clock;

Turn question(int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "word ";
  Turn turn{.conversation = 1};
  turn.messages.push_back({Role::kUser, {TextItem{text}}});
  return turn;
}

double microseconds(Engine& engine, const RequestBody& body, std::string& text) {
  winnow::testing::EventRecorder events;
  const auto began = Clock::now();
  engine.handle({1, body}, events, {});
  const double all = std::chrono::duration<double, std::micro>(Clock::now() - began).count();
  text = events.streamed();
  return all / static_cast<double>(events.events.size());
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  int words = 20000, rounds = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--words") words = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--rounds") rounds = std::atoi(argv[i + 1]);
  }
  test::ScriptedEngine here({}, std::make_shared<test::ScriptedEngineLog>());
  app::ProcessEngine there({app::workerProgram("scripted_worker")});
  const Turn turn = question(words);
  const Plan plan{question(1)};
  std::vector<double> token_here, token_there, plan_here, plan_there;
  std::string said_here, said_there, nothing;
  for (int round = -1; round < rounds; ++round) {
    for (const bool process : {false, true, true, false}) {
      Engine& engine = process ? static_cast<Engine&>(there) : here;
      const double token = microseconds(engine, turn, process ? said_there : said_here);
      const double planned = microseconds(engine, plan, nothing);
      if (round < 0) continue;
      (process ? token_there : token_here).push_back(token);
      (process ? plan_there : plan_here).push_back(planned);
    }
  }
  if (said_here != said_there || said_here.empty()) {
    std::fputs("bench_engine_process: the answers differ\n", stderr);
    return 1;
  }
  std::printf("a token's event      %8.2f us here, %8.2f us from a process\n", median(token_here), median(token_there));
  std::printf("a plan and its answer %7.2f us here, %8.2f us from a process\n", median(plan_here), median(plan_there));
  return 0;
}
