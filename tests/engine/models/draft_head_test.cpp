// The draft head (multi-token prediction) of tiny folders against formulas in numpy (tests/golden/make/make_draft_head_golden.py), from a
// folder and a GGUF file; heads that are not there, or not wholly; and decode steps that read tokens which did not follow.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/layers/row_elements.h"
#include "engine/model_files/gguf_model.h"
#include "engine/models/registry.h"
#include "tests/engine/models/folder_copy.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/tensor_distance.h"

namespace winnow::draft_head_test {
namespace {

using test_support::FolderCopy;
using test_support::GoldenTensors;

constexpr double kTolerance = 1e-5;         // of the largest logit
constexpr std::int64_t kFirstPosition = 5;  // manifest.json's

std::string golden(const std::string& name) { return test_support::golden_folder("draft_head/" + name); }

// The folder with the head's tensors but those whose names end with `without`.
ModelSource with_head(const FolderCopy& folder, const std::string& name, const std::string& without = "") {
  folder.rewrite_weights([&](std::map<std::string, at::Tensor>& tensors) {
    const GoldenTensors head(golden(name) + "/head.safetensors");
    for (const std::string& own : head.names()) {
      if (without.empty() || !own.ends_with(without)) tensors[own] = head.load(own);
    }
  });
  return folder.source();
}

std::string folder_of(const std::string& name) { return (name == "glm4_moe" ? "glm_text/" : "recurrent_text/") + name; }

// Guesses from every row, or every so many that are read at once.
HeadGuess guesses_of(const TextDecoder& text, const GoldenTensors& rows, std::int64_t piece) {
  const at::Tensor hidden = rows.load("hidden");
  const at::Tensor ids = rows.load("ids");
  KvCache cache(text.draft_shape().value());
  std::vector<at::Tensor> logits;
  std::vector<at::Tensor> left;
  std::vector<DraftRow> unread;
  for (std::int64_t row = 0; row < ids.size(0); ++row) {
    unread.push_back({hidden.narrow(0, row, 1), kFirstPosition + row, ids[row].item<std::int64_t>()});
    if (std::ssize(unread) < piece && row + 1 < ids.size(0)) continue;
    const HeadGuess guess = text.guess(unread, cache);
    logits.push_back(guess.logits);
    left.push_back(guess.hidden);
    unread.clear();
  }
  EXPECT_EQ(cache.slots(LayerId(0), KvHead(0)), ids.size(0));
  return {at::stack(logits), at::cat(left)};
}

class DraftHeads : public ::testing::TestWithParam<const char*> {
 protected:
  c10::InferenceMode inference_;
};

TEST_P(DraftHeads, ComputeTheFormula) {
  const FolderCopy folder(folder_of(GetParam()));
  const auto model = load_model(with_head(folder, GetParam()));
  const GoldenTensors rows(golden(GetParam()) + "/golden.safetensors");
  const HeadGuess apart = guesses_of(model->text(), rows, 1);
  EXPECT_LE(test_support::relative_distance(apart.logits, rows.load("logits")), kTolerance);
  EXPECT_LE(test_support::relative_distance(apart.hidden, rows.load("left")), kTolerance);
  const HeadGuess together = guesses_of(model->text(), rows, kFewRows);
  const at::Tensor last = at::tensor({kFewRows - 1, apart.logits.size(0) - 1});
  EXPECT_LE(test_support::relative_distance(together.logits, apart.logits.index_select(0, last)), kTolerance);
}

TEST_P(DraftHeads, AddNothingButTheirWeights) {
  const FolderCopy plain(folder_of(GetParam()));
  const auto without = load_model(plain.source());
  EXPECT_FALSE(without->text().draft_shape());
  const FolderCopy folder(folder_of(GetParam()));
  ModelSource source = with_head(folder, GetParam());
  std::uint64_t planned = 0;
  source.before_weights = [&](std::uint64_t bytes) { planned = bytes; };
  const auto with = load_model(source);
  EXPECT_EQ(planned, static_cast<std::uint64_t>(with->info().weight_bytes)) << "every tensor of such a folder is read";
  const GoldenTensors head(golden(GetParam()) + "/head.safetensors");
  std::int64_t parameters = 0;
  for (const std::string& own : head.names()) parameters += head.load(own).numel();
  EXPECT_EQ(with->info().parameter_count, without->info().parameter_count + parameters);
  EXPECT_EQ(with->info().layers, without->info().layers);
  EXPECT_EQ(with->info().kv_bytes_per_token, without->info().kv_bytes_per_token);
}

INSTANTIATE_TEST_SUITE_P(Folders, DraftHeads, ::testing::Values("qwen3_5", "qwen3_next", "glm4_moe"), testing::folder_info_name);

class DraftHeadFiles : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(DraftHeadFiles, AGgufFileHasTheSameHead) {
  ModelSource source{.package = std::make_shared<GgufModel>(golden("qwen3_next") + "/model.gguf", "")};
  const auto model = load_model(source);
  EXPECT_EQ(model->info().layers + model->info().state_layers, 3) << "without the layer that guesses";
  const GoldenTensors rows(golden("qwen3_next") + "/golden.safetensors");
  EXPECT_LE(test_support::relative_distance(guesses_of(model->text(), rows, 1).logits, rows.load("logits")), kTolerance);
}

TEST_F(DraftHeadFiles, WithoutTheFirstProductThereIsNone) {
  for (const auto& [name, product] : {std::pair("qwen3_5", "mtp.fc.weight"), std::pair("glm4_moe", "eh_proj.weight")}) {
    const FolderCopy folder(folder_of(name));
    EXPECT_FALSE(load_model(with_head(folder, name, product))->text().draft_shape()) << name;
  }
}

TEST_F(DraftHeadFiles, HalfOfOneIsDamaged) {
  for (const auto& [name, tensor] :
       {std::pair("qwen3_5", "mtp.pre_fc_norm_hidden.weight"), std::pair("qwen3_5", "mtp.layers.0.mlp.up_proj.weight"),
        std::pair("glm4_moe", "model.layers.3.hnorm.weight")}) {
    const FolderCopy folder(folder_of(name));
    const ModelSource source = with_head(folder, name, tensor);
    test::expect_error(ErrorCode::kDamagedFile, tensor, [&] { load_model(source); });
  }
}

TEST_F(DraftHeadFiles, WithoutANormOfItsOwnAHeadHasTheModels) {
  const FolderCopy folder(folder_of("qwen3_5"));
  const auto model = load_model(with_head(folder, "qwen3_5", "mtp.norm.weight"));
  KvCache cache(model->text().draft_shape().value());
  const DraftRow row{at::ones({1, model->text().hidden_size()}), 0, 3};
  const HeadGuess guess = model->text().guess({&row, 1}, cache);
  EXPECT_TRUE(at::equal(model->text().logits(guess.hidden)[0], guess.logits));
}

// The head reads what the model's own last norm reads.
TEST_F(DraftHeadFiles, AStepGivesItsHiddenStates) {
  const FolderCopy folder(folder_of("qwen3_5"));
  const auto model = load_model(with_head(folder, "qwen3_5"));
  const TextDecoder& text = model->text();
  KvCache cache(text.kv_shape());
  test_support::prefill(text, text.embed(at::arange(9)), 0, cache);
  std::vector<StepRow> rows;
  for (std::int32_t i = 9; i < 12; ++i) rows.push_back({{i, i, i}, &cache});
  const at::Tensor logits = text.decode_together(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_TRUE(at::equal(text.logits(rows[i].hidden), logits.narrow(0, static_cast<std::int64_t>(i), 1))) << i;
}

}  // namespace
}  // namespace winnow::draft_head_test
