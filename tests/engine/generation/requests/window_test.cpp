// Layers that look back over a number of tokens only: what they hold, what a method may keep there, what is refused. The tiny model has a
// layer that looks back over everything and one that looks back over 24 tokens; an image and its question are 90.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/compression/layer_watch.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

struct WindowedTurns : TinyModel {
  WindowedTurns() : TinyModel("llava/next_window") {}
  static constexpr std::int64_t kWindow = 24;
  static constexpr std::size_t kWindowed = 1;  // of the two layers

  std::vector<MethodInfo> legal_methods() {
    std::vector<MethodInfo> legal = list_methods();
    std::erase_if(legal,
                  [&](const MethodInfo& each) { return recipe_problem(ask("text", each.name, 0.2).recipe, info_.traits).has_value(); });
    return legal;
  }
};

TEST_F(WindowedTurns, ALayerNeverHoldsMoreThanItsWindow) {
  ASSERT_EQ(info_.traits.window, kWindow);
  for (const MethodInfo& method : legal_methods()) {
    for (const double retention : {0.2, 0.7, 1.0}) {
      if (method.name == "full" && retention < 1.0) continue;
      run(ForgetConversation{7});
      Turn turn = ask("image", method.name, retention, 40);
      turn.sampling.stop_strings.clear();
      for (int round = 0; round < 3; ++round) {
        SCOPED_TRACE(::testing::Message() << method.name << " at " << retention << ", turn " << round);
        const EventRecorder events = run(turn);
        const Finished done = finished(events);
        const CacheReport report = *events.last<CacheReport>();
        const auto seen = static_cast<std::int32_t>(report.tokens.size());
        for (const std::vector<std::int32_t>& head : report.kept[kWindowed]) {
          ASSERT_LT(std::ssize(head), kWindow);
          if (!head.empty()) {
            EXPECT_GT(head.front(), seen - kWindow) << "a token that nobody sees again";
          }
        }
        EXPECT_LT(done.figures.layers[kWindowed].end.total(), static_cast<double>(kWindow));
        if (retention == 1.0) {
          EXPECT_EQ(done.figures.kv_bytes.end, done.figures.kv_bytes.full_end);
          EXPECT_EQ(report.kept[kWindowed].front().size(), static_cast<std::size_t>(kWindow - 1));
        }
        turn = follow_up(turn, done.answer, "And now?");
      }
    }
  }
}

// What a method keeps of the media before their question is read is known when they are prepared, and without looking where it is chosen
// so. Else it decides how much of it the window passes by while the question is read, and the plan is the most that can be left.
TEST_F(WindowedTurns, APlanIsWhatIsLeftOrTheMostThatCanBe) {
  for (const MethodInfo& method : legal_methods()) {
    if (!phase_facts(method.phase).before_question) continue;
    for (const double retention : {0.2, 0.5, 0.8}) {
      for (const std::string words : {"It?", "What is it that the picture shows, and what is beside it?"}) {
        SCOPED_TRACE(::testing::Message() << method.name << " at " << retention << ", " << words);
        run(ForgetConversation{7});
        Turn turn = ask("image", method.name, retention);
        turn.messages.front().items.back() = TextItem{words};
        const std::int64_t planned = run(Plan{turn}).last<Planned>()->kv_bytes_after_event;
        ASSERT_TRUE(run(Prepare{turn}).last<Prepared>()->compressed);
        const std::int64_t prepared = run(Plan{turn}).last<Planned>()->kv_bytes_after_event;
        const EventRecorder events = run(turn);
        const std::int64_t left = finished(events).figures.kv_bytes.after_event;
        EXPECT_EQ(prepared, left);
        EXPECT_GE(planned, left);
        const bool passed_by = finished(events).figures.tokens.prompt >= kWindow;  // all of the media
        const bool known = method.name == "every-k" || method.name == "random-context" || (passed_by && method.name == "keydiff");
        if (known) {
          EXPECT_EQ(planned, left);
        }
      }
    }
  }
}

// A share is of what a layer sees; a number of slots is a number.
TEST_F(WindowedTurns, TheShareIsOfWhatALayerSees) {
  for (const std::string method : {"streaming-llm", "random", "h2o"}) {
    run(ForgetConversation{7});
    const CacheReport report = *run(ask("image", method, 0.5)).last<CacheReport>();
    EXPECT_NEAR(report.layers[0].kept, 45.0, 1.0) << method;
    EXPECT_NEAR(report.layers[kWindowed].kept, 11.5, 1.0) << method;
  }
  run(ForgetConversation{7});
  Turn turn = ask("image", "random", 0.5);
  turn.recipe.budget_tokens = 14;
  const CacheReport report = *run(turn).last<CacheReport>();
  EXPECT_EQ(report.layers[0].kept, 14.0);
  EXPECT_EQ(report.layers[kWindowed].kept, 14.0);
}

TEST_F(WindowedTurns, WhatGoesByTokensOutOfSightIsRefusedByName) {
  std::vector<std::string> refused;
  for (const MethodInfo& method : list_methods()) {
    const std::optional<Error> problem = recipe_problem(ask("text", method.name, 0.2).recipe, info_.traits);
    if (!problem) continue;
    refused.push_back(method.name);
    EXPECT_EQ(problem->code, ErrorCode::kIllegalRecipe);
    EXPECT_NE(problem->reason.find("some layers of this model look back over 24 tokens only"), std::string::npos) << problem->reason;
    const EventRecorder events = run(ask("image", method.name, 0.2));
    ASSERT_TRUE(events.last<Failed>()) << method.name;
    EXPECT_EQ(events.last<Failed>()->error.reason, problem->reason);
  }
  for (const std::string method : {"ems", "fastv", "ivtp", "rekv", "infinipot-v"})
    EXPECT_NE(std::ranges::find(refused, method), refused.end()) << method;
  for (const std::string method : {"full", "snapkv", "h2o", "d2o", "kvzip", "self-study", "fastervlm"})
    EXPECT_EQ(std::ranges::find(refused, method), refused.end()) << method;
}

// Cut answers, answers again and guards go on from states whose windows have moved.
TEST_F(WindowedTurns, AThreadIsTheSameHoweverItIsContinued) {
  for (const std::string method : {"full", "h2o", "snapkv", "kvzip"}) {
    const double retention = method == "full" ? 1.0 : 0.4;
    run(ForgetConversation{7});
    const Turn first = ask("image", method, retention, 30);
    const Finished one = finished(run(first));
    const Turn second = follow_up(first, one.answer, "And now?");
    const Finished two = finished(run(second));
    EXPECT_EQ(finished(run(second)).answer, two.answer) << method << " asked again";
  }
}

class Views : public PrefillObserver {
 public:
  bool wants_views() const override { return true; }
  void on_layer(const LayerView& view) override {
    all.push_back(view);
    all.back().query = view.query.clone();
  }
  std::vector<LayerView> all;
};

// Rows of a segment that see each other, and how many slots there were before it.
struct WindowedSegment {
  std::int64_t first = 0;
  std::int64_t rows = 0;
  std::vector<RowSpan> bidirectional{};
};

// What a layer's columns got of the rows that are left under its window, against the whole matrix.
void expect_masked_matrix(const TextDecoder& text, KvCache& cache, const WindowedSegment& of) {
  Views views;
  const at::Tensor ids = at::arange(of.first, of.first + of.rows, at::kLong).remainder(250).add_(5);
  test_support::prefill(text, text.embed(ids), of.first, cache, &views, {}, {.bidirectional = of.bidirectional});
  const std::vector<Modality> modality(static_cast<std::size_t>(of.rows), Modality::kText);
  const KvShape& shape = cache.shape();
  SegmentInfo segment;
  segment.tokens = of.rows;
  segment.modality = modality;
  segment.first_original = static_cast<std::int32_t>(of.first);
  segment.layers = shape.layers;
  segment.heads = text.heads();
  segment.kv_heads = shape.kv_heads;
  segment.windows = &shape.windows;
  segment.bidirectional = of.bidirectional;
  const CandidateSets sets(segment);
  for (const LayerView& view : views.all) {
    const std::int64_t window = shape.window(view.layer) > 0 ? shape.window(view.layer) : 1000;
    const Candidates& set = sets.of(view.layer, KvHead(0));
    const std::int64_t left = std::min(of.rows, window - 1);
    EXPECT_EQ(set.info.tokens, left);
    StatisticsNeed need;
    need.rows = RowRule::all();
    need.column_sums = true;
    need.reduce = GroupReduce::kSum;
    const RowStatistics found = attention_statistics(set.view_of(view), set.info, need);

    // All keys that the layer ever had: those of the slots before, which the window has not passed by, and the segment's.
    const std::int64_t group = segment.heads / segment.kv_heads;
    for (KvHead head{0}; head < segment.kv_heads; ++head) {
      const std::int64_t past = view.past_keys.empty() ? 0 : view.past_keys[static_cast<std::size_t>(head)].size(0);
      const at::Tensor own = view.key.select(0, head);
      const at::Tensor keys = past == 0 ? own : at::cat({view.past_keys[static_cast<std::size_t>(head)], own});
      const at::Tensor query = view.query.narrow(0, head * group, group);
      at::Tensor logits = at::matmul(query, keys.t()) * view.scale;
      const at::Tensor row = at::arange(past, past + of.rows, at::kLong).unsqueeze(1);
      const at::Tensor apart = row - at::arange(0, past + of.rows, at::kLong).unsqueeze(0);  // slots before are the last tokens, in order
      at::Tensor hidden = apart.lt(0).logical_or(apart.ge(window));
      for (const RowSpan& span : of.bidirectional)
        hidden.narrow(0, span.first, span.count).narrow(1, past + span.first, span.count).fill_(false);
      logits.masked_fill_(hidden, -std::numeric_limits<double>::infinity());
      EXPECT_LE(test_support::relative_distance(view.log_sum_exp.narrow(0, head * group, group), at::logsumexp(logits, {2})), 1e-5);
      const at::Tensor sums = at::softmax(logits, 2).narrow(1, of.rows - left, left).sum(at::IntArrayRef{0, 1});
      const at::Tensor ours = at::tensor(std::vector<float>(found.column_sums.row(head).begin(), found.column_sums.row(head).end()));
      EXPECT_LE(test_support::relative_distance(ours, sums.slice(0, past + of.rows - left)), 1e-5) << "layer " << view.layer;
      // Rows that saw a key are the column's entries that are not hidden.
      const at::Tensor seen = hidden.narrow(0, of.rows - left, left).logical_not().sum(0).slice(0, past + of.rows - left);
      for (std::int64_t key = 0; key < left; ++key) EXPECT_EQ(set.info.rows_that_saw(key), seen[key].item<std::int64_t>()) << key;
    }
  }
}

TEST(WindowedStatistics, AreThoseOfTheMaskedMatrix) {
  c10::InferenceMode inference;
  const std::unique_ptr<VisionLanguageModel> model = test_support::load_golden_model("llava/next_window");
  KvCache cache(model->text().kv_shape());
  for (const auto& [first, rows] : {std::pair{0, 15}, std::pair{15, 4}, std::pair{19, 40}})
    expect_masked_matrix(model->text(), cache, {first, rows});
}

// Gemma 3's layers look back over 20 tokens, or over everything. Through the picture of rows 18 to 25 of 40 goes the window's edge.
TEST(WindowedStatistics, OfPicturesAreThoseOfTheMaskedMatrix) {
  c10::InferenceMode inference;
  const std::unique_ptr<VisionLanguageModel> model = test_support::load_golden_model("gemma3/published");
  KvCache cache(model->text().kv_shape());
  expect_masked_matrix(model->text(), cache, {0, 30, {{2, 4}, {8, 3}, {13, 17}}});
  expect_masked_matrix(model->text(), cache, {30, 4, {{1, 2}}});
  expect_masked_matrix(model->text(), cache, {34, 40, {{5, 6}, {18, 8}, {33, 5}}});
  expect_masked_matrix(model->text(), cache, {74, 30, {{0, 30}}});
}

}  // namespace
}  // namespace winnow::testing
