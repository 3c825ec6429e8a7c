#include "engine/models/qwen2_vl/qwen2_vl_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::qwen2_vl_test {
namespace {

using test::expect_error;

// As the folders on the hub are: the language half lies beside vision_config.
Json published() {
  return Json::parse(R"({
    "architectures": ["Qwen2VLForConditionalGeneration"], "model_type": "qwen2_vl", "image_token_id": 290, "video_token_id": 291,
    "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "vocab_size": 300, "rms_norm_eps": 1e-06, "hidden_act": "silu", "max_position_embeddings": 512, "rope_theta": 50000.0,
    "rope_scaling": {"type": "mrope", "mrope_section": [1, 2, 3]}, "use_sliding_window": false, "sliding_window": 128,
    "max_window_layers": 2, "tie_word_embeddings": true, "eos_token_id": 7,
    "vision_config": {"depth": 3, "embed_dim": 32, "hidden_size": 48, "num_heads": 4, "mlp_ratio": 2, "in_chans": 3, "patch_size": 14,
      "spatial_merge_size": 2, "spatial_patch_size": 14, "temporal_patch_size": 2}})");
}

// As transformers 5 saves it.
Json saved() {
  return Json::parse(R"({
    "architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl", "image_token_id": 290, "video_token_id": 291,
    "tie_word_embeddings": false,
    "text_config": {"model_type": "qwen2_5_vl_text", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
      "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 300, "layer_types": ["full_attention", "full_attention"],
      "rope_parameters": {"mrope_section": [2, 3, 3], "rope_theta": 1000000.0, "rope_type": "default"}},
    "vision_config": {"model_type": "qwen2_5_vl", "depth": 4, "hidden_act": "silu", "hidden_size": 16, "intermediate_size": 24,
      "num_heads": 2, "in_channels": 3, "out_hidden_size": 32, "patch_size": 4, "spatial_merge_size": 2, "temporal_patch_size": 2,
      "window_size": 31, "fullatt_block_indexes": [1, 3], "tokens_per_second": 2}})");
}

Qwen2VlConfig parse(const Json& document) { return parse_qwen2_vl_config(document, "config.json"); }

// With the member at a JSON pointer replaced.
Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

TEST(Qwen2VlConfig, ReadsAPublishedFolder) {
  const Qwen2VlConfig config = parse(published());
  EXPECT_EQ(config.text.heads, 4);
  EXPECT_EQ(config.text.head_dim, 12);
  EXPECT_EQ(config.text.rotary.theta, 50'000.0);
  EXPECT_EQ(config.text.rotary.frequency_axis, (std::vector<std::int64_t>{0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(config.text.max_positions, 512);
  EXPECT_TRUE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.vision.layers, 3);
  EXPECT_EQ(config.vision.hidden_size, 32);
  EXPECT_EQ(config.vision.intermediate_size, 64);
  EXPECT_EQ(config.vision.head_dim, 8);
  EXPECT_EQ(config.vision.activation, Activation::kQuickGelu);
  EXPECT_FALSE(config.vision.windows);
  EXPECT_FALSE(config.positions_a_second);
  EXPECT_EQ(config.image_token_id, 290);
  EXPECT_EQ(config.video_token_id, 291);
}

TEST(Qwen2VlConfig, ReadsAFolderThatTransformersSaved) {
  const Qwen2VlConfig config = parse(saved());
  EXPECT_EQ(config.text.rotary.axes(), 3);
  EXPECT_EQ(config.text.norm_eps, 1e-5) << "the class's default";
  EXPECT_FALSE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.vision.hidden_size, 16);
  EXPECT_EQ(config.vision.out_size, 32);
  ASSERT_TRUE(config.vision.windows);
  EXPECT_EQ(config.vision.windows->side_cells, 3) << "31 px: three cells of 8 px and a rest";
  EXPECT_EQ(config.vision.windows->whole_layers, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(config.positions_a_second, 2);
}

TEST(Qwen2VlConfig, HasTransformersDefaults) {
  Json document = saved();
  for (const char* key : {"window_size", "fullatt_block_indexes", "tokens_per_second", "hidden_act"}) document["vision_config"].erase(key);
  document["text_config"]["rope_parameters"].erase("rope_theta");
  const Qwen2VlConfig config = parse(document);
  EXPECT_EQ(config.vision.windows->side_cells, 14);
  EXPECT_EQ(config.vision.windows->whole_layers, (std::vector<std::int64_t>{7, 15, 23, 31}));
  EXPECT_EQ(config.positions_a_second, 4);
  EXPECT_EQ(config.vision.activation, Activation::kSilu);
  EXPECT_EQ(config.text.rotary.theta, 1e6);
}

TEST(Qwen2VlConfig, NamesTheKeyOfEveryBadValue) {
  struct Case {
    Json document;
    ErrorCode code;
    const char* words;
  };
  const Json old = published();
  const Json young = saved();
  const Case cases[] = {
      {with(old, "/model_type", "\"qwen3_vl\""), ErrorCode::kUnsupportedModel, "model_type"},
      {with(old, "/vision_config", "null"), ErrorCode::kDamagedFile, "vision_config"},
      {with(old, "/vision_config/patch_size", "0"), ErrorCode::kDamagedFile, "vision_config.patch_size"},
      {with(old, "/vision_config/patch_size", "65"), ErrorCode::kLimitExceeded, "vision_config.patch_size"},
      {with(old, "/vision_config/spatial_merge_size", "0"), ErrorCode::kDamagedFile, "vision_config.spatial_merge_size"},
      {with(old, "/vision_config/temporal_patch_size", "9"), ErrorCode::kLimitExceeded, "vision_config.temporal_patch_size"},
      {with(old, "/vision_config/depth", "1000000"), ErrorCode::kLimitExceeded, "vision_config.depth"},
      {with(old, "/vision_config/num_heads", "3"), ErrorCode::kDamagedFile, "vision_config.num_heads"},
      {with(old, "/vision_config/num_heads", "16"), ErrorCode::kDamagedFile, "vision_config.num_heads"},
      {with(old, "/vision_config/mlp_ratio", "0"), ErrorCode::kDamagedFile, "vision_config.mlp_ratio"},
      {with(old, "/vision_config/in_channels", "4"), ErrorCode::kUnsupportedModel, "vision_config.in_channels"},
      {with(old, "/vision_config/hidden_size", "32"), ErrorCode::kDamagedFile, "vision_config.hidden_size"},
      {with(old, "/vision_config/hidden_act", "\"selu\""), ErrorCode::kUnsupportedModel, "vision_config.hidden_act"},
      {with(old, "/vision_config/model_type", "\"siglip\""), ErrorCode::kUnsupportedModel, "vision_config.model_type"},
      {with(old, "/rope_scaling/mrope_section", "[1, 2]"), ErrorCode::kDamagedFile, "rope_scaling.mrope_section"},
      {with(old, "/rope_scaling/mrope_section", "[1, 2, 4]"), ErrorCode::kDamagedFile, "rope_scaling.mrope_section"},
      {with(old, "/rope_scaling/mrope_section", "[3, 3, 0]"), ErrorCode::kDamagedFile, "rope_scaling.mrope_section"},
      {with(old, "/rope_scaling/mrope_section", "[1, 1, 1, 3]"), ErrorCode::kLimitExceeded, "rope_scaling.mrope_section"},
      {with(old, "/rope_scaling/mrope_section", "null"), ErrorCode::kDamagedFile, "rope_scaling.mrope_section"},
      {with(old, "/rope_scaling/type", "\"ntk\""), ErrorCode::kUnsupportedModel, "rope_type"},
      {with(old, "/head_dim", "16"), ErrorCode::kDamagedFile, "head_dim"},
      {with(old, "/image_token_id", "300"), ErrorCode::kDamagedFile, "image_token_id"},
      {with(old, "/video_token_id", "290"), ErrorCode::kDamagedFile, "video_token_id"},
      {with(young, "/vision_config/out_hidden_size", "16"), ErrorCode::kDamagedFile, "vision_config.out_hidden_size"},
      {with(young, "/vision_config/window_size", "7"), ErrorCode::kDamagedFile, "vision_config.window_size"},
      {with(young, "/vision_config/fullatt_block_indexes", "[-1]"), ErrorCode::kDamagedFile, "vision_config.fullatt_block_indexes"},
      {with(young, "/vision_config/tokens_per_second", "1000000000"), ErrorCode::kLimitExceeded, "vision_config.tokens_per_second"},
      {with(young, "/text_config/rope_parameters", "null"), ErrorCode::kDamagedFile, "text_config.mrope_section"},
  };
  for (const Case& each : cases) expect_error(each.code, each.words, [&] { parse(each.document); });
}

TEST(Qwen2VlConfig, ProcessorsAgreeWithTheTower) {
  const test::ScratchFolder folder;
  folder.write("config.json", published().dump());
  const auto read = [&] { return read_qwen2_vl(HuggingFaceFolder(folder.path())); };
  EXPECT_EQ(read().processors.image.patches.cell_px(), 28) << "no processor document: transformers' defaults";
  folder.write("preprocessor_config.json", R"({"patch_size": 16})");
  expect_error(ErrorCode::kDamagedFile, "preprocessor_config.json: patch_size", [&] { read(); });
  folder.write("preprocessor_config.json", "{}");
  folder.write("video_preprocessor_config.json", R"({"temporal_patch_size": 1})");
  expect_error(ErrorCode::kDamagedFile, "video_preprocessor_config.json: temporal_patch_size", [&] { read(); });
}

}  // namespace
}  // namespace winnow::qwen2_vl_test
