// Folders that are quantised already against transformers on the numbers that others' packages make of them
// (tests/golden/make/make_quantised_golden.py), as numbers and in the blocks that they become.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "engine/models/weights/block_packing.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/plain_processor.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::quantised_test {
namespace {

constexpr double kTolerance = 1e-5;  // of sums in another order: no value of a folder is rounded
constexpr double kClose = 1e-3;

struct Folder {
  const char* name;
  const char* type;  // what most bytes are held in
};

std::string folder_of(const std::string& name) { return source_folder() + "/tests/golden/quantised/" + name; }

class Quantised : public ::testing::TestWithParam<Folder> {
 protected:
  Quantised() : golden_(folder_of(GetParam().name) + "/golden.safetensors") {}

  static ModelSource source(bool blocks) {
    return {.package = std::make_shared<HuggingFaceFolder>(folder_of(GetParam().name)), .plan = {.matrices_as_stored = blocks}};
  }
  at::Tensor logits_of(const VisionLanguageModel& model) const {
    KvCache cache(model.text().kv_shape());
    return model.text().logits(test_support::prefill(model.text(), model.text().embed(golden_.load("ids")), 0, cache));
  }

  c10::InferenceMode inference_;
  test_support::GoldenTensors golden_;
};

TEST_P(Quantised, LogitsAreThoseOfTransformers) {
  const auto numbers = load_model(source(false));
  const auto blocks = test_support::on_a_plain_processor([] { return load_model(source(true)); });
  EXPECT_LE(test_support::relative_distance(logits_of(*numbers), golden_.load("logits")), kTolerance);
  EXPECT_LE(test_support::relative_distance(logits_of(*blocks), golden_.load("logits")), kTolerance);
  EXPECT_EQ(numbers->info().dtype, "fp32");
  EXPECT_EQ(blocks->info().dtype, std::string("fp32, ") + GetParam().type);
  EXPECT_EQ(numbers->info().parameter_count, blocks->info().parameter_count);
  EXPECT_LT(blocks->info().weight_bytes, numbers->info().weight_bytes);
}

// Answers under these weights are others than under those above: they must be told apart by name.
TEST_P(Quantised, WhatIsStoredAsNumbersIsPackedBesideTheBlocksAndNamed) {
  ModelSource packed = source(true);
  packed.plan.packing = std::make_shared<BlockPacking>(PackedBits::kEight);
  const auto blocks = load_model(source(true));
  const auto both = load_model(packed);
  EXPECT_EQ(both->info().dtype, std::string("fp32, ") + GetParam().type + " + int8");
  EXPECT_LT(both->info().weight_bytes, blocks->info().weight_bytes);
}

// Read, not mapped: what happens to the file later is of no concern.
TEST_P(Quantised, BlocksStayWhatTheyWereWhenTheFileIsOverwritten) {
  const test::ScratchFolder scratch;
  const std::string file = scratch.file("model.safetensors");
  for (const char* const name : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(folder_of(GetParam().name) + "/" + name, scratch.file(name));
  ModelSource of_copy = source(true);
  of_copy.package = std::make_shared<HuggingFaceFolder>(scratch.path());
  const std::weak_ptr<const TensorFile> held = of_copy.package->tensors().files.front();
  const auto model = load_model(of_copy);
  const at::Tensor before = logits_of(*model);
  of_copy.package.reset();
  EXPECT_TRUE(held.expired()) << "a file that is held is watched for changes";
  scratch.write("model.safetensors", std::string(std::filesystem::file_size(file), 'x'));
  EXPECT_TRUE(at::equal(logits_of(*model), before));
}

TEST_P(Quantised, GreedyTokensAreThoseOfTransformers) {
  const auto model = load_model(source(false));
  const TextDecoder& text = model->text();
  const at::Tensor ids = golden_.load("ids");
  const at::Tensor expected = golden_.load("greedy");
  KvCache cache(text.kv_shape());
  at::Tensor logits = text.logits(test_support::prefill(text, text.embed(ids), 0, cache).narrow(0, ids.size(0) - 1, 1)).select(0, 0);
  for (std::int64_t i = 0; i < expected.size(0); ++i) {
    const auto [best, order] = logits.topk(2);
    const auto wanted = expected[i].item<std::int64_t>();
    if (order[0].item<std::int64_t>() != wanted) {
      ASSERT_LT((best[0] - logits[wanted]).item<double>(), kClose) << "token " << i;
      return;
    }
    const std::int64_t position = ids.size(0) + i;
    logits = text.decode({wanted, position, static_cast<std::int32_t>(position)}, cache, nullptr);
  }
}

TEST_P(Quantised, APromptIsWithinTheRoundingOfItsInputs) {
  EXPECT_LE(test_support::relative_distance(logits_of(*load_model(source(true))), golden_.load("logits")), 2e-2);
}

// A token at a time, inputs are rounded to eight bits, an error that no other hides.
TEST_P(Quantised, ATokenAtATimeIsWithinTheRoundingOfItsInputs) {
  const auto numbers = load_model(source(false));
  const auto blocks = load_model(source(true));
  KvCache one(numbers->text().kv_shape());
  KvCache two(blocks->text().kv_shape());
  for (std::int32_t position = 0; position < 20; ++position) {
    const NextToken token{position * 7 % 96, position, position};
    EXPECT_LE(test_support::relative_distance(blocks->text().decode(token, two, nullptr), numbers->text().decode(token, one, nullptr)),
              2e-2);
  }
}

TEST_P(Quantised, WhatItTakesIsForeseen) {
  for (const bool as_blocks : {false, true}) {
    const ModelSource from = source(as_blocks);
    const auto held = static_cast<double>(load_model(from)->info().weight_bytes);
    const auto foreseen = static_cast<double>(most_bytes_under(from.plan, from.package->tensors()));
    EXPECT_GE(foreseen, held);
    EXPECT_LE(foreseen, held * 1.1) << "numbers beside codes in one product stay as they are stored, too";
  }
}

// What is in few bits already is left so; the rest is packed.
TEST_P(Quantised, IsNotRoundedOnceMore) {
  ModelSource packed = source(true);
  packed.plan.packing = std::make_shared<BlockPacking>(PackedBits::kFour);
  const auto model = load_model(packed);
  EXPECT_LE(model->info().weight_bytes, load_model(source(true))->info().weight_bytes);
  EXPECT_LE(test_support::relative_distance(logits_of(*model), golden_.load("logits")), 0.2);
}

INSTANTIATE_TEST_SUITE_P(Folders, Quantised,
                         ::testing::Values(Folder{"awq", "INT4"}, Folder{"awq_middle", "Q4_0"}, Folder{"gptq", "Q4_0"},
                                           Folder{"gptq_ordered", "INT4"}, Folder{"gptq_v2", "INT8"}, Folder{"gptq_rows", "Q8_0"},
                                           Folder{"packed", "Q4_0"}, Folder{"packed_ordered", "INT4"}, Folder{"packed_rows", "INT8"},
                                           Folder{"bytes", "Q8_0"}),
                         [](const auto& folder) { return std::string(folder.param.name); });

}  // namespace
}  // namespace winnow::quantised_test
