#include "engine/models/qwen3_vl/qwen3_vl_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::qwen3_vl_test {
namespace {

using test::expect_error;

Json published() {
  return Json::parse(R"({
    "architectures": ["Qwen3VLForConditionalGeneration"], "model_type": "qwen3_vl", "image_token_id": 290, "video_token_id": 291,
    "vision_start_token_id": 288, "vision_end_token_id": 289, "tie_word_embeddings": true,
    "text_config": {"model_type": "qwen3_vl_text", "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 3,
      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 300, "eos_token_id": 7,
      "rope_theta": 5000000, "rope_scaling": {"mrope_interleaved": true, "mrope_section": [4, 2, 2], "rope_type": "default"}},
    "vision_config": {"model_type": "qwen3_vl", "depth": 4, "hidden_size": 32, "intermediate_size": 40, "num_heads": 4, "in_channels": 3,
      "out_hidden_size": 48, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2, "num_position_embeddings": 49,
      "deepstack_visual_indexes": [0, 1, 3]}})");
}

Qwen3VlConfig parse(const Json& document) { return parse_qwen3_vl_config(document, "config.json"); }

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

Json without(Json document, const char* object, const char* key) {
  document[object].erase(key);
  return document;
}

TEST(Qwen3VlConfig, ReadsAPublishedFolder) {
  const Qwen3VlConfig config = parse(published());
  EXPECT_TRUE(config.text.query_key_norm);
  EXPECT_TRUE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.text.head_dim, 16);
  EXPECT_EQ(config.text.deepstack_layers, 3);
  EXPECT_EQ(config.text.max_positions, 128'000) << "the class's default";
  EXPECT_EQ(config.text.rotary.theta, 5e6);
  EXPECT_EQ(config.text.rotary.frequency_axis, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 0}));
  EXPECT_EQ(config.vision.activation, Activation::kGeluTanh);
  ASSERT_TRUE(config.vision.deepstack);
  EXPECT_EQ(config.vision.deepstack->table_side, 7);
  EXPECT_EQ(config.vision.deepstack->layers, (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(config.tokens.vision_end, 289);
}

TEST(Qwen3VlConfig, AxesTakeTurnsAsLongAsASectionLasts) {
  const auto axes = [](const char* sections) {
    return parse(with(published(), "/text_config/rope_scaling/mrope_section", sections)).text.rotary.frequency_axis;
  };
  // Width's third turn would be frequency 8, which there is not.
  EXPECT_EQ(axes("[2, 3, 3]"), (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(axes("[6, 1, 1]"), (std::vector<std::int64_t>{0, 1, 2, 0, 0, 0, 0, 0}));
}

TEST(Qwen3VlConfig, HasTransformersDefaults) {
  Json document = with(published(), "/text_config/head_dim", "128");
  document["text_config"]["rope_scaling"].erase("mrope_section");
  document["text_config"].erase("rope_theta");
  for (const char* key : {"num_position_embeddings", "deepstack_visual_indexes"}) document["vision_config"].erase(key);
  document["vision_config"]["depth"] = 27;
  const Qwen3VlConfig config = parse(document);
  EXPECT_EQ(config.text.rotary.theta, 5e5);
  EXPECT_EQ(std::ranges::count(config.text.rotary.frequency_axis, 0), 24);
  EXPECT_EQ(std::ranges::count(config.text.rotary.frequency_axis, 1), 20);
  EXPECT_EQ(config.vision.deepstack->table_side, 48);
  EXPECT_EQ(config.vision.deepstack->layers, (std::vector<std::int64_t>{8, 16, 24}));
}

TEST(Qwen3VlConfig, NamesTheKeyOfEveryBadValue) {
  struct Case {
    Json document;
    ErrorCode code;
    const char* words;
  };
  const Json good = published();
  const Case cases[] = {
      {with(good, "/model_type", "\"qwen2_vl\""), ErrorCode::kUnsupportedModel, "model_type"},
      {with(good, "/text_config", "null"), ErrorCode::kDamagedFile, "text_config"},
      {with(good, "/text_config/model_type", "\"qwen3\""), ErrorCode::kUnsupportedModel, "text_config.model_type"},
      {with(good, "/text_config/head_dim", "null"), ErrorCode::kDamagedFile, "text_config.head_dim"},
      {with(good, "/text_config/rope_scaling/mrope_section", "[4, 2]"), ErrorCode::kDamagedFile, "rope_scaling.mrope_section"},
      {with(good, "/text_config/rope_scaling/mrope_section", "[4, 2, 3]"), ErrorCode::kDamagedFile, "rope_scaling.mrope_section"},
      {with(good, "/text_config/rope_scaling/mrope_section", "null"), ErrorCode::kDamagedFile, "rope_scaling.mrope_section"},
      {with(good, "/vision_config", "null"), ErrorCode::kDamagedFile, "vision_config"},
      {with(good, "/vision_config/model_type", "\"qwen2_vl\""), ErrorCode::kUnsupportedModel, "vision_config.model_type"},
      {with(good, "/vision_config/num_heads", "3"), ErrorCode::kDamagedFile, "vision_config.num_heads"},
      {with(good, "/vision_config/patch_size", "65"), ErrorCode::kLimitExceeded, "vision_config.patch_size"},
      {with(good, "/vision_config/intermediate_size", "0"), ErrorCode::kDamagedFile, "vision_config.intermediate_size"},
      {with(good, "/vision_config/out_hidden_size", "32"), ErrorCode::kDamagedFile, "vision_config.out_hidden_size"},
      {with(good, "/vision_config/num_position_embeddings", "48"), ErrorCode::kDamagedFile, "vision_config.num_position_embeddings"},
      {with(good, "/vision_config/num_position_embeddings", "100000000"), ErrorCode::kLimitExceeded, "num_position_embeddings"},
      {with(good, "/vision_config/deepstack_visual_indexes", "[1, 1]"), ErrorCode::kDamagedFile, "deepstack_visual_indexes"},
      {with(good, "/vision_config/deepstack_visual_indexes", "[2, 1]"), ErrorCode::kDamagedFile, "deepstack_visual_indexes"},
      {with(good, "/vision_config/deepstack_visual_indexes", "[4]"), ErrorCode::kDamagedFile, "deepstack_visual_indexes"},
      {with(good, "/vision_config/deepstack_visual_indexes", "[-1]"), ErrorCode::kDamagedFile, "deepstack_visual_indexes"},
      {with(good, "/vision_config/deepstack_visual_indexes", "[0, 1, 2, 3]"), ErrorCode::kDamagedFile, "deepstack_visual_indexes"},
      {without(good, "vision_config", "deepstack_visual_indexes"), ErrorCode::kDamagedFile, "deepstack_visual_indexes"},
      {with(good, "/video_token_id", "290"), ErrorCode::kDamagedFile, "video_token_id"},
      {with(good, "/vision_start_token_id", "300"), ErrorCode::kDamagedFile, "vision_start_token_id"},
  };
  for (const Case& each : cases) expect_error(each.code, each.words, [&] { parse(each.document); });
}

TEST(Qwen3VlConfig, ImagesAndVideosHaveTheirOwnProcessors) {
  const test::ScratchFolder folder;
  folder.write("config.json", published().dump());
  folder.write("preprocessor_config.json", R"({"patch_size": 16, "size": {"shortest_edge": 65536, "longest_edge": 16777216}})");
  folder.write("video_preprocessor_config.json", "{}");
  const auto read = [&] { return read_qwen3_vl(HuggingFaceFolder(folder.path())).processors; };
  EXPECT_EQ(read().image.counted, CountedPixels::kOfPicture);
  EXPECT_EQ(read().image.max_pixels, 16'777'216);
  EXPECT_EQ(read().video.counted, CountedPixels::kOfVideo);
  EXPECT_EQ(read().video.max_pixels, 768 * 32 * 32);
  EXPECT_EQ(read().video.scaling.mean[0], 0.5);
  folder.write("video_preprocessor_config.json", R"({"video_processor_type": "Qwen2VLVideoProcessor"})");
  expect_error(ErrorCode::kUnsupportedModel, "video_processor_type", [&] { read(); });
  folder.write("video_preprocessor_config.json", R"({"patch_size": 14})");
  expect_error(ErrorCode::kDamagedFile, "video_preprocessor_config.json: patch_size", [&] { read(); });
}

}  // namespace
}  // namespace winnow::qwen3_vl_test
