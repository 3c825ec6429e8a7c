// The same weights in the LLaVA-NeXT repository's layout and in transformers', which the golden folders hold to transformers: features and
// logits of both are the same numbers.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/models/registry.h"
#include "engine/weights/safetensors_writer.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/scratch_folder.h"

namespace winnow::llava_onevision_test {
namespace {

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
    ModelSource source;
    source.package = std::make_shared<HuggingFaceFolder>(folder.path());
    source.plan.arithmetic = at::kFloat;
    return load_model(source);
  }

  c10::InferenceMode inference_;
  test::ScratchFolder repository_;
  test::ScratchFolder transformers_;
};

RgbImage picture(int width, int height, int seed) {
  RgbImage image{width, height, {}};
  for (int i = 0; i < 3 * width * height; ++i) image.rgb.push_back(static_cast<std::uint8_t>((i * 31 + i / 97 * seed) % 256));
  return image;
}

TEST_F(LlavaRepositoryModel, SeesAndReadsAsTheFolderOfTransformersDoes) {
  const auto ours = load(repository_);
  const auto theirs = load(transformers_);
  EXPECT_EQ(ours->info().family, "llava_onevision");
  EXPECT_EQ(ours->info().visual_tokens_per_frame, 13 * 13 + 13);
  EXPECT_FALSE(ours->info().time_instruction.empty());
  EXPECT_EQ(ours->info().parameter_count, theirs->info().parameter_count);
  const std::vector<RgbImage> pictures = {picture(90, 50, 3), picture(90, 50, 4)};
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
}  // namespace winnow::llava_onevision_test
