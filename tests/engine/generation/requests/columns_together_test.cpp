// Columns of a comparison that are decoded together say what each says when they are decoded one after the other: every event of each, over
// random mixtures of methods, shares, KV cache dtypes and ways of sampling, of every family and in several weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>

#include "engine/generation/requests/run_comparison.h"
#include "tests/engine/generation/same_answers.h"
#include "tests/engine/generation/three_axis_family.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

constexpr int kMixtures = 10;  // of each family

class ColumnsTogether : public EveryFamily {
 protected:
  Compare mixture(std::mt19937& random) {
    const std::vector<MethodInfo> methods = legal_methods();
    const auto below = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
    constexpr int kBits[] = {0, 32, 16, 8, 4};
    Compare compare = compare_of(ask(below(2) == 0 ? "text" : "image", "full", 1.0, 4 + static_cast<int>(below(10))), {});
    while (compare.recipes.size() < 2 + below(4)) {
      RecipeSpec recipe = ask("text", methods[below(methods.size())].name, 0.2 + 0.2 * static_cast<double>(below(5))).recipe;
      recipe.kv_bits = on_gpu() ? 0 : kBits[below(5)];
      if (!recipe_problem(recipe, info_.traits)) compare.recipes.push_back(recipe);
    }
    compare.scores = ColumnScores::kNone;
    compare.sampling.seed = random();
    compare.sampling.told_probabilities = 2;
    if (below(2) == 0) compare.sampling.temperature = 1.5;
    if (below(3) == 0) compare.sampling.repetition_penalty = 1.3;
    if (below(3) == 0) compare.sampling.stop_strings = {"e", "st"};
    return compare;
  }

  void load(WeightFormat format) {
    LoadModel load;
    load.folder = golden_.model_folder();
    load.format = format;
    info_ = run(load).last<ModelLoaded>().value().info;
  }
};

TEST_P(ColumnsTogether, SayWhatTheySayOneAfterTheOther) {
  std::mt19937 random(std::accumulate(info_.folder.begin(), info_.folder.end(), 7U));
  for (int i = 0; i < kMixtures; ++i) {
    if (i % 3 == 0 && !on_gpu())
      load(std::array{WeightFormat::kFp32, WeightFormat::kInt4, WeightFormat::kBf16, WeightFormat::kInt8}[i / 3 % 4]);
    Compare request = mixture(random);
    const EventRecorder apart = run(request);
    request.order = ColumnOrder::kInterleaved;
    const EventRecorder together = run(request);
    if (apart.last<Failed>()) {  // some pictures are not for some methods
      EXPECT_EQ(together.last<Failed>().value().error.reason, apart.last<Failed>()->error.reason);
      continue;
    }
    for (std::size_t column = 0; column < request.recipes.size(); ++column) {
      SCOPED_TRACE(::testing::Message() << "mixture " << i << ", " << request.recipes[column].method << " in " << info_.dtype);
      const std::vector<Event> one = said_in(apart, static_cast<std::int32_t>(column));
      const std::vector<Event> two = said_in(together, static_cast<std::int32_t>(column));
      expect_same_answers(one, two);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ColumnsTogether, tiny_families(), folder_info_name);

// A column that ends leaves the others' steps; the weights are read as often as for the longest answer.
TEST(ColumnSteps, AreTheLongestAnswers) {
  const c10::InferenceMode inference;
  const GoldenFolder golden("gqa_tied");
  Seen seen;
  const std::unique_ptr<LoadedModel> model = load_folder(golden.in_fp32(), {}, InterruptToken());
  model->network = three_axis_model(*model->network, seen);
  EventRecorder events;
  const EmitEvent emit(events, 2);
  Compare compare;
  compare.messages = {{Role::kUser, {TextItem{"What moves?"}}}};
  for (const double retention : {1.0, 0.5, 0.3}) {
    RecipeSpec& recipe = compare.recipes.emplace_back();
    recipe.method = "snapkv";
    recipe.retention = retention;
  }
  compare.scores = ColumnScores::kNone;
  compare.sampling.max_new_tokens = 12;
  const auto steps_of = [&](ColumnOrder order) {
    compare.order = order;
    ConversationStates states;
    run_comparison({*model, nullptr, emit, InterruptToken()}, compare, states);
    std::vector<std::size_t> read;  // tokens of each column, less the last one
    for (const ComparedColumn& column : states.columns) read.push_back(column.state.answer_ids.size() - 1);
    return read;
  };
  const std::vector<std::size_t> read = steps_of(ColumnOrder::kOneAfterAnother);
  EXPECT_EQ(seen.steps, std::vector<std::size_t>(std::accumulate(read.begin(), read.end(), std::size_t{0}), 1));
  ASSERT_EQ(steps_of(ColumnOrder::kInterleaved), read);
  std::vector<std::size_t> expected;
  for (std::size_t step = 0; step < std::ranges::max(read); ++step)
    expected.push_back(static_cast<std::size_t>(std::ranges::count_if(read, [&](std::size_t tokens) { return tokens > step; })));
  EXPECT_EQ(seen.steps, expected);
}

}  // namespace
}  // namespace winnow::testing
