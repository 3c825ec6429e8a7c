// Drafts of a model's own draft head: exact over steps back in layers with states, a quarter of the steps with a head that always guesses
// right, and no word of an answer depends on them.
#include "engine/generation/answer/head_drafts.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/generation/conversation/decode_step.h"
#include "tests/engine/generation/same_answers.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/engine/models/folder_copy.h"

namespace winnow::testing {
namespace {

using test_support::FolderCopy;
using Tensors = std::map<std::string, at::Tensor>;

// A prompt that has been read.
Conversation that_has_read(const VisionLanguageModel& model, std::int64_t tokens) {
  const TextDecoder& text = model.text();
  Conversation conversation(text.kv_shape());
  at::manual_seed(3);
  const at::Tensor ids = at::randint(0, text.vocabulary(), {tokens}, at::kLong);
  test_support::prefill(text, text.embed(ids), 0, conversation.cache);
  for (std::int64_t i = 0; i < tokens; ++i) {
    conversation.token_ids.push_back(ids[i].item<std::int64_t>());
    conversation.origins.push_back(TokenOrigin{Modality::kText, -1, -1, -1, -1});
    conversation.positions.append_text(i);
  }
  conversation.next_position = tokens;
  return conversation;
}

void expect_same_cache(const KvCache& one, const KvCache& two) {
  for (LayerId layer{0}; layer < one.shape().layers; ++layer) {
    for (KvHead head{0}; head < one.shape().kv_heads; ++head) {
      ASSERT_TRUE(std::ranges::equal(one.original(layer, head), two.original(layer, head)));
      ASSERT_TRUE(at::equal(one.gather_keys(layer, head), two.gather_keys(layer, head)));
      ASSERT_TRUE(at::equal(one.gather_values(layer, head), two.gather_values(layer, head)));
    }
    for (std::int64_t which = 0; which < one.states().of_layer(layer); ++which) {
      ASSERT_TRUE(at::equal(one.states().state(layer, which)->recent, two.states().state(layer, which)->recent)) << "layer " << layer;
      ASSERT_TRUE(at::equal(one.states().state(layer, which)->memory, two.states().state(layer, which)->memory)) << "layer " << layer;
    }
  }
}

class StepsBack : public ::testing::TestWithParam<const char*> {
 protected:
  c10::InferenceMode inference_;
};

// Of drafts of every length, some of whose tokens follow; a fork from before keeps its own states.
TEST_P(StepsBack, LeaveWhatStepsOfOneTokenLeave) {
  const FolderCopy folder(GetParam());
  const auto model = load_model(folder.source());
  Conversation drafted = that_has_read(*model, 11);
  Conversation apart = drafted.fork();
  ASSERT_TRUE(can_take_back(drafted));
  std::mt19937 random(7);
  const auto any_token = [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(model->text().vocabulary())); };
  for (int step = 0; step < 20; ++step) {
    const Conversation before = drafted.fork();
    const Conversation expected_before = apart.fork();
    TokenToRead read{&drafted, any_token()};
    for (int i = 0; i < step % 4; ++i) read.draft.push_back(any_token());
    decode_step_together(*model, {&read, 1});
    const std::size_t kept = read.draft.empty() ? 0 : random() % (read.draft.size() + 1);
    ASSERT_TRUE(at::equal(read.logits[0], decode_step(*model, apart, read.token)));
    for (std::size_t i = 0; i < kept; ++i)
      ASSERT_TRUE(at::equal(read.logits[static_cast<std::int64_t>(i) + 1], decode_step(*model, apart, read.draft[i])));
    if (kept < read.draft.size()) take_back(drafted, std::ssize(read.draft) - static_cast<std::int64_t>(kept), read.states_before[kept]);
    expect_same_cache(drafted.cache, apart.cache);
    expect_same_cache(before.cache, expected_before.cache);
    EXPECT_EQ(drafted.token_ids, apart.token_ids);
    EXPECT_EQ(drafted.next_position, apart.next_position);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, StepsBack,
                         ::testing::Values("recurrent_text/qwen3_5", "recurrent_text/qwen3_next", "recurrent_text/qwen3_5_moe",
                                           "recurrent_text/lfm2", "glm_text/glm4_moe"),
                         folder_info_name);

// Nothing of the attention's, the states' and the MLPs' products reaches the rows: what follows a token depends on it alone.
void cut_layers(Tensors& tensors) {
  for (auto& [name, values] : tensors) {
    if (name.starts_with("visual.") || name.starts_with("model.visual.")) continue;
    if (name.ends_with("o_proj.weight") || name.ends_with("out_proj.weight") || name.find("down_proj") != std::string::npos) values.zero_();
  }
}

// What a head beside a model with cut layers knows of what follows: it hands the embedding on.
enum class Knows : int { kAll = 1, kSome, kNothing };

// The layer's shapes are those of the model's layer `like`.
void add_head(Tensors& tensors, const std::string& like, Knows knows) {
  at::manual_seed(5);
  Tensors head;
  for (const auto& [name, values] : tensors) {
    if (name.starts_with(like)) head["mtp.layers.0." + name.substr(like.size())] = values;
  }
  const at::Tensor& norm = tensors.at(like + "input_layernorm.weight");
  const std::int64_t hidden = norm.numel();
  const at::Tensor known = at::cat({at::eye(hidden), at::zeros({hidden, hidden})}, 1);
  const at::Tensor noise = at::randn({hidden, 2 * hidden}) / 16;
  head["mtp.fc.weight"] = (knows == Knows::kAll ? known : knows == Knows::kSome ? known + noise : noise).to(norm.scalar_type());
  head["mtp.pre_fc_norm_embedding.weight"] = head["mtp.pre_fc_norm_hidden.weight"] = at::zeros_like(norm);
  for (const auto& [name, values] : tensors) {
    if (name.ends_with("norm.weight") && name.find("layers.") == std::string::npos && name.find("visual") == std::string::npos)
      head["mtp.norm.weight"] = values;
  }
  std::erase_if(tensors, [](const auto& each) { return each.first.starts_with("mtp."); });
  tensors.merge(head);
}

class HeadsThatKnow : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

// Steps that take no longer for a draft, so that it pays: they bring one token more than they draft.
TEST_F(HeadsThatKnow, NeedAQuarterOfTheSteps) {
  const FolderCopy folder("recurrent_text/qwen3_next");
  folder.rewrite_weights([](Tensors& tensors) {
    cut_layers(tensors);
    add_head(tensors, "model.layers.2.", Knows::kAll);
  });
  const auto model = load_model(folder.source());
  Conversation conversation = that_has_read(*model, 5);
  Conversation apart = conversation.fork();
  HeadDrafts head(model->text());
  std::int64_t token = 17;
  std::vector<std::int64_t> told;
  for (std::size_t step = 0; step < 20; ++step) {
    TokenToRead read{&conversation, token, head.draft(3)};
    ASSERT_EQ(read.draft.size(), std::min<std::size_t>(step, 3))
        << "a step's time and what it left are not known before; then one more each";
    decode_step_together(*model, {&read, 1});
    told.push_back(token);
    const std::int64_t position = conversation.next_position - 1 - std::ssize(read.draft);
    for (std::int64_t row = 0; row <= std::ssize(read.draft); ++row) {
      token = read.logits[row].argmax().item<std::int64_t>();
      head.follow({read.hidden.narrow(0, row, 1), position + row, token});
      if (row == std::ssize(read.draft)) break;
      ASSERT_EQ(read.draft[static_cast<std::size_t>(row)], token) << "the head knows";
      told.push_back(token);
    }
    head.note_step(1 + read.draft.size(), 1 + read.draft.size(), 10.0);
  }
  EXPECT_EQ(std::ssize(told), 1 + 2 + 3 + 17 * 4);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const at::Tensor logits = decode_step(*model, apart, told[i]);
    if (i + 1 < told.size()) {
      ASSERT_EQ(logits.argmax().item<std::int64_t>(), told[i + 1]);
    }
  }
  expect_same_cache(conversation.cache, apart.cache);
}

TEST_F(HeadsThatKnow, ReadTheLastFewTokensAfterAPause) {
  const FolderCopy folder("recurrent_text/qwen3_5");
  folder.rewrite_weights([](Tensors& tensors) { add_head(tensors, "model.language_model.layers.1.", Knows::kNothing); });
  const auto model = load_model(folder.source());
  const at::Tensor hidden = at::randn({30, model->text().hidden_size()});
  HeadDrafts head(model->text());
  head.note_step(1, 1, 10.0);
  EXPECT_TRUE(head.draft(1).empty()) << "nothing was followed";
  for (std::int64_t i = 0; i < 30; ++i) head.follow({hidden.narrow(0, i, 1), i, i});
  EXPECT_TRUE(head.draft(0).empty()) << "no room";
  const std::vector<std::int64_t> drafted = head.draft(7);
  std::vector<DraftRow> last;
  for (std::int64_t i = 22; i < 30; ++i) last.push_back({hidden.narrow(0, i, 1), i, i});
  KvCache cache(model->text().draft_shape().value());
  EXPECT_EQ(drafted, std::vector<std::int64_t>{model->text().guess(last, cache).logits.argmax().item<std::int64_t>()});
  head.note_step(2, 2, 10.0);
  head.follow({hidden.narrow(0, 0, 1), 30, 1});
  EXPECT_EQ(head.draft(7).size(), 2U) << "the last one came true";
  head.note_step(3, 2, 10.0);
  head.follow({hidden.narrow(0, 0, 1), 31, 1});
  EXPECT_EQ(head.draft(7).size(), 1U);
  head.note_step(2, 1, 99.0);
  head.follow({hidden.narrow(0, 0, 1), 32, 1});
  EXPECT_TRUE(head.draft(1).empty()) << "the draft cost more than it saved";
}

// Answers of an engine whose model has a head, with drafts and without: a stop string that never comes prevents them.
class AnswersWithAHead : public TinyModel, public ::testing::WithParamInterface<Knows> {
 protected:
  AnswersWithAHead() : TinyModel("qwen3_5_moe/published"), folder_("qwen3_5_moe/published") {}

  void SetUp() override {
    folder_.rewrite_weights([](Tensors& tensors) {
      if (GetParam() != Knows::kNothing) cut_layers(tensors);
      add_head(tensors, "model.language_model.layers.2.", GetParam());
    });
    EventRecorder events = run(LoadModel{.folder = folder_.source().package->path(), .format = WeightFormat::kFp32});
    ASSERT_TRUE(events.last<ModelLoaded>());
    info_ = events.last<ModelLoaded>()->info;
  }

  FolderCopy folder_;
};

TEST_P(AnswersWithAHead, AreThoseOfAStepForEveryToken) {
  std::int64_t drafted = 0;
  for (int i = 0; i < 24; ++i) {
    Turn turn = ask(i % 3 == 0 ? "image" : "text", i % 4 == 1 ? "snapkv" : "full", 0.5, 40);
    turn.messages.back().items.emplace_back(TextItem{" Question " + std::to_string(i) + "?"});
    turn.sampling.temperature = i % 2 == 0 ? 0.0 : 0.2 * i;
    turn.sampling.seed = static_cast<std::uint64_t>(i);
    turn.sampling.repetition_penalty = i % 5 == 2 ? 1.1 : 1.0;
    turn.sampling.told_probabilities = 2;
    SCOPED_TRACE(::testing::Message() << "question " << i);
    const EventRecorder with = run(turn);
    drafted += finished(with).figures.tokens.drafted;
    run(ForgetConversation{turn.conversation});
    turn.sampling.stop_strings = {"\x01\x02\x03\x04"};
    const EventRecorder apart = run(turn);
    EXPECT_EQ(finished(apart).figures.tokens.drafted, 0);
    run(ForgetConversation{turn.conversation});
    expect_same_answers(said_in_tokens(apart), said_in_tokens(with));
    if (HasFailure()) return;
  }
  if (GetParam() != Knows::kNothing) {
    EXPECT_GT(drafted, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, AnswersWithAHead, ::testing::Values(Knows::kAll, Knows::kSome, Knows::kNothing), [](const auto& knows) {
  return knows.param == Knows::kAll ? "ThatKnow" : knows.param == Knows::kSome ? "ThatKnowSome" : "ThatKnowNothing";
});

}  // namespace
}  // namespace winnow::testing
