// The engine's face does its work in a program that has no libtorch.
#include <gtest/gtest.h>

#include <string>

#include "engine/api/engine.h"
#include "engine/api/model_kinds.h"
#include "engine/api/model_summary.h"
#include "engine/api/stored_files.h"
#include "engine/messages/wire.h"
#include "tests/support/golden_path.h"
#include "tests/support/loaded_libraries.h"

namespace winnow {
namespace {

TEST(EngineFace, LoadsNoLibtorch) { test::expect_no_libtorch("/libc.so"); }

TEST(EngineFace, DescribesAModelAndItsFiles) {
  const std::string folder = test_support::golden_folder("gqa_tied") + "/model";
  const ModelSummary summary = summary_of_model(folder);
  EXPECT_TRUE(summary.runs);
  EXPECT_TRUE(summary.reads_videos);
  EXPECT_GT(summary.weight_bytes, 0U);
  EXPECT_FALSE(files_of_model(folder).empty());
  EXPECT_FALSE(is_saved_cache(folder + "/model.safetensors"));
}

// Recurrent layers take no bytes a token, by their interval and by their names, nor do layers that read an earlier one's keys.
TEST(EngineFace, CountsTheKeysAndValuesOfLayersThatAttend) {
  constexpr std::int64_t kKeyAndValue = 2 * 2;
  const auto of_path = [](const char* path) { return summary_of_model(test_support::golden_folder(path)).cache.kv_bytes_per_token; };
  const auto bytes_of = [&](const char* folder) { return of_path((std::string(folder) + "/model").c_str()); };
  EXPECT_EQ(of_path("recurrent_text/lfm2"), 2 * kKeyAndValue * 2 * 8);
  EXPECT_EQ(of_path("recurrent_text/lfm2_saved"), 1 * kKeyAndValue * 2 * 8);
  EXPECT_EQ(bytes_of("qwen3_5/published"), 3 * kKeyAndValue * 2 * 32);
  EXPECT_EQ(bytes_of("qwen3_5/saved"), 2 * kKeyAndValue * 16);
  EXPECT_EQ(bytes_of("gemma4/published"), 3 * kKeyAndValue * 16);
  EXPECT_EQ(bytes_of("gemma4_large/dense"), 2 * kKeyAndValue * 16);
  EXPECT_EQ(bytes_of("gemma4_experts/saved"), 2 * kKeyAndValue * 2 * 16);
}

// As they are held where the model computes in 32 bits (Qwen35Shape): a matrix for each value head, three or two tokens of a convolution.
TEST(EngineFace, CountsTheStatesOfTheOtherLayers) {
  const auto bytes_of = [](const char* path) { return summary_of_model(test_support::golden_folder(path)).cache.state_bytes; };
  EXPECT_EQ(bytes_of("qwen3_5/published/model"), 3 * (4 * 8 * 12 + 3 * (2 * 16 + 48)) * 4);
  EXPECT_EQ(bytes_of("qwen3_5/published/gguf/model.gguf"), bytes_of("qwen3_5/published/model"));
  EXPECT_EQ(bytes_of("qwen3_5/saved/model"), 3 * (3 * 8 * 8 + 2 * (3 * 24)) * 4);
  EXPECT_EQ(bytes_of("recurrent_text/qwen3_next"), 2 * (4 * 8 * 12 + 3 * (2 * 16 + 48)) * 4);
  EXPECT_EQ(bytes_of("recurrent_text/lfm2"), 3 * 3 * 32 * 4);
  EXPECT_EQ(bytes_of("recurrent_text/lfm2_saved"), 2 * 2 * 32 * 4);
  EXPECT_EQ(bytes_of("gemma4_large/dense/model"), 4 * 2 * 19 * 2 * 8 * 4) << "windows";
  EXPECT_EQ(bytes_of("gemma4_experts/saved/model"), 2 * 4 * 95 * 2 * 8 * 4);
  EXPECT_EQ(bytes_of("gemma4_unified/saved/model"), 2 * 1 * 63 * 2 * 12 * 4) << "pictures see themselves in some";
  EXPECT_EQ(bytes_of("llava_onevision/gqa_tied/model"), 0);
}

TEST(EngineFace, NamesFamiliesMethodsAndItsLibtorch) {
  const Json config = {{"model_type", "llama"}};
  const std::optional<KnownFamily> family = known_family(JsonObject(config, "config.json"));
  ASSERT_TRUE(family.has_value());
  EXPECT_EQ(family->model_type, "llama");
  EXPECT_FALSE(known_classes().empty());
  EXPECT_FALSE(list_methods().empty());
  EXPECT_FALSE(libtorch_version().empty());
}

}  // namespace
}  // namespace winnow
