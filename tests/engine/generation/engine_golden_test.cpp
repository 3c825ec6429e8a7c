// The whole way from messages to tokens against transformers: ids, positions, pixels, features, logits, greedy tokens
// (tests/golden/<family>).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engine/api/engine.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/asked_engine.h"
#include "tests/support/event_recorder.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/saved_again.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"
#include "tests/support/tensor_distance.h"
#include "tests/support/vision_folders.h"

namespace winnow::testing {
namespace {

using test_support::GoldenTensors;
using test_support::kept_columns;
using test_support::relative_distance;

constexpr const char* kRebuild = "rebuild with the script that the folder's manifest.json names if the golden files are wrong";

// The bytes that the processor scaled, by the scaling that the case names; both with a batch dimension.
void expect_pixels(const at::Tensor& ours, const at::Tensor& levels, const nlohmann::json& entry) {
  ASSERT_EQ(ours.sizes(), levels.sizes()) << kRebuild;
  const auto channels = [&](const char* key) { return at::tensor(entry.at(key).get<std::vector<double>>()).view({3, 1, 1}); };
  const at::Tensor expected = (levels.to(at::kDouble) / 255.0 - channels("image_mean")) / channels("image_std");
  EXPECT_LE((ours.to(at::kDouble) - expected).abs().max().item<double>(), 1e-5) << "a byte is 0.01 and more; " << kRebuild;
}

class EngineGolden : public ::testing::TestWithParam<const char*> {};

// Where rows of patches were recorded: the very bytes. Colours lie outermost in a row.
void expect_bytes(const GoldenTensors& ours, const GoldenTensors& theirs, const std::string& name) {
  for (const char* key : {"pixel_values", "pixel_values_videos"}) {
    if (!theirs.has(name + ".levels." + key)) continue;
    const at::Tensor levels = theirs.load(name + ".levels." + key);
    const at::Tensor rows = ours.load(key);
    const std::int64_t colour = rows.size(1) / 3;
    const at::Tensor scaled = rows * theirs.load("deviation").repeat_interleave(colour) + theirs.load("mean").repeat_interleave(colour);
    const at::Tensor kept = kept_columns(scaled, levels);
    ASSERT_EQ(kept.sizes(), levels.sizes()) << key;
    EXPECT_LE((kept * 255.0 - levels).abs().max().item<double>(), 0.01) << key << kRebuild;
  }
}

// model: the path of a folder, or a GGUF file, of the same numbers. folder: of tests/golden. left_out: a part of the names of cases that
// are not asked.
void expect_every_case_of(const std::string& folder, const std::string& model, const std::string& left_out = "nothing") {
  const GoldenFolder golden(folder);
  MemoryMediaOpener opener;
  const std::unique_ptr<Engine> engine = make_asked_engine(&opener);
  const test::ScratchFolder files;
  int asked = 0;
  EventRecorder loading;
  LoadModel load{.folder = model, .format = WeightFormat::kFp32};
  engine->handle({1, load}, loading, InterruptToken());
  ASSERT_TRUE(loading.last<ModelLoaded>()) << (loading.last<Failed>() ? loading.last<Failed>()->error.reason : "no answer");
  // Once more on the emulated GPU (tests/engine/emulated_gpu), and then really there.
  const char* const plugin = std::getenv("WINNOW_CUDA_PLUGIN");
  if (plugin != nullptr && std::string(plugin) != "none") {
    ASSERT_EQ(loading.last<ModelLoaded>()->info.device, "cuda");
  }

  for (const auto& [name, entry] : golden.cases().items()) {
    if (name.find(left_out) != std::string::npos) continue;
    SCOPED_TRACE(folder + "/" + name);
    ExportTurn request{.turn = {.messages = golden.thread(name, opener)}};
    if (engine_is_apart() && !put_into_files(request.turn.messages, opener, files.path())) continue;
    ++asked;
    request.turn.recipe.method = "full";
    request.turn.recipe.retention = 1.0;
    request.turn.sampling.max_new_tokens = 64;
    request.path =
        (std::filesystem::temp_directory_path() / ("winnow_golden_" + folder_test_name(folder) + "_" + name + ".safetensors")).string();
    EventRecorder events;
    engine->handle({2, request}, events, InterruptToken());
    ASSERT_TRUE(events.last<Finished>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no answer");

    const GoldenTensors ours(request.path);
    const GoldenTensors& theirs = golden.tensors();
    EXPECT_TRUE(at::equal(ours.load("input_ids"), theirs.load(name + ".input_ids"))) << kRebuild;
    if (theirs.has(name + ".position_ids")) {
      EXPECT_TRUE(at::equal(ours.load("position_ids"), theirs.load(name + ".position_ids"))) << kRebuild;
    }
    expect_bytes(ours, theirs, name);
    EXPECT_LE(relative_distance(ours.load("logits"), theirs.load(name + ".logits").view({1, -1})), kTolerance) << kRebuild;
    if (theirs.has(name + ".features")) {
      const at::Tensor features = theirs.load(name + ".features");
      EXPECT_LE(relative_distance(kept_columns(ours.load("visual_features"), features), features), kTolerance) << kRebuild;
    }
    if (entry.contains("image_mean") && theirs.has(name + ".pixel_levels"))
      expect_pixels(ours.load("pixel_values"), theirs.load(name + ".pixel_levels"), entry);
    if (theirs.has(name + ".video_levels")) expect_pixels(ours.load("pixel_values_videos"), theirs.load(name + ".video_levels"), entry);
    const at::Tensor generated = ours.load("generated");
    const at::Tensor greedy = theirs.load(name + ".greedy");
    const at::Tensor margins = theirs.load(name + ".margins");
    const bool stopped = events.last<Finished>()->reason == StopReason::kStopToken;
    if (!stopped) {
      EXPECT_EQ(generated.numel(), greedy.numel());
    }
    std::int64_t compared = 0;
    for (std::int64_t i = 0; i < generated.numel(); ++i, ++compared) {
      const auto token = generated[i].item<std::int64_t>(), wanted = greedy[i].item<std::int64_t>();
      const auto margin = margins[i].item<float>();
      if (margin <= kMargin && token != wanted) break;  // a tie, and everything after it
      ASSERT_EQ(token, wanted) << "token " << i << ", margin " << margin;
    }
    EXPECT_TRUE(stopped || compared >= 32) << "too few tokens were compared to mean anything; " << kRebuild;
    std::filesystem::remove(request.path);
  }
  EXPECT_TRUE(asked > 0 || engine_is_apart()) << "nothing was asked";
}

void expect_every_case(const std::string& folder, const std::string& model, const std::string& left_out = "nothing") {
  expect_every_case_of(folder, test_support::golden_folder(folder) + model, left_out);
}

TEST_P(EngineGolden, EveryCaseEqualsTransformers) { expect_every_case(GetParam(), "/model"); }

class SavedAgain : public ::testing::TestWithParam<std::string> {};

// As the newest transformers saves it: other keys, other files, and experts the other way around.
TEST_P(SavedAgain, EveryCaseEqualsTransformers) {
  const test::ScratchFolder folder;
  test_support::write_saved_again(GetParam(), folder);
  expect_every_case_of(GetParam(), folder.path());
}

INSTANTIATE_TEST_SUITE_P(Folders, SavedAgain, ::testing::ValuesIn(test_support::saved_again(test_support::SavedModels::kSeeing)),
                         [](const auto& info) { return folder_test_name(info.param); });

class GgufGolden : public ::testing::TestWithParam<const char*> {};

// Written by llama.cpp's converter: the text model and, beside it, its mmproj file.
TEST_P(GgufGolden, TwoFilesEqualTheirFolderInTransformers) { expect_every_case(GetParam(), "/gguf/model.gguf"); }

// A video's bounds are not in such a file: those of published folders are larger than these ones'.
TEST(GgufGoldenPictures, TwoFilesEqualTheirFolderInTransformers) {
  for (const char* folder :
       {"qwen3_vl/published", "qwen3_vl/experts", "qwen3_5/published", "qwen3_5_moe/published", "glm4v/thinking", "glm4v_moe/published"})
    expect_every_case(folder, "/gguf/model.gguf", "video");
}

// Text and vision encoder in one file, as Ollama's converter makes it (make_ollama_golden.py).
TEST(OllamaGolden, OneFileEqualsItsFolderInTransformers) {
  for (const char* family : {"gemma3", "qwen2_5_vl", "gemma4", "mistral3"})
    expect_every_case(std::string(family) + "/published", "/../../ollama/" + std::string(family) + ".gguf");
  for (const auto& [folder, file] : {std::pair("qwen3_vl/published", "qwen3_vl"), std::pair("qwen3_vl/experts", "qwen3_vl_moe"),
                                     std::pair("qwen3_5/published", "qwen3_5")})
    expect_every_case(folder, "/../../ollama/" + std::string(file) + ".gguf", "video");  // as above
}

// Files that open as models, and lack what only their weights show.
TEST(OllamaGolden, ADamagedFileIsRefusedByTheNameOfTheTensor) {
  const std::string whole = test::file_text(test_support::golden_folder("ollama/gemma3.gguf"));
  const test::ScratchFolder files;
  const auto loading = [&](const std::string& from, const std::string& to) {
    std::string bytes = whole;
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    LoadModel load{.folder = files.write("damaged.gguf", bytes.replace(at, to.size(), to))};
    const std::unique_ptr<Engine> engine = make_asked_engine(nullptr);
    EventRecorder events;
    engine->handle({1, load}, events, InterruptToken());
    return events.last<Failed>() ? std::optional(events.last<Failed>()->error) : std::nullopt;
  };
  const auto missing = loading("v.blk.1.mlp.fc1.weight", "v.blk.1.mlp.fc3.weight");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, ErrorCode::kDamagedFile);
  EXPECT_NE((missing->subject + missing->reason).find("encoder.layers.1.mlp.fc1.weight"), std::string::npos) << missing->subject;
  // The value stands behind the key and its type: a tower four features wider than its matrices.
  const std::string key = "gemma3.vision.embedding_length";
  const auto number = [](char value) { return std::string("\x04\0\0\0", 4) + value + std::string(3, '\0'); };
  ASSERT_NE(whole.find(key + number(24)), std::string::npos);
  const auto wider = loading(key + number(24), key + number(27));
  ASSERT_TRUE(wider);
  EXPECT_EQ(wider->code, ErrorCode::kDamagedFile) << wider->reason;
}

// The same Llama as an InternLM2, whose packed q, k and v the converter takes apart.
TEST(GgufGoldenInternLm2, TwoFilesEqualTheirFolderInTransformers) { expect_every_case("internvl/llama_published", "/gguf/internlm2.gguf"); }

INSTANTIATE_TEST_SUITE_P(Configurations, GgufGolden,
                         ::testing::Values("smolvlm/smolvlm2_split", "qwen2_vl/published", "qwen2_5_vl/published", "llava/llava_llama",
                                           "llava/next_mistral", "internvl/qwen2_saved", "internvl/llama_published", "gemma3/published",
                                           "gemma4/published", "gemma4_large/dense", "gemma4_experts/saved", "gemma4_unified/published",
                                           "glm4v/bounds", "lfm2_vl/defaults", "minicpmv/published", "mistral3/published",
                                           "mistral3/ministral"),
                         folder_info_name);

INSTANTIATE_TEST_SUITE_P(Configurations, EngineGolden, ::testing::ValuesIn(test_support::vision_folders()), folder_info_name);

}  // namespace
}  // namespace winnow::testing
