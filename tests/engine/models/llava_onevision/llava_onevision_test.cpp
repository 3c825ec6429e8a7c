#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "engine/models/families/llava_onevision_pixels.h"
#include "engine/models/registry.h"
#include "engine/weights/safetensors.h"
#include "engine/weights/safetensors_writer.h"
#include "tests/engine/models/golden_model.h"
#include "tests/engine/models/llava_parts/golden_pictures.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden_cases.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::llava_onevision_test {
namespace {

using test::expect_error;

class LlavaOnevisionModel : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(LlavaOnevisionModel, InfoIsComplete) {
  const auto model = load_golden_model("head_dim", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.name, "head_dim");
  EXPECT_EQ(info.device, "cpu");
  EXPECT_EQ(info.dtype, "bf16");
  EXPECT_EQ(info.layers, 2);
  EXPECT_EQ(info.context_tokens, 4096);
  EXPECT_EQ(info.visual_tokens_per_frame, 9);  // 5 x 5 patches pooled to 3 x 3
  EXPECT_EQ(info.kv_bytes_per_token, 2 * 2 * 2 * 16 * 2);
  EXPECT_EQ(info.weight_bytes, 2 * info.parameter_count);
}

TEST_F(LlavaOnevisionModel, APatchOfAVideoHandsOutAllOfItsAttention) {
  const auto model = load_golden_model("gqa_tied");
  const GoldenTensors golden(test_support::golden_folder("gqa_tied") + "/golden.safetensors");
  // 20 frames: more than one block of the tower.
  const at::Tensor pixels = test_support::pixels_of(golden.load("video.pixel_levels")).repeat({4, 1, 1, 1});
  const MediaFacts facts = test_support::video_facts(20);
  const EncodedParts all = model->encode(facts, {pixels, 0, 0}, VisionJudge::kAttention, {});
  ASSERT_EQ(all.importance.sizes(), at::IntArrayRef({20, 4}));
  // Sums to one over 16 patches; pooling averages fours of them.
  EXPECT_LE((all.importance.sum(1) - 1.0 / 4.0).abs().max().item<double>(), 1e-5);
  const MediaFeatures video = model->join(facts, all);
  EXPECT_EQ(video.origins[5].frame, 1);
  EXPECT_EQ(video.origins[5].row, 0);
  EXPECT_EQ(video.origins[5].column, 1);
  EXPECT_EQ(video.origins.back().row, -1);
}

TEST_F(LlavaOnevisionModel, FramesOfALlavaVideoJoinInAnyGrouping) {
  for (const char* const name : {"video_grid", "video_frame", "video_no_token"}) {
    SCOPED_TRACE(name);
    const auto model = load_golden_model(name);
    const GoldenTensors golden(test_support::golden_folder(name) + "/golden.safetensors");
    const at::Tensor pixels = test_support::pixels_of(golden.load("video.pixel_levels"));
    const auto of_frames = [&](std::int64_t first, std::int64_t count) {
      const MediaFacts facts = test_support::video_facts(count);
      return model->join(facts, model->encode(facts, {pixels.narrow(0, first, count), 0, 0}, VisionJudge::kAttention, {}));
    };
    const MediaFeatures all = of_frames(0, 3);
    const std::int64_t per_frame = all.features.size(0) / 3;
    ASSERT_EQ(all.importance.size(0), 3 * per_frame);
    for (std::int64_t token = 0; token < 3 * per_frame; ++token) {
      const TokenOrigin& origin = all.origins[static_cast<std::size_t>(token)];
      EXPECT_EQ(origin.frame, token / per_frame);
      EXPECT_EQ(all.importance[token].item<float>() == 0.0F, origin.row < 0) << token;
    }
    EXPECT_LE(relative_distance(of_frames(1, 1).features, all.features.narrow(0, per_frame, per_frame)), 1e-5);
  }
}

TEST_F(LlavaOnevisionModel, TellsTheTimesOfFramesWhereTheFileAsksForIt) {
  EXPECT_TRUE(load_golden_model("video_grid")->info().time_instruction.empty());
  const test::ScratchFolder folder;
  std::filesystem::copy(test_support::golden_folder("video_grid") + "/model", folder.path(), std::filesystem::copy_options::recursive);
  Json config = load_json(folder.path() + "/config.json");
  config["add_time_instruction"] = true;
  folder.write("config.json", config.dump());
  ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder.path())};
  EXPECT_EQ(load_model(source)->info().time_instruction, kLlavaVideoTimes);
  folder.write("winnow.json", R"({"time_instruction": "{frames} frames at {frame_times}"})");
  source.package = std::make_shared<HuggingFaceFolder>(folder.path());
  EXPECT_EQ(load_model(source)->info().time_instruction, "{frames} frames at {frame_times}") << "what the person wrote goes first";
}

TEST_F(LlavaOnevisionModel, AStrategyWithoutASquareGridRefusesTilesAndVideos) {
  const auto model = load_golden_model("select_default");
  try {
    model->encode(test_support::video_facts(1), {at::zeros({1, 3, 12, 12}), 0, 0}, {}, {});
    FAIL() << "pooled 8 patches";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kUnsupportedModel);
  }
  EXPECT_THROW(model->origins_of(test_support::image_facts(30, 30)), Exception);
  EXPECT_EQ(model->origins_of(test_support::image_facts(30, 30, false)).size(), 9U);  // 9 patches, the first dropped, a newline added
}

// Pixels against transformers' processors; how the golden files came about is in tests/golden/processor/manifest.json.
RgbImage picture(std::int64_t height, std::int64_t width, std::int64_t seed) {
  return {static_cast<int>(width), static_cast<int>(height), test::golden_picture(height, width, seed)};
}

ImageProcessor processor(std::int64_t side, std::vector<PixelSize> pinpoints, ResampleFilter filter, bool scaled,
                         ResizeArithmetic arithmetic = ResizeArithmetic::kPillow) {
  ImageProcessorConfig image;
  image.size = {side, side};
  image.filter = filter;
  image.scaling.rescale = scaled;
  image.scaling.normalize = scaled;
  image.grid_pinpoints = std::move(pinpoints);
  const PictureRules video = image;
  image.arithmetic = arithmetic;
  return ImageProcessor(image, video);
}

PixelValues run(const Json& entry, bool scaled) {
  std::vector<PixelSize> pinpoints;
  if (entry.contains("pinpoints")) {
    for (const Json& pair : entry["pinpoints"]) pinpoints.push_back({pair[0], pair[1]});
  }
  const auto filter = static_cast<ResampleFilter>(entry["resample"].get<int>());
  const auto arithmetic = entry.contains("arithmetic") ? ResizeArithmetic::kTorch : ResizeArithmetic::kPillow;
  const ImageProcessor subject = processor(entry["side"], pinpoints, filter, scaled, arithmetic);
  const std::int64_t height = entry["height"];
  const std::int64_t width = entry["width"];
  const std::int64_t seed = entry["seed"];
  if (entry["kind"] == "video") {
    return subject.frames(std::vector<RgbImage>{picture(height, width, seed), picture(height, width, seed + 1)});
  }
  return subject.image(picture(height, width, seed), entry["kind"] == "single" ? ImageTiling::kSingle : ImageTiling::kAnyRes);
}

TEST(ImageProcessor, ResizedBytesEqualTheReferenceExactly) {
  const SafetensorsFile golden(test::kProcessorGolden + "/pixels.safetensors");
  const Json cases = load_json(test::kProcessorGolden + "/cases.json");
  ASSERT_GE(cases["cases"].size(), 26U);
  for (const Json& entry : cases["cases"]) {
    const std::string name = entry["name"];
    SCOPED_TRACE(name + "; " + test::kRebuildHint);
    const StoredTensor& stored = golden.tensor(name);
    std::vector<std::uint8_t> expected(stored.bytes());
    golden.read(stored, 0, std::as_writable_bytes(std::span(expected)));
    const PixelValues values = run(entry, false);
    ASSERT_EQ(values.pixels.sizes().vec(), stored.shape);
    EXPECT_EQ(values.source_height_px, entry["height"]);
    EXPECT_EQ(values.source_width_px, entry["width"]);
    const float* got = values.pixels.const_data_ptr<float>();
    double largest = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(got[i]) - expected[i]));
    EXPECT_EQ(largest, 0.0);
  }
}

TEST(ImageProcessor, ScaledValuesEqualTheReference) {
  const SafetensorsFile golden(test::kProcessorGolden + "/pixels.safetensors");
  const Json cases = load_json(test::kProcessorGolden + "/cases.json");
  int compared = 0;
  for (const Json& entry : cases["cases"]) {
    const std::string name = entry["name"].get<std::string>() + ".scaled";
    if (!golden.tensors().contains(name)) continue;
    ++compared;
    const StoredTensor& stored = golden.tensor(name);
    std::vector<float> expected(stored.bytes() / sizeof(float));
    golden.read(stored, 0, std::as_writable_bytes(std::span(expected)));
    const PixelValues values = run(entry, true);
    ASSERT_EQ(values.pixels.sizes().vec(), stored.shape);
    const float* got = values.pixels.const_data_ptr<float>();
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-6) << name << " at " << i;
  }
  EXPECT_EQ(compared, 4);
}

// FNV-1a 64 of the values as bytes.
std::string hash_of(const at::Tensor& pixels) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  const float* values = pixels.const_data_ptr<float>();
  for (std::int64_t i = 0; i < pixels.numel(); ++i) hash = (hash ^ static_cast<std::uint8_t>(values[i])) * 0x100000001B3U;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

TEST(ImageProcessor, FullSizePicturesHashLikeTheReference) {
  const Json cases = load_json(test::kProcessorGolden + "/cases.json");
  const ImageProcessor subject = processor(384, default_grid_pinpoints(), ResampleFilter::kBicubic, false);
  const ImageProcessor fast = processor(384, default_grid_pinpoints(), ResampleFilter::kBicubic, false, ResizeArithmetic::kTorch);
  for (const Json& entry : cases["hashed"]) {
    SCOPED_TRACE(entry["name"].get<std::string>() + "; " + test::kRebuildHint);
    const RgbImage image = picture(entry["height"], entry["width"], entry["seed"]);
    const PixelValues tiled = subject.image(image, ImageTiling::kAnyRes);
    EXPECT_EQ(tiled.pixels.size(0), entry["tiles"]);
    EXPECT_EQ(hash_of(tiled.pixels), entry["anyres"]);
    EXPECT_EQ(hash_of(subject.image(image, ImageTiling::kSingle).pixels), entry["single"]);
    EXPECT_EQ(hash_of(fast.image(image, ImageTiling::kAnyRes).pixels), entry["anyres_fast"]);
    EXPECT_EQ(hash_of(fast.image(image, ImageTiling::kSingle).pixels), entry["single_fast"]);
    EXPECT_EQ(hash_of(subject.frames(std::vector<RgbImage>{image}).pixels), entry["video"]);
  }
}

TEST(ImageProcessor, RefusesImagesThatAreNotWhatTheySay) {
  const ImageProcessor subject = processor(28, {{28, 28}}, ResampleFilter::kBicubic, true);
  const auto image = [&](int width, int height, std::size_t bytes) {
    subject.image({width, height, std::vector<std::uint8_t>(bytes)}, ImageTiling::kAnyRes);
  };
  expect_error(ErrorCode::kInvalidArgument, "no pixels", [&] { image(0, 5, 0); });
  expect_error(ErrorCode::kInvalidArgument, "no pixels", [&] { image(5, -5, 75); });
  expect_error(ErrorCode::kInvalidArgument, "do not match", [&] { image(5, 5, 74); });
  expect_error(ErrorCode::kLimitExceeded, "64 Mpx", [&] { image(16'385, 100, 0); });
  expect_error(ErrorCode::kLimitExceeded, "64 Mpx", [&] { image(16'000, 16'000, 0); });
  expect_error(ErrorCode::kLimitExceeded, "too narrow", [&] { image(201, 1, 603); });
  expect_error(ErrorCode::kInvalidArgument, "no frames", [&] { subject.frames({}); });
  EXPECT_NO_THROW(image(200, 1, 600));
}

TEST(ImageProcessor, FramesOfDifferentSizesShareOneTensor) {
  const ImageProcessor subject = processor(28, {{28, 28}}, ResampleFilter::kBicubic, true);
  const PixelValues values = subject.frames(std::vector<RgbImage>{picture(20, 30, 1), picture(50, 10, 2)});
  EXPECT_EQ(values.pixels.sizes().vec(), (std::vector<std::int64_t>{2, 3, 28, 28}));
  EXPECT_EQ(values.source_height_px, 20);
}

// The same weights in the LLaVA-NeXT repository's layout and in transformers', which the golden folders hold to transformers: features and
// logits of both are the same numbers.
constexpr std::int64_t kHidden = 16, kInner = 24, kVocabulary = 32, kTower = 144, kTowerInner = 20;
constexpr char kTokenizer[] = R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})";
constexpr char kTokenizerWithMedia[] =
    R"({"added_tokens": [{"id": 2, "content": "<image>", "special": true}, {"id": 3, "content": "<video>", "special": true}],
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})";

struct Weight {
  std::string repository;
  std::string transformers;
  std::vector<std::int64_t> shape;
};

std::vector<Weight> weights() {
  std::vector<Weight> all = {{"model.embed_tokens.weight", "language_model.model.embed_tokens.weight", {kVocabulary, kHidden}},
                             {"model.norm.weight", "language_model.model.norm.weight", {kHidden}},
                             {"lm_head.weight", "language_model.lm_head.weight", {kVocabulary, kHidden}},
                             {"model.image_newline", "image_newline", {kHidden}},
                             {"model.mm_projector.0.weight", "multi_modal_projector.linear_1.weight", {kHidden, kTower}},
                             {"model.mm_projector.0.bias", "multi_modal_projector.linear_1.bias", {kHidden}},
                             {"model.mm_projector.2.weight", "multi_modal_projector.linear_2.weight", {kHidden, kHidden}},
                             {"model.mm_projector.2.bias", "multi_modal_projector.linear_2.bias", {kHidden}}};
  const auto text = [&](const std::string& name, std::vector<std::int64_t> shape) {
    all.push_back({"model.layers.0." + name, "language_model.model.layers.0." + name, std::move(shape)});
  };
  for (const char* norm : {"input_layernorm.weight", "post_attention_layernorm.weight"}) text(norm, {kHidden});
  for (const char* projection : {"q", "k", "v"}) {
    text(std::string("self_attn.") + projection + "_proj.weight", {kHidden, kHidden});
    text(std::string("self_attn.") + projection + "_proj.bias", {kHidden});
  }
  text("self_attn.o_proj.weight", {kHidden, kHidden});
  for (const char* projection : {"gate", "up"}) text(std::string("mlp.") + projection + "_proj.weight", {kInner, kHidden});
  text("mlp.down_proj.weight", {kHidden, kInner});

  const auto tower = [&](const std::string& name, std::vector<std::int64_t> shape) {
    all.push_back({"model.vision_tower.vision_tower.vision_model." + name, "vision_tower.vision_model." + name, std::move(shape)});
  };
  tower("embeddings.patch_embedding.weight", {kTower, 3, 14, 14});
  tower("embeddings.patch_embedding.bias", {kTower});
  tower("embeddings.position_embedding.weight", {27 * 27, kTower});
  for (const char* norm : {"layer_norm1", "layer_norm2"}) {
    for (const char* part : {"weight", "bias"}) tower(std::string("encoder.layers.0.") + norm + "." + part, {kTower});
  }
  for (const char* projection : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    tower(std::string("encoder.layers.0.self_attn.") + projection + ".weight", {kTower, kTower});
    tower(std::string("encoder.layers.0.self_attn.") + projection + ".bias", {kTower});
  }
  tower("encoder.layers.0.mlp.fc1.weight", {kTowerInner, kTower});
  tower("encoder.layers.0.mlp.fc1.bias", {kTowerInner});
  tower("encoder.layers.0.mlp.fc2.weight", {kTower, kTowerInner});
  tower("encoder.layers.0.mlp.fc2.bias", {kTower});
  for (const char* part : {"weight", "bias"}) tower(std::string("post_layernorm.") + part, {kTower});
  return all;
}

Json text_config() {
  return {{"hidden_size", kHidden},          {"intermediate_size", kInner},  {"num_hidden_layers", 1}, {"num_attention_heads", 2},
          {"num_key_value_heads", 2},        {"vocab_size", kVocabulary},    {"rms_norm_eps", 1e-6},   {"rope_theta", 10000.0},
          {"max_position_embeddings", 8192}, {"tie_word_embeddings", false}, {"hidden_act", "silu"}};
}

void add_video_rules(Json& config) {
  config.update({{"mm_spatial_pool_mode", "average"},
                 {"mm_spatial_pool_stride", 2},
                 {"mm_newline_position", "grid"},
                 {"add_time_instruction", true},
                 {"image_grid_pinpoints", {{384, 384}, {384, 768}, {768, 384}}}});
}

class LlavaRepositoryModel : public ::testing::Test {
 protected:
  LlavaRepositoryModel() {
    at::manual_seed(5);
    std::vector<std::pair<std::string, at::Tensor>> stored, saved;
    for (const Weight& weight : weights()) {
      const at::Tensor values = 0.2 * at::randn(weight.shape);
      stored.emplace_back(weight.repository, values);
      saved.emplace_back(weight.transformers, values);
    }
    write_safetensors(repository_.file("model.safetensors"), stored);
    write_safetensors(transformers_.file("model.safetensors"), saved);
    Json config = text_config();
    config.update({{"architectures", {"LlavaQwenForCausalLM"}},
                   {"model_type", "llava"},
                   {"image_aspect_ratio", "anyres_max_9"},
                   {"mm_vision_tower", "google/siglip-so400m-patch14-384"},
                   {"mm_projector_type", "mlp2x_gelu"},
                   {"mm_patch_merge_type", "spatial_unpad"}});
    add_video_rules(config);
    repository_.write("config.json", config.dump());
    repository_.write("tokenizer.json", kTokenizer);
    Json text = text_config();
    text["model_type"] = "qwen2";
    Json plain = {{"architectures", {"LlavaOnevisionForConditionalGeneration"}},
                  {"model_type", "llava_onevision"},
                  {"text_config", text},
                  {"vision_config",
                   {{"model_type", "siglip_vision_model"},
                    {"hidden_size", kTower},
                    {"intermediate_size", kTowerInner},
                    {"num_hidden_layers", 1},
                    {"num_attention_heads", 2},
                    {"image_size", 384},
                    {"patch_size", 14},
                    {"vision_use_head", false}}},
                  {"image_token_id", 2},
                  {"video_token_id", 3}};
    add_video_rules(plain);
    transformers_.write("config.json", plain.dump());
    transformers_.write("preprocessor_config.json", R"({"size": {"height": 384, "width": 384}, "resample": 3, "image_mean": [0.5, 0.5, 0.5],
                        "image_std": [0.5, 0.5, 0.5], "image_grid_pinpoints": [[384, 384], [384, 768], [768, 384]]})");
    transformers_.write("tokenizer.json", kTokenizerWithMedia);
  }
  static std::unique_ptr<VisionLanguageModel> load(const test::ScratchFolder& folder) {
    ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder.path()), .plan = {.arithmetic = at::kFloat}};
    return load_model(source);
  }

  c10::InferenceMode inference_;
  test::ScratchFolder repository_;
  test::ScratchFolder transformers_;
};

TEST_F(LlavaRepositoryModel, SeesAndReadsAsTheFolderOfTransformersDoes) {
  const auto ours = load(repository_);
  const auto theirs = load(transformers_);
  EXPECT_EQ(ours->info().family, "llava_onevision");
  EXPECT_EQ(ours->info().visual_tokens_per_frame, 13 * 13 + 13);
  EXPECT_FALSE(ours->info().time_instruction.empty());
  EXPECT_EQ(ours->info().parameter_count, theirs->info().parameter_count);
  const std::vector<RgbImage> pictures = {picture(50, 90, 3), picture(50, 90, 4)};
  for (const MediaFacts& facts : {test_support::image_facts(50, 90), test_support::video_facts(2)}) {
    const std::span<const RgbImage> shown(pictures.data(), facts.kind == MediaKind::kVideo ? 2 : 1);
    const auto features = [&](const VisionLanguageModel& model) {
      return model.join(facts, model.encode(facts, model.preprocess(facts, shown), {}, {})).features;
    };
    const at::Tensor seen = features(*ours);
    EXPECT_GT(seen.size(0), 2 * 13 * 13);
    EXPECT_TRUE(at::equal(seen, features(*theirs)));
    const auto logits = [&](const VisionLanguageModel& model) {
      KvCache cache(model.text().kv_shape());
      return model.text().logits(test_support::prefill(model.text(), seen.clone(), 0, cache));
    };
    const at::Tensor read = logits(*ours);
    EXPECT_GT(read.abs().max().item<float>(), 0.0F);
    EXPECT_TRUE(at::equal(read, logits(*theirs)));
  }
}

}  // namespace
}  // namespace winnow::test_support::llava_onevision_test
