// Turns that are decoded together say what each says alone, and leave the same caches: over random mixtures of methods, sampling, lengths,
// stop strings, stops and cancels, of every family and in several weights. They join and leave between steps.
#include "engine/generation/requests/turns_together.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include "tests/engine/generation/same_answers.h"
#include "tests/engine/generation/three_axis_family.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/asked_queue.h"

namespace winnow::testing {
namespace {

constexpr int kRequestMixtures = 10;  // of each of more than twenty families

// When a request is interrupted: after so many tokens; 0: never.
struct Break {
  int after = 0;
  Interrupt kind = Interrupt::kStop;
};

class RequestsTogether : public EveryFamily {
 protected:
  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  Turn turn(ConversationId conversation) {
    const std::vector<MethodInfo> methods = legal_methods();
    constexpr int kBits[] = {0, 32, 16, 8, 4};
    Turn turn = ask(below(2) == 0 ? "text" : "image", methods[below(methods.size())].name, 0.2 + 0.2 * static_cast<double>(below(5)),
                    1 + static_cast<int>(below(14)));
    RecipeSpec recipe = turn.recipe;
    recipe.kv_bits = on_gpu() ? 0 : kBits[below(5)];
    if (!recipe_problem(recipe, info_.traits)) turn.recipe = recipe;
    turn.conversation = conversation;
    turn.sampling.seed = random_();
    turn.sampling.told_probabilities = 2;
    if (below(2) == 0) turn.sampling.temperature = 1.5;
    if (below(3) == 0) turn.sampling.repetition_penalty = 1.3;
    if (below(3) == 0) turn.sampling.stop_strings = {"e", "st"};
    return turn;
  }

  void load(WeightFormat format) {
    LoadModel load;
    load.folder = golden_.model_folder();
    load.format = format;
    info_ = run(load).last<ModelLoaded>().value().info;
  }

  static void break_off(QueuedRequest& queued, const Break& where) {
    if (where.after == 0) return;
    queued.events.hook = [&queued, where, told = 0](const Event& event) mutable {
      if (!std::holds_alternative<TokenSampled>(event.body) || ++told != where.after) return;
      where.kind == Interrupt::kStop ? queued.interrupt.request_stop() : queued.interrupt.request_cancel();
    };
  }

  // Each from nothing, then asked on: what it says to both.
  std::vector<EventRecorder> answers(const std::vector<Turn>& turns, const std::vector<Break>& breaks, bool together) {
    AskedQueue queue;
    std::mt19937 comes(7);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      run(ForgetConversation{turns[i].conversation});
      break_off(queue.add(100 + i, turns[i]), breaks[i]);
    }
    if (together) queue.gate = [&] { return comes() % 3 == 0; };
    if (together) {
      while (queue.taken < turns.size()) queue.run(*engine_);
    } else {
      for (QueuedRequest& each : queue.all) engine_->handle(each.request, each.events, each.interrupt.token());
    }
    std::vector<EventRecorder> all;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const std::optional<Finished> finished = queue.all[i].events.last<Finished>();
      all.push_back(std::move(queue.all[i].events));
      all.push_back(run(finished && !finished->restored ? follow_up(turns[i], finished->answer, "And?") : turns[i]));
    }
    return all;
  }

  std::mt19937 random_;
};

TEST_P(RequestsTogether, SayWhatTheySayOneAfterTheOther) {
  random_.seed(std::accumulate(info_.folder.begin(), info_.folder.end(), 11U));
  for (int i = 0; i < kRequestMixtures; ++i) {
    if (i % 3 == 0 && !on_gpu())
      load(std::array{WeightFormat::kFp32, WeightFormat::kInt4, WeightFormat::kBf16, WeightFormat::kInt8}[i / 3 % 4]);
    std::vector<Turn> turns;
    std::vector<Break> breaks;
    while (turns.size() < 2 + below(5)) {
      turns.push_back(turn(20 + turns.size()));
      breaks.push_back({below(3) == 0 ? 1 + static_cast<int>(below(6)) : 0, below(2) == 0 ? Interrupt::kStop : Interrupt::kCancel});
    }
    const std::vector<EventRecorder> apart = answers(turns, breaks, false);
    const std::vector<EventRecorder> together = answers(turns, breaks, true);
    for (std::size_t request = 0; request < apart.size(); ++request) {
      const Turn& asked = turns[request / 2];
      SCOPED_TRACE(::testing::Message() << "mixture " << i << ", request " << request << ", " << asked.recipe.method << " in "
                                        << info_.dtype);
      expect_same_answers(said_in(apart[request]), said_in(together[request]));
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, RequestsTogether, tiny_families(), folder_info_name);

class TurnGroup : public TinyModel {
 protected:
  Turn turn(ConversationId conversation, int tokens, const std::string& question = "What moves?") {
    Turn turn = ask("text", "full", 1.0, tokens);
    turn.conversation = conversation;
    turn.messages = {{Role::kUser, {TextItem{question}}}};
    return turn;
  }
  static std::size_t at_first(const std::vector<RequestId>& order, RequestId id) {
    return static_cast<std::size_t>(std::ranges::find(order, id) - order.begin());
  }
  static std::size_t at_last(const std::vector<RequestId>& order, RequestId id) {
    return order.size() - 1 - static_cast<std::size_t>(std::find(order.rbegin(), order.rend(), id) - order.rbegin());
  }
};

// The weights are read as often as for the longest answer.
TEST_F(TurnGroup, ReadsAStepOfAllOfThem) {
  const c10::InferenceMode inference;
  Seen seen;
  const std::unique_ptr<LoadedModel> model = load_folder(golden_.in_fp32(), {}, InterruptToken());
  model->network = three_axis_model(*model->network, seen);
  EventRecorder events;
  std::size_t ended = 0;
  TurnsTogether turns([&](const RequestContext& context, const auto& work) {
    if (std::optional<EventBody> outcome = work()) context.emit(*std::move(outcome)), ++ended;
  });
  std::vector<ConversationStates> states(3);
  for (std::size_t i = 0; i < states.size(); ++i) {
    Turn asked = turn(i + 1, 12);
    asked.sampling.limit(16 + 3 * static_cast<int>(i));
    turns.begin({*model, nullptr, EmitEvent(events, i), InterruptToken()}, asked, states[i]);
  }
  seen.steps.clear();  // those that the first ones took while the others were read
  EXPECT_TRUE(turns.holds(3));
  EXPECT_GT(turns.bytes_to_come(), 0);
  while (turns.size() > 0) turns.step();
  EXPECT_EQ(ended, 3U);
  ASSERT_FALSE(seen.steps.empty());
  EXPECT_EQ(seen.steps.front(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(seen.steps, std::greater())) << "who ends leaves";
  EXPECT_GE(seen.steps.size(), states[2].current->answer_ids.size() - 1);
  EXPECT_LE(seen.steps.size(), 16U + 3U * 2U);
}

TEST_F(TurnGroup, OthersGoOnWhileAPromptIsRead) {
  AskedQueue queue;
  queue.add(10, turn(1, 40));
  QueuedRequest& late = queue.add(11, turn(2, 2, "What moves, and where does it go to?"));
  std::get<Turn>(queue.all[0].request.body).sampling.told_probabilities = 1;
  int spoken = 0, meanwhile = 0;
  bool reading = false;
  queue.all[0].events.hook = [&](const Event& event) {
    if (std::holds_alternative<TokenSampled>(event.body)) reading ? ++meanwhile : ++spoken;
  };
  late.events.hook = [&](const Event& event) {
    if (std::holds_alternative<Progress>(event.body)) reading = true;
    if (std::holds_alternative<CacheReport>(event.body)) reading = false;
  };
  queue.gate = [&] { return queue.taken == 0 || spoken >= 3; };
  queue.run(*engine_);
  EXPECT_EQ(queue.taken, 2U);
  EXPECT_GE(meanwhile, static_cast<int>(info_.layers) - 1);
}

// Nothing overtakes the head of the queue: a conversation is asked one question at a time, and a comparison alone.
TEST_F(TurnGroup, TakesInWhatMayRunBesideIt) {
  AskedQueue queue;
  std::vector<RequestId> order;
  const auto add = [&](RequestId id, RequestBody body) {
    queue.add(id, std::move(body)).events.hook = [&order, id](const Event&) { order.push_back(id); };
  };
  add(10, turn(1, 6));
  add(11, turn(2, 12));
  add(12, Tokenize{turn(1, 1).messages});
  add(13, turn(1, 2));
  add(14, compare_of(turn(9, 2), {turn(9, 2).recipe}));
  add(15, turn(3, 2));
  queue.run(*engine_);
  for (const QueuedRequest& each : queue.all) EXPECT_TRUE(ends_request(each.events.events.back())) << each.request.id;
  EXPECT_LT(at_last(order, 12), at_last(order, 10)) << "done between two steps";
  EXPECT_LT(at_last(order, 10), at_first(order, 13));
  EXPECT_LT(at_first(order, 13), at_last(order, 11)) << "as soon as the first has ended";
  EXPECT_LT(at_last(order, 11), at_first(order, 14));
  EXPECT_LT(at_last(order, 14), at_first(order, 15));
}

TEST_F(TurnGroup, HasAtMostEight) {
  AskedQueue queue;
  for (RequestId i = 0; i < 10; ++i) queue.add(10 + i, turn(1 + i, 80));
  std::size_t most = 0, ended = 0;
  for (QueuedRequest& each : queue.all) {
    each.events.hook = [&](const Event& event) {
      most = std::max(most, queue.taken - ended);
      ended += ends_request(event) ? 1 : 0;
    };
  }
  queue.run(*engine_);
  EXPECT_EQ(ended, 10U);
  EXPECT_EQ(most, 8U);
}

TEST_F(TurnGroup, OneThatFailsLeavesTheOthers) {
  AskedQueue queue;
  queue.add(10, turn(1, 8));
  Turn wrong = turn(2, 8);
  wrong.recipe.method = "no such method";
  queue.add(11, wrong);
  queue.add(12, turn(3, 8));
  queue.run(*engine_);
  EXPECT_TRUE(queue.all[1].events.last<Failed>());
  EXPECT_EQ(finished(queue.all[0].events).answer, finished(queue.all[2].events).answer);
}

}  // namespace
}  // namespace winnow::testing
