// Questions that winnow-engine decodes together: each has the answer that it has alone, and its own end where the process dies.
#include <algorithm>

#include "tests/app/engine/program/running_engine.h"

namespace winnow::testing {
namespace {

class QuestionsTogether : public RunningEngine {
 protected:
  void SetUp() override { load(demo_model()); }

  static std::vector<Turn> questions() {
    std::vector<Turn> turns;
    for (const char* const text : {"What happens in this video?", "Describe the video.", "Which shapes do you see?", "What comes last?"}) {
      turns.push_back(question(text, 4 + 2 * static_cast<int>(turns.size())));
      turns.back().conversation = 20 + turns.size();
    }
    turns[1].recipe.method = "snapkv";
    turns[1].recipe.retention = 0.3;
    turns[2].sampling.temperature = 1.0;
    turns[2].sampling.seed = 5;
    return turns;
  }
};

TEST_F(QuestionsTogether, HaveTheAnswersThatTheyHaveAlone) {
  AskedQueue queue;
  std::vector<std::string> alone;
  for (const Turn& turn : questions()) {
    alone.push_back(said(ask(turn)));
    run(ForgetConversation{turn.conversation});
    queue.add(100 + alone.size(), turn);
  }
  bool first_ended = false, second_spoke_before = false;
  queue.all[0].events.hook = [&](const Event& event) { first_ended = first_ended || ends_request(event); };
  queue.all[1].events.hook = [&](const Event& event) {
    second_spoke_before = second_spoke_before || (!first_ended && std::holds_alternative<TextDelta>(event.body));
  };
  run_queue(queue);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_FALSE(alone[i].empty());
    EXPECT_EQ(said(queue.all[i].events), alone[i]);
  }
  EXPECT_TRUE(second_spoke_before);
}

// Each that had said nothing has its second try, and each that had fails.
TEST_F(QuestionsTogether, EachEndsOnceWhereTheProcessIsKilled) {
  AskedQueue queue;
  for (const Turn& turn : questions()) queue.add(200 + queue.all.size(), turn);
  const pid_t first = pid();
  queue.all[1].events.hook = [&](const Event& event) {
    if (std::holds_alternative<TextDelta>(event.body) && pid() == first) ::kill(first, SIGKILL);
  };
  run_queue(queue);
  EXPECT_NE(pid(), first);
  std::size_t failed = 0;
  for (const QueuedRequest& each : queue.all) {
    EXPECT_EQ(std::ranges::count_if(each.events.events, [](const Event& event) { return ends_request(event); }), 1);
    if (!each.events.last<Failed>()) continue;
    ++failed;
    EXPECT_EQ(failure(each.events), ErrorCode::kEngineCrashed);
    EXPECT_FALSE(each.events.streamed().empty());
  }
  EXPECT_GE(failed, 1U);
}

}  // namespace
}  // namespace winnow::testing
