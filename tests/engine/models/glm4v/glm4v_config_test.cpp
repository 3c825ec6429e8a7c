// What a GLM-4V says about itself: as it is published, as its classes complete it, and what is refused by name.
#include "engine/models/glm4v/glm4v_config.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/config_exercise.h"
#include "tests/support/expect_error.h"

namespace winnow::glm4v_test {
namespace {

using test::expect_error;

// As zai-org/GLM-4.1V-9B-Thinking has it, without what nobody reads.
Json published() {
  return Json::parse(R"({
    "architectures": ["Glm4vForConditionalGeneration"], "model_type": "glm4v", "image_token_id": 151343, "video_token_id": 151344,
    "image_start_token_id": 151339, "image_end_token_id": 151340, "video_start_token_id": 151341, "video_end_token_id": 151342,
    "tie_word_embeddings": false,
    "text_config": {"model_type": "glm4v_text", "attention_bias": true, "eos_token_id": [151329, 151336, 151338, 151348],
      "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 13696, "max_position_embeddings": 65536,
      "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 2, "rms_norm_eps": 1e-05, "vocab_size": 151552,
      "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "default", "mrope_section": [8, 12, 12]}},
    "vision_config": {"model_type": "glm4v_vision", "attention_bias": false, "depth": 24, "hidden_act": "silu", "hidden_size": 1536,
      "image_size": 336, "in_channels": 3, "intermediate_size": 13696, "num_heads": 12, "out_hidden_size": 4096, "patch_size": 14,
      "rms_norm_eps": 1e-05, "spatial_merge_size": 2, "temporal_patch_size": 2}})");
}

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

Json without(Json document, const char* part, const char* key) {
  document[part].erase(key);
  return document;
}

// As GLM-4.6V-Flash: the newer class, and rope_parameters.
Json flash() {
  Json document = published();
  document["model_type"] = "glm46v";
  Json& text = document["text_config"];
  for (const char* key : {"rope_theta", "partial_rotary_factor", "rope_scaling"}) text.erase(key);
  text["rope_parameters"] =
      Json::parse(R"({"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5, "mrope_section": [8, 12, 12]})");
  document["vision_config"]["rope_parameters"] = Json::parse(R"({"rope_type": "axial", "rope_theta": 10000.0})");
  return document;
}

// As zai-org/GLM-4.5V.
Json experts() {
  Json document = published();
  document["model_type"] = "glm4v_moe";
  document["image_token_id"] = 151'363;
  document["vision_config"]["model_type"] = "glm4v_moe_vision";
  document["vision_config"]["intermediate_size"] = 10'944;
  document["text_config"].update(Json::parse(R"({"model_type": "glm4v_moe_text", "num_attention_heads": 96, "num_key_value_heads": 8,
    "head_dim": 128, "num_hidden_layers": 46, "intermediate_size": 10944, "first_k_dense_replace": 1, "n_routed_experts": 128,
    "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 1408, "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
    "routed_scaling_factor": 1.0, "use_qk_norm": false})"));
  return document;
}

Qwen3VlConfig parse(const Json& document) { return parse_glm4v_config(document, "config.json"); }

Qwen3VlFolder read(const Json& config, std::map<ModelPart, Json> beside = {}) {
  beside[ModelPart::kConfig] = config;
  return read_glm4v(test::DocumentsAlone(std::move(beside)));
}

TEST(Glm4vConfig, ReadsThePublishedFile) {
  const Qwen3VlConfig config = parse(published());
  EXPECT_EQ(config.text.layers, 40);
  EXPECT_EQ(config.text.head_dim, 128);
  EXPECT_EQ(config.text.kv_heads, 2);
  EXPECT_EQ(config.text.max_positions, 65'536);
  EXPECT_EQ(config.text.rotary.theta, 10'000.0);
  EXPECT_EQ(config.text.rotary.rotated, 64);
  EXPECT_EQ(config.text.pairs, RotaryPairs::kNeighbours);
  std::vector<std::int64_t> axes(8, 0);
  axes.resize(20, 1);
  axes.resize(32, 2);
  EXPECT_EQ(config.text.rotary.frequency_axis, axes);
  EXPECT_FALSE(config.text.query_key_norm);
  EXPECT_FALSE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.text.names.attention_out_norm, "post_self_attn_layernorm");
  EXPECT_EQ(config.text.deepstack_layers, 0);
  EXPECT_EQ(config.vision.layers, 24);
  EXPECT_EQ(config.vision.head_dim, 128);
  EXPECT_EQ(config.vision.intermediate_size, 4096) << "its blocks are as wide as a token";
  EXPECT_EQ(config.vision.norm_eps, 1e-5);
  ASSERT_TRUE(config.vision.downsample);
  EXPECT_EQ(config.vision.downsample->table_side, 24);
  EXPECT_EQ(config.vision.downsample->merger_size, 13'696);
  EXPECT_FALSE(config.vision.downsample->qkv_bias);
  EXPECT_EQ(config.tokens.image, 151'343);
  EXPECT_EQ(config.tokens.video, 151'343) << "a video's cells have the image's token";
  EXPECT_EQ(config.tokens.vision_end, 151'340);
}

TEST(Glm4vConfig, ReadsTheNewerClass) {
  const Qwen3VlConfig config = parse(flash());
  EXPECT_EQ(config.text.rotary.theta, 500'000.0);
  EXPECT_EQ(config.text.rotary.rotated, 64);
  EXPECT_EQ(config.vision.theta, 10'000.0);
}

TEST(Glm4vConfig, ReadsExpertsThatAreChosenBySigmoids) {
  const Qwen3VlConfig config = parse(experts());
  EXPECT_EQ(config.text.pairs, RotaryPairs::kHalves);
  EXPECT_EQ(config.text.rotary.rotated, 64);
  EXPECT_EQ(config.text.head_dim, 128) << "together wider than the hidden states";
  EXPECT_FALSE(config.text.query_key_norm);
  EXPECT_TRUE(config.text.names.gate_up.empty()) << "its layers are a Llama's";
  EXPECT_TRUE(config.text.names.mlp_out_norm.empty());
  EXPECT_EQ(config.text.names.shared_expert, "shared_experts");
  ASSERT_TRUE(config.text.experts);
  const ExpertConfig& found = *config.text.experts;
  EXPECT_EQ(found.count, 128);
  EXPECT_EQ(found.chosen, 8);
  EXPECT_EQ(found.shared_size, 1408);
  EXPECT_FALSE(found.shared_gate);
  EXPECT_TRUE(found.sums_to_one);
  ASSERT_TRUE(found.sigmoid);
  EXPECT_EQ(found.sigmoid->factor, 1.0);
  EXPECT_EQ(config.tokens.image, 151'363);
  Json grouped = with(with(experts(), "/text_config/n_group", "8"), "/text_config/topk_group", "4");
  EXPECT_EQ(parse(with(grouped, "/text_config/n_shared_experts", "2")).text.experts->shared_size, 2816);
  EXPECT_EQ(parse(grouped).text.experts->sigmoid->groups, 8);
  EXPECT_EQ(parse(grouped).text.experts->sigmoid->chosen_groups, 4);
  EXPECT_TRUE(parse(with(experts(), "/text_config/tie_word_embeddings", "true")).text.tie_word_embeddings);
  EXPECT_FALSE(parse(with(experts(), "/text_config/use_qk_norm", "true")).text.query_key_norm) << "the class that sees has none";
  EXPECT_EQ(read(experts()).times, FrameTimes::kBehindInSeconds);
  EXPECT_EQ(read(experts()).chat_template, read(flash()).chat_template);
}

TEST(Glm4vConfig, RefusesExpertsThatCannotBeChosen) {
  const auto refused = [](const char* key, const char* value) {
    const std::string subject = std::string("text_config.") + key;
    expect_error(ErrorCode::kDamagedFile, subject.c_str(),
                 [&] { parse(with(experts(), ("/text_config/" + std::string(key)).c_str(), value)); });
  };
  refused("n_group", "3");
  refused("n_group", "128");  // groups count by their two best
  refused("topk_group", "2");
  refused("num_experts_per_tok", "129");
  refused("n_group", "0");
  const Json narrow = with(experts(), "/text_config/n_group", "32");
  expect_error(ErrorCode::kDamagedFile, "num_experts_per_tok", [&] { parse(narrow); });
}

// Only the older class looks for it in its text part, and the newer one at its root.
TEST(Glm4vConfig, TheClassSaysWhereTiedEmbeddingsAreSaid) {
  EXPECT_TRUE(parse(with(published(), "/text_config/tie_word_embeddings", "true")).text.tie_word_embeddings);
  EXPECT_FALSE(parse(with(flash(), "/text_config/tie_word_embeddings", "true")).text.tie_word_embeddings);
  EXPECT_TRUE(parse(with(flash(), "/tie_word_embeddings", "true")).text.tie_word_embeddings);
}

TEST(Glm4vConfig, RefusesWhatItDoesNotRun) {
  const auto refused = [](ErrorCode code, const char* subject, const Json& config) { expect_error(code, subject, [&] { parse(config); }); };
  refused(ErrorCode::kUnsupportedModel, "model_type", with(published(), "/model_type", "\"glm5v\""));
  refused(ErrorCode::kUnsupportedModel, "text_config.model_type", with(published(), "/model_type", "\"glm4v_moe\""));
  refused(ErrorCode::kUnsupportedModel, "vision_config.model_type", with(experts(), "/vision_config/model_type", "\"glm4v_vision\""));
  refused(ErrorCode::kUnsupportedModel, "text_config.model_type", with(published(), "/text_config/model_type", "\"glm4v_moe_text\""));
  refused(ErrorCode::kUnsupportedModel, "vision_config.model_type", with(published(), "/vision_config/model_type", "\"siglip\""));
  refused(ErrorCode::kDamagedFile, "text_config.head_dim", with(published(), "/text_config/head_dim", "64"));
  refused(ErrorCode::kDamagedFile, "text_config.partial_rotary_factor", without(published(), "text_config", "partial_rotary_factor"));
  refused(ErrorCode::kDamagedFile, "mrope_section", with(published(), "/text_config/rope_scaling/mrope_section", "[8, 12, 11]"));
  refused(ErrorCode::kDamagedFile, "vision_config.out_hidden_size", with(published(), "/vision_config/out_hidden_size", "2048"));
  refused(ErrorCode::kDamagedFile, "vision_config.image_size", with(published(), "/vision_config/image_size", "13"));
  refused(ErrorCode::kLimitExceeded, "vision_config.image_size", with(published(), "/vision_config/image_size", "20000"));
  refused(ErrorCode::kLimitExceeded, "vision_config.image_size", with(published(), "/vision_config/image_size", "1000000000"));
  refused(ErrorCode::kDamagedFile, "vision_config.num_heads", with(published(), "/vision_config/num_heads", "7"));
  refused(ErrorCode::kUnsupportedModel, "vision_config.temporal_patch_size", with(published(), "/vision_config/temporal_patch_size", "3"));
  refused(ErrorCode::kUnsupportedModel, "vision_config.rope_parameters.rope_type",
          with(flash(), "/vision_config/rope_parameters/rope_type", "\"linear\""));
  refused(ErrorCode::kDamagedFile, "image_token_id", with(published(), "/image_token_id", "151339"));
  refused(ErrorCode::kDamagedFile, "image_end_token_id", with(published(), "/image_end_token_id", "151552"));
}

TEST(Glm4vProcessor, BoundsCountTheFramesOfASet) {
  const Qwen3VlFolder folder = read(published());
  for (const PatchProcessorConfig& each : {folder.processors.image, folder.processors.video}) {
    EXPECT_EQ(each.counted, CountedPixels::kOfSets);
    EXPECT_EQ(each.min_pixels, 112 * 112);
  }
  EXPECT_EQ(folder.processors.image.max_pixels, 28 * 28 * 15'000);
  EXPECT_EQ(folder.processors.video.max_pixels, 28 * 28 * 60'000);
  const Json pixels = Json::parse(R"({"size": {"shortest_edge": 12544, "longest_edge": 9633792}, "max_pixels": 5000})");
  EXPECT_EQ(read(published(), {{ModelPart::kImageProcessor, pixels}}).processors.image.max_pixels, 9'633'792)
      << "the class knows `size` alone";
}

// transformers takes the class that a processor's file names, whichever model it lies beside.
TEST(Glm4vProcessor, ItsClassSaysHowFramesAreToldTheirTimes) {
  EXPECT_EQ(read(published()).times, FrameTimes::kBehindInSeconds);
  EXPECT_EQ(read(flash()).times, FrameTimes::kBehind);
  EXPECT_EQ(read(with(published(), "/processor_class", "\"Glm46VProcessor\"")).times, FrameTimes::kBehind) << "of config.json, at last";
  const Json newer = Json::parse(R"({"processor_class": "Glm46VProcessor"})");
  EXPECT_EQ(read(published(), {{ModelPart::kImageProcessor, newer}}).times, FrameTimes::kBehind);
  const Json older = Json::parse(R"({"processor_class": "Glm4vProcessor"})");
  EXPECT_EQ(read(flash(), {{ModelPart::kProcessor, older}, {ModelPart::kImageProcessor, newer}}).times, FrameTimes::kBehindInSeconds);
  expect_error(ErrorCode::kUnsupportedModel, "processor_class", [] {
    read(published(), {{ModelPart::kProcessor, Json::parse(R"({"processor_class": "Qwen3VLProcessor"})")}});
  });
  expect_error(ErrorCode::kUnsupportedModel, "video_processor_type", [] {
    read(published(), {{ModelPart::kVideoProcessor, Json::parse(R"({"video_processor_type": "Qwen3VLVideoProcessor"})")}});
  });
}

}  // namespace
}  // namespace winnow::glm4v_test
