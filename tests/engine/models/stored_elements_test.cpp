// Folders of 16-bit numbers that are computed with in fp32: held as they are stored, the same results.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "engine/models/weights/block_packing.h"
#include "engine/models/weights/upcast_packing.h"
#include "tests/engine/models/folder_copy.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/memory_media.h"
#include "tests/support/tensor_distance.h"

namespace winnow {
namespace {

struct Numbers {
  const char* folder;
  std::int64_t axes;  // of its positions
  at::ScalarType type;
  const char* name;
};

class StoredElements : public ::testing::TestWithParam<Numbers> {
 protected:
  // The same numbers in two folders, once in 32 bits.
  StoredElements() : wide_(GetParam().folder), narrow_(GetParam().folder) {
    const at::ScalarType type = GetParam().type;
    wide_.rewrite_weights([&](auto& tensors) {
      for (auto& [name, tensor] : tensors) tensor = tensor.to(type).to(at::kFloat);
    });
    narrow_.rewrite_weights([&](auto& tensors) {
      for (auto& [name, tensor] : tensors) tensor = tensor.to(type);
    });
  }
  static std::unique_ptr<VisionLanguageModel> load(ModelSource source) {
    source.plan.matrices_as_stored = true;
    return load_model(source);
  }
  // Of the last of `tokens` tokens, which go through together, and of one more that follows alone.
  static at::Tensor logits(const TextDecoder& text, std::int64_t tokens) {
    KvCache cache(text.kv_shape());
    std::vector<at::Tensor> found;
    for (const auto& [first, rows] : {std::pair<std::int64_t, std::int64_t>{0, tokens}, {tokens, 1}}) {
      at::Tensor hidden = text.embed(at::arange(first, first + rows, at::kLong)).clone();
      const at::Tensor positions = at::arange(first, first + rows, at::kLong).unsqueeze(0).expand({GetParam().axes, -1});
      std::vector<std::int32_t> original(static_cast<std::size_t>(rows));
      std::iota(original.begin(), original.end(), static_cast<std::int32_t>(first));
      for (LayerId layer{0}; layer < text.layers(); ++layer) text.prefill_layer(layer, hidden, positions, original, cache, nullptr, {}, {});
      found.push_back(text.logits(hidden.narrow(0, rows - 1, 1)));
    }
    return at::cat(found, 0);
  }
  static at::Tensor features(const VisionLanguageModel& model) {
    const MediaFacts facts = test_support::image_facts(56, 84);
    const std::vector<RgbImage> picture = {testing::patterned_picture(84, 56, 1)};
    return model.join(facts, model.encode(facts, model.preprocess(facts, picture), {}, {})).features;
  }

  const c10::InferenceMode inference_;
  test_support::FolderCopy wide_;
  test_support::FolderCopy narrow_;
};

TEST_P(StoredElements, AreHeldAsTheyAreAndGiveTheSame) {
  const auto wide = load(wide_.source());
  const auto narrow = load(narrow_.source());
  EXPECT_EQ(wide->info().dtype, "fp32");
  EXPECT_EQ(narrow->info().dtype, std::string("fp32, ") + GetParam().name);
  EXPECT_EQ(narrow->info().parameter_count, wide->info().parameter_count);
  EXPECT_EQ(narrow->info().kv_bytes_per_token, wide->info().kv_bytes_per_token);
  // The tiny models' norms and tables of places weigh more than a real one's.
  EXPECT_LT(narrow->info().weight_bytes, wide->info().weight_bytes * 7 / 10);
  EXPECT_LT(test_support::relative_distance(logits(narrow->text(), 12), logits(wide->text(), 12)), 2e-6) << "more rows than a few";
  EXPECT_LT(test_support::relative_distance(logits(narrow->text(), 3), logits(wide->text(), 3)), 2e-6);
  if (!narrow->info().traits.sees) return;
  EXPECT_LT(test_support::relative_distance(features(*narrow), features(*wide)), 2e-6);
}

TEST_P(StoredElements, TakeWhatWasForeseen) {
  for (const bool packed : {false, true}) {
    ModelSource narrow = narrow_.source();
    ModelSource wide = wide_.source();
    if (packed) narrow.plan.packing = wide.plan.packing = std::make_shared<BlockPacking>(PackedBits::kEight);
    narrow.plan.matrices_as_stored = wide.plan.matrices_as_stored = true;
    // What is stored and not read is foreseen, too: in both folders the same numbers.
    const auto beyond = [](const ModelSource& source) {
      return static_cast<std::int64_t>(most_bytes_under(source.plan, source.package->tensors())) - load_model(source)->info().weight_bytes;
    };
    const std::int64_t unread = beyond(wide);
    EXPECT_GE(beyond(narrow), 0) << "a bound";
    EXPECT_LE(beyond(narrow), unread + 64);
  }
}

// A cache of their own width is for whom asks for it, and for what is held in fewer bits than are computed with.
TEST_P(StoredElements, HaveACacheInSixteenBitsWhereThePlanSaysSo) {
  ModelSource source = narrow_.source();
  source.plan.narrow_cache = true;
  const auto narrow = load(source);
  EXPECT_EQ(narrow->text().kv_shape().storage, KvStorage::kHalf);
  EXPECT_EQ(narrow->info().traits.kv_bits, 16);
  EXPECT_EQ(narrow->info().traits.arithmetic_bits, 32);
  source = wide_.source();
  source.plan.narrow_cache = true;
  const auto wide = load(source);
  EXPECT_EQ(wide->text().kv_shape().storage, KvStorage::kWide);
  EXPECT_EQ(narrow->info().kv_bytes_per_token * 2, wide->info().kv_bytes_per_token);
  EXPECT_LT(test_support::relative_distance(logits(narrow->text(), 12), logits(wide->text(), 12)), 2e-3) << "rounded a little";
}

// --dtype bf16 on a processor that has no products of bf16: numbers that bf16 holds do not change.
TEST_P(StoredElements, OfBf16CanBeMade) {
  if (GetParam().type != at::kBFloat16) GTEST_SKIP() << "these numbers would be rounded";
  const auto wide = load(wide_.source());
  ModelSource source = wide_.source();
  source.plan.packing = std::make_shared<UpcastPacking>();
  const auto packed = load(source);
  EXPECT_EQ(packed->info().dtype, "fp32, BF16");
  EXPECT_LT(packed->info().weight_bytes, wide->info().weight_bytes);
  EXPECT_GE(most_bytes_under(source.plan, source.package->tensors()), static_cast<std::uint64_t>(packed->info().weight_bytes));
  EXPECT_LT(test_support::relative_distance(logits(packed->text(), 12), logits(wide->text(), 12)), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Families, StoredElements,
                         ::testing::Values(Numbers{"gqa_tied", 1, at::kBFloat16, "BF16"},                //
                                           Numbers{"llava/llava_llama", 1, at::kHalf, "F16"},            //
                                           Numbers{"qwen2_5_vl/published", 3, at::kBFloat16, "BF16"},    //
                                           Numbers{"qwen3_vl/experts", 3, at::kBFloat16, "BF16"},        //
                                           Numbers{"smolvlm/smolvlm2_split", 1, at::kBFloat16, "BF16"},  //
                                           Numbers{"internvl/chat_internlm2", 1, at::kHalf, "F16"},      //
                                           Numbers{"gemma3/published", 1, at::kBFloat16, "BF16"},        //
                                           Numbers{"text_models/falcon_7b", 1, at::kBFloat16, "BF16"},   //
                                           Numbers{"text_models/qwen3_moe", 1, at::kBFloat16, "BF16"},   //
                                           Numbers{"recurrent_text/qwen3_5_moe", 1, at::kBFloat16, "BF16"},
                                           Numbers{"recurrent_text/lfm2", 1, at::kBFloat16, "BF16"}),
                         [](const auto& info) { return testing::folder_test_name(info.param.folder); });

}  // namespace
}  // namespace winnow
