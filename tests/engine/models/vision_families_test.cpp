// What every vision-language model promises, asked of each golden folder; a family takes part by having some
// (tests/support/vision_folders.h). Whole turns are compared by engine_golden_test.cpp; what only one family has is tested in its folder.
#include <gtest/gtest.h>

#include <initializer_list>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/json_document.h"
#include "engine/models/known_family.h"
#include "tests/engine/models/folder_copy.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/golden_cases.h"
#include "tests/support/memory_media.h"
#include "tests/support/tensor_distance.h"
#include "tests/support/vision_folders.h"

namespace winnow::test_support::vision_families_test {
namespace {

using testing::patterned_picture;

constexpr PictureSize kFrame = {34, 24};

MediaFacts image_of(const RgbImage& picture) { return {MediaKind::kImage, {picture.width_px, picture.height_px}, 1, 0.0, true}; }

// One frame a second.
MediaFacts video_of(std::int64_t frames) {
  MediaFacts facts{MediaKind::kVideo, kFrame, frames, static_cast<double>(frames), true};
  for (std::int64_t frame = 0; frame < frames; ++frame) facts.times_s.push_back(static_cast<double>(frame) + 0.5);
  return facts;
}

class VisionFolder : public ::testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<VisionLanguageModel> load(at::ScalarType dtype = at::kFloat) { return load_golden_model(GetParam(), dtype); }
  static std::string folder() { return golden_folder(GetParam()); }

  c10::InferenceMode inference_;
};

TEST_P(VisionFolder, BrainFloatIsCloseToFp32) {
  const std::vector<RgbImage> picture = {patterned_picture(61, 47, 3)};
  MediaFacts facts = image_of(picture[0]);
  facts.only_image = std::string(GetParam()) != test_support::kRefusesAnImage;
  const auto features = [&](at::ScalarType dtype) {
    const auto model = load(dtype);
    return model->join(facts, model->encode(facts, model->preprocess(facts, picture), {}, {})).features;
  };
  const at::Tensor rounded = features(at::kBFloat16);
  ASSERT_EQ(rounded.scalar_type(), at::kBFloat16);
  // 8 bits of mantissa through up to four layers with unit-scale activations; Qwen3-VL joins the features of three of them.
  const double bound = folder().find("qwen3_vl") == std::string::npos ? 0.05 : 0.06;
  EXPECT_LE(relative_distance(rounded, features(at::kFloat)), bound);
}

TEST_P(VisionFolder, LogitsInBrainFloatAreCloseToFp32) {
  const auto logits = [&](at::ScalarType dtype) {
    const auto model = load(dtype);
    const std::vector<TokenOrigin> words(20);
    std::vector<std::int32_t> originals(words.size());
    std::iota(originals.begin(), originals.end(), 0);
    KvCache cache(model->text().kv_shape());
    at::Tensor rows = model->text().embed(at::arange(5, 5 + std::ssize(words), at::kLong));
    const at::Tensor positions = model->positions_for({words, 0}).positions;
    for (LayerId layer{0}; layer < model->text().layers(); ++layer)
      model->text().prefill_layer(layer, rows, positions, originals, cache, nullptr, {}, {});
    return model->text().logits(rows.slice(0, -1));
  };
  const at::Tensor rounded = logits(at::kBFloat16);
  ASSERT_EQ(rounded.scalar_type(), at::kFloat);
  // Where a random router's experts are close, rounding chooses another.
  const bool experts = std::string_view(GetParam()).find("experts") != std::string_view::npos;
  // MiniCPM-V's recurrent layers stand at the bound: libtorch's kernels for AVX2 and AVX-512 round to 0.1001, its plain ones to less.
  const bool recurrent = std::string_view(GetParam()).find("minicpmv") != std::string_view::npos;
  EXPECT_LE(relative_distance(rounded, logits(at::kFloat)), experts ? 0.2 : recurrent ? 0.12 : 0.1);
}

TEST_P(VisionFolder, TheTowerObeysAnInterrupt) {
  const auto model = load();
  const std::vector<RgbImage> picture = {patterned_picture(40, 40, 1)};
  MediaFacts facts = image_of(picture[0]);
  facts.only_image = std::string(GetParam()) != test_support::kRefusesAnImage;
  const PixelValues pixels = model->preprocess(facts, picture);
  InterruptSource source;
  source.request_cancel();
  EXPECT_THROW(model->encode(facts, pixels, {}, source.token()), Interrupted);
}

TEST_P(VisionFolder, IsKnownByItsConfigurationAlone) {
  const std::optional<KnownFamily> family = known_family(HuggingFaceFolder(folder() + "/model").required(ModelPart::kConfig).root());
  ASSERT_TRUE(family);
  const ModelInfo info = load()->info();
  EXPECT_EQ(family->model_type, info.family);
  const Json config = load_json(folder() + "/model/config.json");
  const Json& text = config.contains("text_config") ? config["text_config"] : config.contains("llm_config") ? config["llm_config"] : config;
  const auto expect_said = [&](const char* key, std::int64_t found) {
    if (text.contains(key) && text[key].is_number()) {
      EXPECT_EQ(text[key], found) << key;
    }
  };
  expect_said("num_attention_heads", info.heads);
  if (!info.family.starts_with("gemma4")) {  // whose layers differ
    expect_said("num_key_value_heads", info.kv_heads);
    expect_said("head_dim", info.head_dim);
  }
  EXPECT_TRUE(family->sees);
  EXPECT_TRUE(info.traits.sees);
  EXPECT_TRUE(family->reads_videos || !info.traits.reads_videos);
}

// What transformers made of a case's pictures, byte for byte, and what its tower made of them.
TEST_P(VisionFolder, PixelsAndFeaturesEqualTheReference) {
  const GoldenTensors golden(folder() + "/golden.safetensors");
  const auto channels = [&](const char* key) { return golden.has(key) ? golden.load(key).view({3, 1, 1}) : at::full({3, 1, 1}, 0.5); };
  std::unique_ptr<VisionLanguageModel> model;
  for (const std::string which : {"image", "two_images", "second_turn", "video"}) {
    if (!golden.has(which + ".pixel_levels.0")) continue;
    SCOPED_TRACE(which);
    if (!model) model = load();
    const std::vector<RgbImage> pictures = test_support::golden_pictures(golden, which);
    std::vector<at::Tensor> features;
    const std::size_t media = which == "video" ? 1 : pictures.size();
    for (std::size_t medium = 0; medium < media; ++medium) {
      const MediaFacts facts = which == "video" ? video_of(std::ssize(pictures)) : image_of(pictures[medium]);
      const auto of_medium = which == "video" ? std::span(pictures) : std::span(pictures).subspan(medium, 1);
      const PixelValues pixels = model->preprocess(facts, of_medium);
      const at::Tensor levels = golden.load(which + ".pixel_levels." + std::to_string(medium)).to(at::kFloat);
      const at::Tensor expected = (levels / 255.0 - channels("mean")) / channels("deviation");
      ASSERT_EQ(pixels.pixels.sizes(), expected.sizes());
      EXPECT_LE((pixels.pixels - expected).abs().max().item<double>(), 1e-5) << "every byte is the same";
      const MediaFeatures joined = model->join(facts, model->encode(facts, pixels, {}, {}));
      EXPECT_EQ(std::ssize(joined.ids), joined.features.size(0));
      EXPECT_EQ(joined.origins.size(), model->origins_of(facts).size());
      features.push_back(joined.features);
    }
    const at::Tensor expected = golden.load(which + ".features");
    EXPECT_LE(relative_distance(kept_columns(at::cat(features, 0), expected), expected), 1e-4);
  }
}

TEST_P(VisionFolder, LogitsOfAllPositionsEqualTheReference) {
  const GoldenTensors golden(folder() + "/golden.safetensors");
  for (const std::string which : {"text", "image", "two_images", "video"}) {
    if (!golden.has(which + ".all_logits")) continue;
    SCOPED_TRACE(which);
    const auto model = load();
    std::vector<TokenOrigin> origins;
    const at::Tensor features = test_support::encode_case(*model, golden, which, origins);
    for (const TokenOrigin& origin : origins) ASSERT_EQ(origin.modality, Modality::kVisual);
    KvCache cache(model->text().kv_shape());
    const at::Tensor rows = test_support::embed_case(*model, golden.load(which + ".input_ids"), features);
    const at::Tensor logits = model->text().logits(test_support::prefill(model->text(), rows, 0, cache));
    const at::Tensor expected = golden.load(which + ".all_logits");
    EXPECT_LE(relative_distance(kept_columns(logits, expected), expected), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, VisionFolder, ::testing::ValuesIn(test_support::vision_folders()), testing::folder_info_name);

// Frames of a video that are encoded together, and those that are not.
class VideoFolder : public VisionFolder {};

TEST_P(VideoFolder, FramesCanBeEncodedInAnyGrouping) {
  const auto model = load();
  const std::int64_t joined = model->info().traits.joined_frames;
  constexpr std::int64_t kSets = 10;  // more than one block of a tower
  const MediaFacts facts = video_of(kSets * joined);
  std::vector<RgbImage> pictures;
  for (int i = 0; i < facts.frames; ++i) pictures.push_back(patterned_picture(kFrame.width_px, kFrame.height_px, i));
  const bool judges = model->info().traits.judges_patches;
  const auto judged_by = [&](VisionJudge judge) { return judges ? std::optional(judge) : std::nullopt; };
  const EncodedParts all = model->encode(facts, model->preprocess(facts, pictures), judged_by(VisionJudge::kAttention), {});
  ASSERT_EQ(all.features.size(0), kSets);
  ASSERT_EQ(all.importance.defined(), judges);
  if (judges) {
    ASSERT_EQ(all.importance.sizes(), all.features.sizes().slice(0, 2));
  }
  for (const std::int64_t set : {0, 7, 8, 9}) {
    const auto own = std::span(pictures).subspan(static_cast<std::size_t>(set * joined), static_cast<std::size_t>(joined));
    const EncodedParts alone = model->encode(facts, model->preprocess(facts, own), judged_by(VisionJudge::kRollout), {});
    EXPECT_LE(relative_distance(alone.features[0], all.features[set]), 1e-5) << set;
    if (judges) {
      EXPECT_GT(alone.importance.min().item<float>(), 0.0F) << set;
    }
  }
  const MediaFeatures video = model->join(facts, all);
  const auto tokens = static_cast<std::size_t>(video.features.size(0));
  EXPECT_EQ(video.origins.size(), tokens);
  EXPECT_EQ(model->origins_of(facts).size(), tokens);
  if (judges) {
    EXPECT_EQ(video.importance.size(0), video.features.size(0));
  }
  EXPECT_TRUE(video.ids.empty() || video.ids.size() == tokens);
  for (std::size_t token = 0; judges && token < tokens; ++token) {
    EXPECT_EQ(video.importance[static_cast<std::int64_t>(token)].item<float>() == 0.0F, video.origins[token].row < 0) << token;
  }
  std::int64_t last = 0;
  for (const TokenOrigin& origin : video.origins) {
    if (origin.frame < 0) continue;  // a newline that is no frame's
    EXPECT_GE(origin.frame, last) << "frame after frame, words, too";
    last = origin.frame;
  }
  EXPECT_EQ(last, (kSets - 1) * joined);
}

std::vector<const char*> folders_with_videos() {
  std::vector<const char*> folders;
  for (const char* const folder : test_support::vision_folders()) {
    const HuggingFaceFolder files(golden_folder(folder) + "/model");
    const std::optional<KnownFamily> family = known_family(files.required(ModelPart::kConfig).root());
    if (family && family->reads_videos && std::string(folder) != test_support::kRefusesAnImage) folders.push_back(folder);
  }
  return folders;
}
INSTANTIATE_TEST_SUITE_P(Folders, VideoFolder, ::testing::ValuesIn(folders_with_videos()), testing::folder_info_name);

// Families whose tokens the tokenizer knows by their words, too.
TEST(VisionFamilies, ATokenizerWithOtherTokensThanTheConfigurationsIsRefused) {
  struct Token {
    const char* folder;
    const char* key;
    const char* named = nullptr;  // null: the key
  };
  for (const Token& token : std::initializer_list<Token>{{"gemma3/narrow_window", "image_token_index"},
                                                         {"gemma4/saved", "image_token_id"},
                                                         {"glm4v/flash", "image_token_id", "<|image|>"},
                                                         {"glm4v/flash", "image_start_token_id", "<|begin_of_image|>"},
                                                         {"glm4v/flash", "image_end_token_id", "<|end_of_image|>"},
                                                         {"internvl/qwen2_saved", "image_token_id"},
                                                         {"lfm2_vl/published", "image_token_id"},
                                                         {"minicpmv/fine", "image_token_id"},
                                                         {"minicpmv/fine", "video_token_id"},
                                                         {"minicpmv4_7/fine", "image_start_id"},
                                                         {"minicpmv4_7/fine", "image_end_id"},
                                                         {"minicpmv4_7/fine", "slice_start_id"},
                                                         {"minicpmv4_7/fine", "slice_end_id"},
                                                         {"minicpmv4_7/fine", "newline_id"},
                                                         {"mistral3/published", "image_token_index"},
                                                         {"smolvlm/smolvlm2_split", "image_token_id"}}) {
    const test_support::FolderCopy copy(token.folder);
    Json config = load_json(golden_folder(token.folder) + "/model/config.json");
    config[token.key] = 5;
    copy.write("config.json", config.dump());
    test::expect_error(ErrorCode::kDamagedFile, token.named != nullptr ? token.named : token.key, [&] { load_model(copy.source()); });
  }
}

// For folders that have none.
TEST(VisionFamilies, TheTemplateIsThePublishedOne) {
  for (const char* const folder :
       {"gemma3/narrow_window", "qwen2_vl/published", "qwen2_vl/joined_three", "qwen2_5_vl/published", "qwen2_5_vl/saved",
        "qwen3_vl/published", "qwen3_vl/saved", "qwen3_vl/joined_three", "qwen3_vl/experts"}) {
    const HuggingFaceFolder files(golden_folder(folder) + "/model");
    EXPECT_EQ(load_golden_model(folder)->prompt().chat_template, files.chat_template("").source) << folder;
  }
}

}  // namespace
}  // namespace winnow::test_support::vision_families_test
