// The teacher-forced pass against a dense recomputation: prompt and answer through the model in one piece, and libtorch's own divergence.
#include "engine/generation/answer/answer_score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/generation/answer/answer_words.h"
#include "engine/generation/answer/turn_answer.h"
#include "engine/generation/conversation/decode_step.h"
#include "engine/generation/prefill/segment_prefill.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/reading/prepared_turn.h"
#include "tests/engine/generation/demo_question.h"
#include "tests/support/event_recorder.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

class AnswerScore : public ::testing::Test {
 protected:
  void load(const std::string& folder) {
    LoadModel request;
    request.folder = folder;
    request.format = WeightFormat::kFp32;
    model_ = load_folder(request, {}, InterruptToken());
  }

  static Turn question(const Message& message, const std::string& method, double retention, int tokens) {
    Turn turn;
    turn.messages = {message};
    turn.recipe.method = method;
    turn.recipe.retention = retention;
    turn.recipe.min_event_tokens = 0;
    turn.sampling.max_new_tokens = tokens;
    return turn;
  }

  RequestContext context() { return {*model_, &opener_, emit_, InterruptToken()}; }
  // From nothing, under turn.recipe.
  ReadyTurn ready(const Turn& turn, const ChooseFirst& first) {
    const Recipe recipe = recipe_for(turn.recipe, model_->network->info());
    Conversation empty(model_->network->text().kv_shape());
    return ready_single_turn(context(), turn, recipe, std::move(empty), first);
  }

  struct Answered {
    AnswerStart start;
    GivenAnswer given;
  };
  Answered answer(const Turn& turn) {
    ReadyTurn prepared = ready(turn, sampled_first(*model_, turn.sampling));
    Answered answered{prepared.start.fork(), {}};
    TurnAnswer said(context(), turn, std::move(prepared), [] { return 0.0; });
    while (said.step()) {
    }
    answered.given.text = said.finish().answer;
    answered.given.tokens = said.conversation().answer_ids;
    answered.given.written_by = &turn.sampling;
    return answered;
  }
  AnswerStart full_start(const Turn& turn) {
    Turn full = turn;
    full.recipe = {};
    full.recipe.method = "full";
    return ready(full, {}).start;
  }

  // fp32 [tokens, vocabulary]: what precedes each token of the answer, from one pass over prompt and answer without any cache.
  at::Tensor dense_logits(const Turn& turn, const std::vector<std::int64_t>& tokens, PrefillObserver* observer = nullptr) {
    Conversation empty(model_->network->text().kv_shape());
    TurnSegment segment = prepare_segment(context(), turn, nullptr, empty);
    const std::int64_t n = segment.tokens.size();
    const auto more = static_cast<std::int64_t>(tokens.size());
    segment.hidden = at::cat({segment.hidden, model_->network->text().embed(at::tensor(tokens, at::kLong))}, 0);
    segment.positions = one_axis_positions(n + more, 0).positions;
    for (std::int64_t i = 0; i < more; ++i) segment.originals.push_back(segment.originals.back() + 1);
    PrefillHooks hooks;
    hooks.observer = observer;
    const SegmentPrefill pass = prefill_segment(context(), segment, empty, hooks, LogitRows::kAll);
    return pass.logits.narrow(0, n - 1, more);
  }

  const c10::InferenceMode inference_;
  MemoryMediaOpener opener_;
  EventRecorder recorder_;
  EmitEvent emit_{recorder_, 1};
  std::unique_ptr<LoadedModel> model_;
};

TEST_F(AnswerScore, AgreesWithADenseRecomputationOnTheDemoModel) {
  load(source_folder() + "/resources/demo/model");
  const Message message = demo_question(opener_);
  int differing = 0;
  for (const std::string method : {"snapkv", "streaming-llm", "h2o", "d2o", "d2o late"}) {
    SCOPED_TRACE(method);
    Turn turn = question(message, method.substr(0, method.find(' ')), 0.05, 48);
    if (method == "d2o late") turn.recipe.options["event_at_first_decode"] = "true";
    Answered own = answer(turn);
    ASSERT_GT(own.given.tokens.size(), 2U);
    AnswerStart replay = own.start.fork();
    ASSERT_EQ(replay.first_step.has_value(), method == "d2o late");
    const Scored scored = score_answer(context(), own.given, std::move(own.start), full_start(turn));
    const Agreement& agreement = scored.agreement;

    const at::Tensor dense = at::log_softmax(dense_logits(turn, own.given.tokens).to(at::kDouble), 1);
    std::int64_t same = 0;
    double divergence = 0.0, loss = 0.0, full_loss = 0.0;
    for (std::size_t i = 0; i < own.given.tokens.size(); ++i) {
      const at::Tensor full = dense[static_cast<std::int64_t>(i)];
      const at::Tensor here = at::log_softmax(replay.logits.to(at::kDouble), 0);
      EXPECT_EQ(here.argmax().item<std::int64_t>(), own.given.tokens[i]) << "the greedy answer is its own top choice, replayed";
      same += full.argmax().item<std::int64_t>() == own.given.tokens[i] ? 1 : 0;
      divergence += at::kl_div(here, full, at::Reduction::Sum, /*log_target=*/true).item<double>();
      loss -= here[own.given.tokens[i]].item<double>();
      full_loss -= full[own.given.tokens[i]].item<double>();
      if (i + 1 == own.given.tokens.size()) break;
      replay.logits =
          i == 0 && replay.first_step ? replay.first_step->logits : decode_step(*model_->network, replay.state, own.given.tokens[i]);
    }
    const auto count = static_cast<double>(own.given.tokens.size());
    EXPECT_DOUBLE_EQ(agreement.top1, static_cast<double>(same) / count);
    EXPECT_NEAR(agreement.mean_kl.value(), divergence / count, 1e-4 * (1.0 + divergence / count));
    EXPECT_NEAR(agreement.loss.value(), loss / count, 1e-4 * (1.0 + loss / count));
    EXPECT_NEAR(agreement.full_loss.value(), full_loss / count, 1e-4 * (1.0 + full_loss / count));
    EXPECT_EQ(agreement.first_diverging_word.has_value(), same < std::ssize(own.given.tokens));
    differing += static_cast<int>(std::ssize(own.given.tokens) - same);
    for (const WordDifference& difference : agreement.differences) EXPECT_NE(difference.text, difference.full_text);
  }
  EXPECT_GT(differing, 0) << "5 % of the cache must cost something, or this test shows nothing";
}

// Dense attention of one row of the whole pass: per layer and kv head the group mean over all columns, and every layer's output.
class RowOfEveryLayer : public PrefillObserver {
 public:
  explicit RowOfEveryLayer(std::int64_t row) : row_(row) {}
  bool wants_views() const override { return true; }
  void on_layer(const LayerView& view) override {
    const std::int64_t group = view.query.size(0) / view.key.size(0);
    std::vector<at::Tensor> heads, of_layer;
    for (std::int64_t kv = 0; kv < view.key.size(0); ++kv) {
      const at::Tensor keys = view.key[kv].narrow(0, 0, row_ + 1).to(at::kCPU).to(at::kDouble);
      const at::Tensor values = view.value[kv].narrow(0, 0, row_ + 1).to(at::kCPU).to(at::kDouble);
      at::Tensor mean = at::zeros({row_ + 1}, at::kDouble);
      for (std::int64_t q = kv * group; q < (kv + 1) * group; ++q) {
        const at::Tensor attention = at::softmax(at::mv(keys, view.query[q][row_].to(at::kCPU).to(at::kDouble)) * view.scale, 0);
        mean += attention / static_cast<double>(group);
        heads.push_back(at::mv(values.t(), attention));
      }
      of_layer.push_back(mean);
    }
    attention.push_back(of_layer);
    output.push_back(at::stack(heads));
  }
  std::vector<std::vector<at::Tensor>> attention;
  std::vector<at::Tensor> output;  // [H, d]

 private:
  std::int64_t row_;
};

// Outputs of one decode step.
class OutputOfEveryLayer : public DecodeObserver {
 public:
  bool wants_probabilities() const override { return false; }
  void after_layers(LayerId, std::span<const DecodeRow> rows) override {
    for (const DecodeRow& row : rows) output.push_back(row.output.to(at::kCPU).to(at::kDouble).clone());
  }
  std::vector<at::Tensor> output;
};

TEST_F(AnswerScore, WhatWasKeptIsJudgedByTheFullCachesAttention) {
  load(source_folder() + "/resources/demo/model");
  const Message message = demo_question(opener_);
  for (const std::string method : {"snapkv", "h2o", "meda"}) {
    SCOPED_TRACE(method);
    const Turn turn = question(message, method, 0.1, 48);
    Answered own = answer(turn);
    ASSERT_GT(own.given.tokens.size(), 2U);
    const Conversation before = own.start.state.fork();
    Conversation replay = own.start.state.fork();
    const Scored scored = score_answer(context(), own.given, std::move(own.start), full_start(turn));
    ASSERT_TRUE(scored.selection && scored.selection->hit_rate);

    const std::int64_t prompt = before.next_original();
    RowOfEveryLayer first(prompt);
    dense_logits(turn, own.given.tokens, &first);
    OutputOfEveryLayer step;
    decode_step(*model_->network, replay, own.given.tokens[0], &step);
    double hits = 0.0, heads = 0.0;
    ASSERT_EQ(scored.selection->output_error.size(), first.output.size());
    for (std::size_t layer = 0; layer < first.output.size(); ++layer) {
      const double error =
          ((first.output[layer] - step.output[layer].view_as(first.output[layer])).norm() / first.output[layer].norm()).item<double>();
      EXPECT_NEAR(scored.selection->output_error[layer], error, 1e-3 * (1.0 + error)) << layer;
      for (std::size_t head = 0; head < first.attention[layer].size(); ++head) {
        const std::span<const std::int32_t> kept =
            before.cache.original(LayerId(static_cast<std::int64_t>(layer)), KvHead(static_cast<std::int64_t>(head)));
        const at::Tensor best = std::get<1>(first.attention[layer][head].narrow(0, 0, prompt).topk(std::ssize(kept)));
        double found = 0.0;
        for (std::int64_t i = 0; i < best.numel(); ++i)
          found += std::count(kept.begin(), kept.end(), best[i].item<std::int64_t>()) > 0 ? 1.0 : 0.0;
        hits += found / static_cast<double>(kept.size());
        heads += 1.0;
      }
    }
    EXPECT_NEAR(*scored.selection->hit_rate, hits / heads, 1e-3);
    EXPECT_GT(*scored.selection->hit_rate, 0.1);
    EXPECT_LT(*scored.selection->hit_rate, 1.0);

    // The other figures are the full cache's own, means over all rows of the answer; here from dense rows too.
    double contributed = 0.0, covered = 0.0, sparse = 0.0, kept_attention = 0.0, rows = 0.0;
    double kept_share = 0.0;
    for (LayerId layer{0}; layer < before.cache.shape().layers; ++layer) {
      for (KvHead head{0}; head < before.cache.shape().kv_heads; ++head) kept_share += static_cast<double>(before.cache.slots(layer, head));
    }
    kept_share /= static_cast<double>(before.cache.shape().layers * before.cache.shape().kv_heads * prompt);
    for (std::size_t i = 0; i + 1 < own.given.tokens.size(); ++i) {
      const std::int64_t row = prompt + static_cast<std::int64_t>(i);
      RowOfEveryLayer all(row);
      dense_logits(turn, own.given.tokens, &all);
      for (std::size_t layer = 0; layer < all.attention.size(); ++layer) {
        for (std::size_t head = 0; head < all.attention[layer].size(); ++head) {
          const at::Tensor& attention = all.attention[layer][head];
          double kept_part = 0.0;
          for (const std::int32_t token :
               before.cache.original(LayerId(static_cast<std::int64_t>(layer)), KvHead(static_cast<std::int64_t>(head))))
            kept_part += token < prompt ? attention[token].item<double>() : 0.0;
          kept_attention += kept_part / attention.narrow(0, 0, prompt).sum().item<double>();
          const at::Tensor filtered = attention.masked_fill(attention < 0.01 * attention.max(), 0.0);
          const at::Tensor best =
              std::get<1>(attention.topk(static_cast<std::int64_t>(std::floor(kept_share * static_cast<double>(row + 1)))));
          double own_part = 0.0, all_part = 0.0, own_best = 0.0, all_best = 0.0;
          for (std::int64_t column = 0; column < prompt; ++column) {
            const double value = filtered[column].item<double>();
            all_part += value;
            if (before.origins[static_cast<std::size_t>(column)].modality == Modality::kVisual) own_part += value;
          }
          for (std::int64_t k = 0; k < best.numel(); ++k) {
            const std::int64_t column = best[k].item<std::int64_t>();
            if (column >= prompt) continue;
            all_best += 1.0;
            if (before.origins[static_cast<std::size_t>(column)].modality == Modality::kVisual) own_best += 1.0;
          }
          contributed += all_part > 0.0 ? own_part / all_part : 0.0;
          covered += all_best > 0.0 ? own_best / all_best : 0.0;
          sparse += (filtered == 0.0).sum().item<double>() / static_cast<double>(row + 1);
          rows += 1.0;
        }
      }
    }
    EXPECT_NEAR(scored.selection->visual_contribution, contributed / rows, 1e-3);
    EXPECT_NEAR(scored.selection->visual_coverage, covered / rows, 2e-3);
    EXPECT_NEAR(scored.selection->sparsity, sparse / rows, 2e-3);
    EXPECT_NEAR(*scored.selection->kept_attention, kept_attention / rows, 1e-3);
    EXPECT_LT(*scored.selection->kept_attention, 1.0);
  }
}

TEST_F(AnswerScore, WhatTheFullCacheWouldHaveWrittenIsItsOwnAnswer) {
  load(source_folder() + "/resources/demo/model");
  const Turn turn = question(demo_question(opener_), "random", 0.02, 48);
  Answered own = answer(turn);
  const Answered full = answer(question(turn.messages.front(), "full", 1.0, 48));
  ASSERT_NE(own.given.text, full.given.text);
  const Agreement agreement = score_answer(context(), own.given, std::move(own.start), full_start(turn)).agreement;
  ASSERT_FALSE(agreement.differences.empty());
  // Up to the first difference both answers are the same, so there the full cache's word is that of its own answer.
  const AnswerWords words(*model_, ThoughtStart::kUnsaid, full.given.tokens, full.given.text);
  const WordDifference& first = agreement.differences.front();
  EXPECT_EQ(first.word, agreement.first_diverging_word);
  EXPECT_EQ(first.full_text.substr(0, words.text(first.word).size()), words.text(first.word));
}

TEST_F(AnswerScore, TokensFindTheirWords) {
  load(GoldenFolder("gqa_tied").model_folder());
  const std::string text = "A red star,  then gr\xC3\xBCn.";
  std::vector<std::int64_t> tokens = model_->tokenizer->encode(text, SpecialText::kAsText);
  const std::size_t spoken = tokens.size();
  tokens.push_back(*model_->stop_token_ids.begin());
  const AnswerWords words(*model_, ThoughtStart::kUnsaid, tokens, text);
  ASSERT_EQ(words.size(), 5);
  EXPECT_EQ(words.text(2), "star,");
  EXPECT_EQ(words.text(4), "gr\xC3\xBCn.");
  EXPECT_EQ(words.text(5), "");
  EXPECT_EQ(words.word_of(0), 0);
  EXPECT_EQ(words.word_of(spoken), 5) << "the end is after the last word";
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    EXPECT_GE(words.word_of(i), words.word_of(i - 1));
    const std::string before = words.text_before(i);
    EXPECT_EQ(before, words.text(words.word_of(i)).substr(0, before.size()));
    EXPECT_TRUE(words.word_of(i) == words.word_of(i - 1) || before.empty()) << i;
  }
  const AnswerWords cut(*model_, ThoughtStart::kUnsaid, tokens, "A red");  // a stop string took the rest
  EXPECT_EQ(cut.size(), 2);
  EXPECT_EQ(cut.word_of(spoken - 1), 2);
  const AnswerWords none(*model_, ThoughtStart::kUnsaid, {}, "");
  EXPECT_EQ(none.size(), 0);
}

}  // namespace
}  // namespace winnow::testing
