#include "engine/models/smolvlm/smolvlm_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::smolvlm_test {
namespace {

using test::expect_error;

// As SmolVLM-256M's config.json has it: what is LlamaConfig's or the tower class's is left out.
Json published_config() {
  return Json::parse(R"({
    "architectures": ["Idefics3ForConditionalGeneration"], "image_token_id": 49190, "model_type": "idefics3", "scale_factor": 4,
    "text_config": {"architectures": ["VLlama3ForCausalLM"], "head_dim": 64, "hidden_size": 576, "intermediate_size": 1536,
      "is_llama_config": true, "max_position_embeddings": 8192, "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
      "num_key_value_heads": 3, "pad_token_id": 2, "qk_layer_norms": false, "rms_norm_eps": 1e-05, "rope_interleaved": false,
      "rope_theta": 100000, "vocab_size": 49280},
    "tie_word_embeddings": false,
    "vision_config": {"hidden_size": 768, "image_size": 512, "max_image_size": {"longest_edge": 512}, "model_type": "idefics3",
      "num_attention_heads": 12, "patch_size": 16, "size": {"longest_edge": 2048}, "use_base_siglip": true}})");
}

Json published_pixels() {
  return Json::parse(R"({
    "do_convert_rgb": true, "do_image_splitting": true, "do_normalize": true, "do_pad": true, "do_rescale": true, "do_resize": true,
    "image_mean": [0.5, 0.5, 0.5], "image_processor_type": "SmolVLMImageProcessor", "image_std": [0.5, 0.5, 0.5],
    "max_image_size": {"longest_edge": 512}, "processor_class": "SmolVLMProcessor", "resample": 1, "rescale_factor": 0.00392156862745098,
    "size": {"longest_edge": 2048}, "video_sampling": {"fps": 1, "max_frames": 64, "video_size": {"longest_edge": 512}}})");
}

SmolVlmConfig parse(const Json& document) { return parse_smolvlm_config(document, "config.json"); }

Json with(Json document, const char* pointer, const char* value) {
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

TEST(SmolVlmConfig, ReadsThePublishedFile) {
  const SmolVlmConfig config = parse(published_config());
  EXPECT_EQ(config.text.heads, 9);
  EXPECT_EQ(config.text.kv_heads, 3);
  EXPECT_EQ(config.text.head_dim, 64);
  EXPECT_EQ(config.text.rotary.theta, 1e5);
  EXPECT_EQ(config.text.max_positions, 8192);
  EXPECT_FALSE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.vision.layers, 12) << "the class's";
  EXPECT_EQ(config.vision.intermediate_size, 3072) << "the class's";
  EXPECT_EQ(config.vision.patches_per_side, 32);
  EXPECT_EQ(config.vision.activation, Activation::kGeluTanh);
  EXPECT_EQ(config.scale_factor, 4);
  EXPECT_EQ(config.image_token_id, 49190);
}

TEST(SmolVlmConfig, WhatIsLeftOutIsTheClasses) {
  const SmolVlmConfig config =
      parse(Json::parse(R"({"model_type": "smolvlm", "image_token_id": 7, "text_config": {"rms_norm_eps": null}, "vision_config": null})"));
  EXPECT_EQ(config.text.hidden_size, 4096);
  EXPECT_EQ(config.text.intermediate_size, 11008);
  EXPECT_EQ(config.text.layers, 32);
  EXPECT_EQ(config.text.kv_heads, 32);
  EXPECT_EQ(config.text.vocabulary, 32000);
  EXPECT_EQ(config.text.max_positions, 2048);
  EXPECT_EQ(config.text.norm_eps, 1e-6);
  EXPECT_EQ(config.vision.hidden_size, 1152);
  EXPECT_EQ(config.vision.heads, 16);
  EXPECT_EQ(config.vision.patches_per_side, 7);
  EXPECT_EQ(config.scale_factor, 2);
  EXPECT_EQ(parse(Json::parse(R"({"model_type": "idefics3", "image_token_id": 7})")).text.norm_eps, 1e-5) << "of no text_config at all";
}

TEST(SmolVlmConfig, HostileFieldsAreRefusedByName) {
  const Json good = published_config();
  const auto refuses = [&](const char* pointer, const char* value, ErrorCode code, const char* words) {
    SCOPED_TRACE(std::string(pointer) + " = " + value);
    expect_error(code, words, [&] { parse(with(good, pointer, value)); });
  };
  refuses("/model_type", R"("idefics2")", ErrorCode::kUnsupportedModel, "model_type");
  refuses("/text_config", "[]", ErrorCode::kDamagedFile, "text_config");
  refuses("/vision_config", "3", ErrorCode::kDamagedFile, "vision_config");
  refuses("/scale_factor", "0", ErrorCode::kDamagedFile, "scale_factor");
  refuses("/scale_factor", "99", ErrorCode::kLimitExceeded, "scale_factor");
  refuses("/scale_factor", "2.5", ErrorCode::kDamagedFile, "scale_factor");
  refuses("/image_token_id", "49280", ErrorCode::kDamagedFile, "image_token_id");
  refuses("/image_token_id", "-1", ErrorCode::kDamagedFile, "image_token_id");
  refuses("/text_config/model_type", R"("mamba")", ErrorCode::kUnsupportedModel, "text_config.model_type");
  refuses("/text_config/hidden_size", "1000000000", ErrorCode::kLimitExceeded, "text_config.hidden_size");
  refuses("/text_config/num_key_value_heads", "4", ErrorCode::kDamagedFile, "num_key_value_heads");
  refuses("/vision_config/num_attention_heads", "7", ErrorCode::kDamagedFile, "vision_config.num_attention_heads");
  refuses("/vision_config/patch_size", "0", ErrorCode::kDamagedFile, "vision_config.patch_size");
  refuses("/vision_config/num_channels", "4", ErrorCode::kUnsupportedModel, "num_channels");
  refuses("/vision_config/hidden_act", R"("mish")", ErrorCode::kUnsupportedModel, "hidden_act");
}

TEST(SmolVlmProcessor, ImagesGoThroughPillowUnlessTheFileNamesTheFastClass) {
  const Json published = published_pixels();
  const SmolVlmPixels slow = parse_smolvlm_image_processor(JsonObject(published, "p"));
  EXPECT_EQ(slow.library, PixelLibrary::kPillow);
  EXPECT_EQ(slow.filter, ResampleFilter::kLanczos);
  EXPECT_EQ(slow.tiles.longest_edge_px, 2048);
  EXPECT_EQ(slow.tiles.side_px, 512);
  EXPECT_TRUE(slow.tiles.split);
  const Json named = with(published, "/image_processor_type", R"("Idefics3ImageProcessorFast")");
  const SmolVlmPixels fast = parse_smolvlm_image_processor(JsonObject(named, "p"));
  EXPECT_EQ(fast.library, PixelLibrary::kTorchvision);
  EXPECT_EQ(fast.filter, ResampleFilter::kBicubic) << "torchvision has no Lanczos filter for tensors";
}

TEST(SmolVlmProcessor, AVideoHasItsOwnSizeOnlyWhereTheFileHasNone) {
  Json document = published_pixels();
  EXPECT_EQ(parse_smolvlm_video_processor(JsonObject(document, "p")).tiles.longest_edge_px, 2048) << "as SmolVLMVideoProcessor takes them";
  document.erase("size");
  EXPECT_EQ(parse_smolvlm_video_processor(JsonObject(document, "p")).tiles.longest_edge_px, 512);
  document.erase("video_sampling");
  EXPECT_EQ(parse_smolvlm_video_processor(JsonObject(document, "p")).tiles.longest_edge_px, 4 * 364);
  EXPECT_FALSE(parse_smolvlm_video_processor(JsonObject(document, "p")).tiles.split);
}

TEST(SmolVlmProcessor, EmptyObjectsAreTheClasses) {
  const Json empty = Json::object();
  const SmolVlmPixels image = parse_smolvlm_image_processor(JsonObject(empty, "p"));
  EXPECT_EQ(image.tiles.longest_edge_px, 1456);
  EXPECT_EQ(image.tiles.side_px, 364);
  EXPECT_TRUE(image.tiles.split);
  EXPECT_EQ(image.scaling.mean, (std::array<double, 3>{0.5, 0.5, 0.5}));
}

TEST(SmolVlmProcessor, WhatIsNotImplementedIsRefusedByName) {
  const auto refuses = [](const char* pointer, const char* value, ErrorCode code, const char* words) {
    SCOPED_TRACE(std::string(pointer) + " = " + value);
    const Json document = with(published_pixels(), pointer, value);
    expect_error(code, words, [&] { parse_smolvlm_image_processor(JsonObject(document, "preprocessor_config.json")); });
  };
  refuses("/do_resize", "false", ErrorCode::kUnsupportedModel, "do_resize");
  refuses("/resample", "4", ErrorCode::kUnsupportedModel, "resample");
  refuses("/size", R"({"height": 4, "width": 4})", ErrorCode::kUnsupportedModel, "size");
  refuses("/size/longest_edge", "100000", ErrorCode::kLimitExceeded, "size.longest_edge");
  refuses("/max_image_size/longest_edge", "0", ErrorCode::kDamagedFile, "max_image_size.longest_edge");
  refuses("/image_processor_type", R"("CLIPImageProcessor")", ErrorCode::kUnsupportedModel, "image_processor_type");
  refuses("/image_mean", "[1]", ErrorCode::kDamagedFile, "image_mean");
}

class Folder {
 public:
  Folder() {
    write("config.json", published_config());
    write("preprocessor_config.json", published_pixels());
    write("processor_config.json", {{"image_seq_len", 64}});
  }
  void write(const std::string& file, const Json& content) const { scratch_.write(file, content.dump()); }
  SmolVlmFolder read() const { return read_smolvlm(HuggingFaceFolder(scratch_.path())); }

 private:
  test::ScratchFolder scratch_;
};

TEST(SmolVlmFolder, FilesAgreeOrTheFolderIsRefused) {
  const Folder folder;
  const SmolVlmFolder read = folder.read();
  EXPECT_EQ(read.side(), 8);
  EXPECT_EQ(read.model.vision.position_rows, 32 * 32);
  EXPECT_EQ(read.processor.video.tiles.side_px, 512);
  folder.write("processor_config.json", Json::object());
  expect_error(ErrorCode::kDamagedFile, "image_seq_len: 169 is not the number of a picture's tokens, 64", [&] { folder.read(); });
  folder.write("processor_config.json", {{"image_seq_len", 64}});
  folder.write("video_preprocessor_config.json", {{"max_image_size", {{"longest_edge", 384}}}});
  expect_error(ErrorCode::kDamagedFile, "max_image_size: it differs from the images'", [&] { folder.read(); });
}

TEST(SmolVlmFolder, NestedProcessorsGoFirst) {
  const Folder folder;
  Json nested = published_pixels();
  nested["max_image_size"]["longest_edge"] = 256;
  folder.write("processor_config.json", {{"image_seq_len", 16}, {"image_processor", nested}, {"video_processor", nested}});
  const SmolVlmFolder read = folder.read();
  EXPECT_EQ(read.side(), 4);
  EXPECT_EQ(read.model.vision.image_size_px, 256);
  EXPECT_EQ(read.model.vision.position_rows, 32 * 32) << "of the tower's own image size";
}

TEST(SmolVlmFolder, PatchesThatTheScaleDoesNotDivideAreRefused) {
  const Folder folder;
  Json config = published_config();
  config["scale_factor"] = 5;
  folder.write("config.json", config);
  expect_error(ErrorCode::kDamagedFile, "scale_factor 5", [&] { folder.read(); });
}

}  // namespace
}  // namespace winnow::smolvlm_test
