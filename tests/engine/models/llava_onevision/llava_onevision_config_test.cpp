#include "engine/models/llava_onevision/llava_onevision_config.h"

#include <gtest/gtest.h>

#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/generation_defaults.h"
#include "engine/models/winnow_sidecar.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::llava_onevision_test {
namespace {

using test::expect_error;

// As transformers 5 saves it.
Json good_config() {
  return Json::parse(R"({
    "model_type": "llava_onevision", "image_token_index": 290, "video_token_index": 291, "image_grid_pinpoints": [[28, 28], [56, 28]],
    "multimodal_projector_bias": true, "projector_hidden_act": "gelu", "tie_word_embeddings": false,
    "vision_aspect_ratio": "anyres_max_9", "vision_feature_layer": -1, "vision_feature_select_strategy": "full",
    "text_config": {"model_type": "qwen2", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
      "num_key_value_heads": 2, "vocab_size": 300, "rms_norm_eps": 1e-06, "hidden_act": "silu", "max_position_embeddings": 512,
      "layer_types": ["full_attention", "full_attention"], "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"},
      "use_sliding_window": false, "sliding_window": null, "tie_word_embeddings": true, "eos_token_id": 7},
    "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3,
      "num_attention_heads": 2, "image_size": 28, "patch_size": 14, "num_channels": 3, "layer_norm_eps": 1e-06,
      "hidden_act": "gelu_pytorch_tanh", "vision_use_head": false}})");
}

LlavaOnevisionConfig parse(const Json& document) { return parse_llava_onevision_config(document, "config.json"); }

// good_config() with the member at a JSON pointer replaced.
Json with(const char* pointer, const char* value) {
  Json document = good_config();
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

Json without(const char* parent, const char* key) {
  Json document = good_config();
  document[Json::json_pointer(parent)].erase(key);
  return document;
}

TEST(LlavaOnevisionConfig, ReadsEveryField) {
  const LlavaOnevisionConfig config = parse(good_config());
  EXPECT_EQ(config.text.layers, 2);
  EXPECT_EQ(config.text.heads, 4);
  EXPECT_EQ(config.text.kv_heads, 2);
  EXPECT_EQ(config.text.head_dim, 8);
  EXPECT_EQ(config.text.rotary.theta, 1e6);
  EXPECT_EQ(config.text.max_positions, 512);
  EXPECT_TRUE(config.text.tie_word_embeddings);
  EXPECT_EQ(config.text.activation, Activation::kSilu);
  EXPECT_EQ(config.vision.head_dim, 16);
  EXPECT_EQ(config.vision.patches_per_side, 2);
  EXPECT_EQ(config.vision.activation, Activation::kGeluTanh);
  EXPECT_FALSE(config.vision.use_head);
  EXPECT_EQ(config.feature_states, std::vector<std::int64_t>{3});
  EXPECT_EQ(config.grid.max_tiles, 9);
  EXPECT_EQ(config.grid.side_px, 28);
  EXPECT_EQ(config.grid.pinpoints.size(), 2U);
  EXPECT_EQ(config.image_token_id, 290);
  EXPECT_EQ(config.video_token_id, 291);
}

TEST(LlavaOnevisionConfig, ReadsTheKeysOfBothTransformersVersions) {
  Json document = good_config();
  document["text_config"].erase("rope_parameters");
  document["text_config"].erase("layer_types");
  document["text_config"]["rope_theta"] = 5000.0;
  document["text_config"]["rope_scaling"] = nullptr;
  document.erase("image_token_index");
  document["image_token_id"] = 9;
  const LlavaOnevisionConfig config = parse(document);
  EXPECT_EQ(config.text.rotary.theta, 5000.0);
  EXPECT_EQ(config.image_token_id, 9);
}

TEST(LlavaOnevisionConfig, FramesAreTransformersUnlessALlavaVideoSaysMore) {
  const VideoRules plain = parse(good_config()).video;
  EXPECT_EQ(plain.pooling.mode, FramePooling::kBilinear);
  EXPECT_EQ(plain.pooling.stride, 2);
  EXPECT_EQ(plain.newline, NewlinePlace::kVideo);
  EXPECT_FALSE(plain.tells_times);
  Json document = good_config();
  document["mm_spatial_pool_mode"] = "average";
  document["mm_spatial_pool_stride"] = 1;
  document["mm_newline_position"] = "grid";
  document["mm_patch_merge_type"] = "spatial_unpad";
  document["add_time_instruction"] = true;
  document["add_faster_video"] = false;
  const VideoRules rules = parse(document).video;
  EXPECT_EQ(rules.pooling.mode, FramePooling::kAverage);
  EXPECT_EQ(rules.pooling.stride, 1);
  EXPECT_EQ(rules.newline, NewlinePlace::kRow);
  EXPECT_TRUE(rules.tells_times);
  const std::pair<const char*, NewlinePlace> places[] = {
      {"\"frame\"", NewlinePlace::kFrame}, {"\"one_token\"", NewlinePlace::kVideo}, {"\"no_token\"", NewlinePlace::kNowhere}};
  for (const auto& [name, place] : places) EXPECT_EQ(parse(with("/mm_newline_position", name)).video.newline, place);
  EXPECT_EQ(parse(with("/mm_spatial_pool_mode", "\"max\"")).video.pooling.mode, FramePooling::kMaximum);
  // Two patches a side: a bilinear map is never empty, squares of three patches are.
  EXPECT_EQ(parse(with("/mm_spatial_pool_stride", "3")).video.pooling.side(2), 1);
  document["mm_spatial_pool_stride"] = 3;
  expect_error(ErrorCode::kDamagedFile, "mm_spatial_pool_stride: it goes beyond", [&] { parse(document); });
}

TEST(LlavaOnevisionConfig, CountsFeatureLayersFromTheEmbeddings) {
  EXPECT_EQ(parse(with("/vision_feature_layer", "-2")).feature_states, std::vector<std::int64_t>{2});
  EXPECT_EQ(parse(with("/vision_feature_layer", "0")).feature_states, std::vector<std::int64_t>{0});
  EXPECT_EQ(parse(with("/vision_feature_layer", "[-4, 1, -1]")).feature_states, (std::vector<std::int64_t>{0, 1, 3}));
}

TEST(LlavaOnevisionConfig, ReadsTheWindowOfEveryLayer) {
  Json document = without("/text_config", "layer_types");
  document["text_config"]["use_sliding_window"] = true;
  document["text_config"]["sliding_window"] = 4096;
  document["text_config"]["max_window_layers"] = 2;
  EXPECT_TRUE(parse(document).text.windows.empty()) << "no layer uses it";
  document["text_config"]["max_window_layers"] = 1;
  document["text_config"]["sliding_window"] = 100;
  const std::vector<std::int64_t> one = {0, 100};
  EXPECT_EQ(parse(document).text.windows, one);
  document["text_config"]["layer_types"] = {"sliding_attention", "full_attention"};
  const std::vector<std::int64_t> other = {100, 0};
  EXPECT_EQ(parse(document).text.windows, other) << "what is said layer by layer goes first";
  document["text_config"]["use_sliding_window"] = false;
  EXPECT_TRUE(parse(document).text.windows.empty()) << "switched off";
  document["text_config"]["use_sliding_window"] = true;
  document["text_config"]["sliding_window"] = parse(document).text.max_positions;
  EXPECT_TRUE(parse(document).text.windows.empty()) << "within its positions it hides nothing";
  document["text_config"]["sliding_window"] = 1;
  EXPECT_THROW(parse(document), Exception);
}

TEST(LlavaOnevisionConfig, TakesAnExplicitHeadSize) {
  EXPECT_EQ(parse(with("/text_config/head_dim", "16")).text.head_dim, 16);
  EXPECT_EQ(parse(without("/text_config", "num_key_value_heads")).text.kv_heads, 4);
}

// Every integer that sizes something: 0, -1, 10^9, "28", 28.5 and missing are refused with the key's name.
TEST(LlavaOnevisionConfig, RefusesEveryBadSizeByName) {
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"text_config", "hidden_size"},         {"text_config", "intermediate_size"},    {"text_config", "num_hidden_layers"},
      {"text_config", "num_attention_heads"}, {"text_config", "vocab_size"},           {"vision_config", "hidden_size"},
      {"vision_config", "intermediate_size"}, {"vision_config", "image_size"},         {"vision_config", "num_hidden_layers"},
      {"vision_config", "patch_size"},        {"vision_config", "num_attention_heads"}};
  for (const auto& [part, key] : keys) {
    const std::string pointer = "/" + part + "/" + key;
    const std::string subject = "config.json: " + part + "." + key;
    SCOPED_TRACE(subject);
    for (const char* value : {"0", "-1", "\"28\"", "28.5", "null", "[28]", "true"}) {
      expect_error(ErrorCode::kDamagedFile, subject, [&] { parse(with(pointer.c_str(), value)); });
    }
    for (const char* value : {"1000000000", "18446744073709551615"}) {
      expect_error(ErrorCode::kLimitExceeded, subject, [&] { parse(with(pointer.c_str(), value)); });
    }
    expect_error(ErrorCode::kDamagedFile, subject, [&] { parse(without(("/" + part).c_str(), key.c_str())); });
  }
}

TEST(LlavaOnevisionConfig, NamesTheKeyOfEveryBadValue) {
  struct Case {
    const char* pointer;
    const char* value;
    ErrorCode code;
    const char* subject;
  };
  const std::vector<Case> cases = {
      {"/model_type", "\"llava\"", ErrorCode::kUnsupportedModel, "model_type"},
      {"/model_type", "null", ErrorCode::kDamagedFile, "model_type"},
      {"/text_config", "null", ErrorCode::kDamagedFile, "text_config"},
      {"/text_config", "[]", ErrorCode::kDamagedFile, "text_config"},
      {"/text_config/model_type", "\"gpt2\"", ErrorCode::kUnsupportedModel, "text_config.model_type"},
      {"/vision_config/model_type", "\"clip_vision_model\"", ErrorCode::kUnsupportedModel, "vision_config.model_type"},
      {"/text_config/num_key_value_heads", "3", ErrorCode::kDamagedFile, "text_config.num_key_value_heads"},
      {"/text_config/num_key_value_heads", "0", ErrorCode::kDamagedFile, "text_config.num_key_value_heads"},
      {"/text_config/num_attention_heads", "6", ErrorCode::kDamagedFile, "text_config.num_attention_heads"},
      {"/text_config/head_dim", "7", ErrorCode::kDamagedFile, "text_config.head_dim"},
      {"/text_config/head_dim", "513", ErrorCode::kLimitExceeded, "text_config.head_dim"},
      {"/text_config/num_hidden_layers", "257", ErrorCode::kLimitExceeded, "text_config.num_hidden_layers"},
      {"/text_config/rms_norm_eps", "0", ErrorCode::kDamagedFile, "text_config.rms_norm_eps"},
      {"/text_config/max_position_embeddings", "0", ErrorCode::kDamagedFile, "text_config.max_position_embeddings"},
      {"/text_config/hidden_act", "\"mish\"", ErrorCode::kUnsupportedModel, "text_config.hidden_act"},
      {"/text_config/rope_parameters/rope_theta", "0", ErrorCode::kDamagedFile, "text_config.rope_parameters.rope_theta"},
      {"/text_config/rope_parameters/rope_type", "\"spiral\"", ErrorCode::kUnsupportedModel, "text_config.rope_parameters.rope_type"},
      {"/text_config/layer_types", R"(["full_attention", "chunked_attention"])", ErrorCode::kUnsupportedModel, "text_config.layer_types"},
      {"/text_config/layer_types", R"(["full_attention"])", ErrorCode::kDamagedFile, "text_config.layer_types"},
      {"/vision_config/patch_size", "29", ErrorCode::kDamagedFile, "vision_config.patch_size"},
      {"/vision_config/patch_size", "65", ErrorCode::kLimitExceeded, "vision_config.patch_size"},
      {"/vision_config/num_channels", "1", ErrorCode::kUnsupportedModel, "vision_config.num_channels"},
      {"/vision_config/layer_norm_eps", "-1e-6", ErrorCode::kDamagedFile, "vision_config.layer_norm_eps"},
      {"/vision_feature_layer", "4", ErrorCode::kLimitExceeded, "vision_feature_layer"},
      {"/vision_feature_layer", "-5", ErrorCode::kDamagedFile, "vision_feature_layer"},
      {"/vision_feature_layer", "[]", ErrorCode::kDamagedFile, "vision_feature_layer"},
      {"/vision_feature_layer", "[0.5]", ErrorCode::kDamagedFile, "vision_feature_layer"},
      {"/vision_feature_select_strategy", "\"cls\"", ErrorCode::kUnsupportedModel, "vision_feature_select_strategy"},
      {"/vision_aspect_ratio", "\"pad\"", ErrorCode::kUnsupportedModel, "vision_aspect_ratio"},
      {"/vision_aspect_ratio", "\"anyres_max_0\"", ErrorCode::kUnsupportedModel, "vision_aspect_ratio"},
      {"/vision_aspect_ratio", "\"anyres_max_9x\"", ErrorCode::kUnsupportedModel, "vision_aspect_ratio"},
      {"/vision_aspect_ratio", "\"anyres_max_99999999999999999999\"", ErrorCode::kUnsupportedModel, "vision_aspect_ratio"},
      {"/projector_hidden_act", "\"tanh\"", ErrorCode::kUnsupportedModel, "projector_hidden_act"},
      {"/multimodal_projector_bias", "1", ErrorCode::kDamagedFile, "multimodal_projector_bias"},
      {"/mm_spatial_pool_mode", "\"conv\"", ErrorCode::kUnsupportedModel, "mm_spatial_pool_mode"},
      {"/mm_spatial_pool_mode", "2", ErrorCode::kDamagedFile, "mm_spatial_pool_mode"},
      {"/mm_spatial_pool_stride", "0", ErrorCode::kDamagedFile, "mm_spatial_pool_stride"},
      {"/mm_spatial_pool_stride", "65", ErrorCode::kLimitExceeded, "mm_spatial_pool_stride"},
      {"/mm_newline_position", "\"row\"", ErrorCode::kUnsupportedModel, "mm_newline_position"},
      {"/mm_patch_merge_type", "\"flat\"", ErrorCode::kUnsupportedModel, "mm_patch_merge_type"},
      {"/add_time_instruction", "1", ErrorCode::kDamagedFile, "add_time_instruction"},
      {"/add_faster_video", "true", ErrorCode::kUnsupportedModel, "add_faster_video"},
      {"/image_grid_pinpoints", "[28, 28]", ErrorCode::kDamagedFile, "image_grid_pinpoints"},
      {"/image_token_index", "300", ErrorCode::kDamagedFile, "image_token_index"},
      {"/image_token_index", "-1", ErrorCode::kDamagedFile, "image_token_index"},
      {"/video_token_index", "290", ErrorCode::kDamagedFile, "video_token_index"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.pointer) + " = " + c.value);
    expect_error(c.code, std::string("config.json: ") + c.subject + ":", [&] { parse(with(c.pointer, c.value)); });
  }
}

TEST(LlavaOnevisionConfig, AnyMemberOfAnyTypeIsReadOrRefused) {
  const std::vector<const char*> values = {"null", "true", "0", "-1", "1e300", "\"x\"", "[]", "{}", "[[]]", "18446744073709551615"};
  const Json flat = good_config().flatten();
  for (const auto& [pointer, ignored] : flat.items()) {
    for (const char* value : values) {
      try {
        parse(with(pointer.c_str(), value));
      } catch (const Exception& exception) {
        EXPECT_NE(exception.error().code, ErrorCode::kInternal) << pointer << " = " << value << ": " << exception.what();
      }
    }
  }
}

class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    write("config.json", good_config());
    write("preprocessor_config.json",
          Json::parse(R"({"size": {"height": 28, "width": 28}, "image_grid_pinpoints": [[28, 28], [56, 28]]})"));
  }
  void write(const char* name, const Json& document) { folder_.write(name, document.dump()); }
  // What a load reads beside the weights.
  struct Loaded : LlavaOnevisionFolder {
    GenerationDefaults generation;
    WinnowSidecar sidecar;
  };
  Loaded load() {
    const HuggingFaceFolder package(folder_.path());
    Loaded loaded{read_llava_onevision(package), {}, read_winnow_sidecar(package)};
    loaded.generation = read_generation_defaults(package, loaded.model.text.vocabulary);
    require_fit(loaded.sidecar, loaded.model.text.layers, loaded.model.text.kv_heads, package.subject(ModelPart::kWinnow));
    return loaded;
  }
  const test::ScratchFolder folder_;
};

TEST_F(FolderTest, LoadsAllFiles) {
  EXPECT_TRUE(load().generation.eos_token_ids.empty());
  write("generation_config.json", Json::parse(R"({"eos_token_id": [7, 8], "pad_token_id": 3, "temperature": 0.7})"));
  write("processor_config.json",
        Json::parse(R"({"num_image_tokens": 4, "vision_feature_select_strategy": "full", "vision_aspect_ratio": "anyres_max_9"})"));
  write("winnow.json",
        Json::parse(R"({"time_instruction": "{frames} frames over {duration_s} s, one every {interval_s} s.", "video_frames": 64})"));
  const Loaded loaded = load();
  EXPECT_EQ(loaded.generation.eos_token_ids, (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(loaded.generation.pad_token_id, 3);
  EXPECT_FALSE(loaded.generation.bos_token_id.has_value());
  EXPECT_EQ(loaded.sidecar.time_instruction.substr(0, 8), "{frames}");
  EXPECT_EQ(loaded.sidecar.video_frames, 64);
  EXPECT_EQ(loaded.processor.video.size.width_px, 28);
}

TEST_F(FolderTest, RefusesFilesThatContradictEachOther) {
  const auto refuse = [&](const char* name, const char* text, const char* subject) {
    write(name, Json::parse(text));
    expect_error(ErrorCode::kDamagedFile, subject, [&] { load(); });
  };
  refuse("preprocessor_config.json", R"({"size": 42, "image_grid_pinpoints": [[28, 28], [56, 28]]})", "size: it differs");
  refuse("preprocessor_config.json", R"({"size": {"height": 28, "width": 28}})", "image_grid_pinpoints: it differs");
  write("preprocessor_config.json", Json::parse(R"({"size": {"height": 28, "width": 28}, "image_grid_pinpoints": [[28, 28], [56, 28]]})"));
  refuse("processor_config.json", R"({"num_image_tokens": 9})", "num_image_tokens: it differs");
  refuse("processor_config.json", R"({"vision_feature_select_strategy": "default"})", "vision_feature_select_strategy: it differs");
  refuse("processor_config.json", R"({"vision_aspect_ratio": "anyres_max_4"})", "vision_aspect_ratio: it differs");
}

TEST_F(FolderTest, RefusesBadGenerationDefaults) {
  for (const char* value : {"-1", "\"7\"", "1.5", "[7, -1]", "[null]", "true"}) {
    write("generation_config.json", {{"eos_token_id", Json::parse(value)}});
    expect_error(ErrorCode::kDamagedFile, "eos_token_id", [&] { load(); });
  }
  write("generation_config.json", {{"pad_token_id", 300}});
  expect_error(ErrorCode::kLimitExceeded, "pad_token_id", [&] { load(); });
}

TEST_F(FolderTest, RefusesBadSidecars) {
  for (const char* text : {"{duration}", "{", "}", "{{frames}}", "{frames", "{__class__}"}) {
    write("winnow.json", {{"time_instruction", text}});
    expect_error(ErrorCode::kDamagedFile, "time_instruction", [&] { load(); });
  }
  write("winnow.json", {{"time_instruction", std::string(4097, 'x')}});
  expect_error(ErrorCode::kLimitExceeded, "time_instruction", [&] { load(); });
  for (const char* frames : {"0", "-1", "1.5", "1e9", "\"64\""}) {
    folder_.write("winnow.json", std::string("{\"video_frames\": ") + frames + "}");
    expect_error(ErrorCode::kDamagedFile, "video_frames", [&] { load(); });
  }
  folder_.write("winnow.json", "{\"time_instruction\": 7}");
  expect_error(ErrorCode::kDamagedFile, "must be a string", [&] { load(); });
}

TEST_F(FolderTest, ReadsTheProfileOfLayersAtSeveralRetentions) {
  const auto layers = static_cast<std::size_t>(load().model.text.layers);
  const auto row = [](double retention, std::vector<double> shares) {
    return Json{{"retention", retention}, {"shares", std::move(shares)}};
  };
  const auto with = [&](const Json& rows) { write("winnow.json", {{"prefixkv_profile", rows}}); };
  with(Json::array({row(0.1, std::vector<double>(layers, 0.1)), row(0.5, std::vector<double>(layers, 0.6))}));
  EXPECT_EQ(load().sidecar.prefixkv_profile,
            (ShareProfile{{0.1, std::vector<double>(layers, 0.1)}, {0.5, std::vector<double>(layers, 0.6)}}));
  const std::vector<double> some(layers, 0.5);
  const auto refuse = [&](const Json& rows, const char* reason, ErrorCode code = ErrorCode::kDamagedFile) {
    with(rows);
    expect_error(code, reason, [&] { load(); });
  };
  refuse(Json::array({row(0.5, some), row(0.1, some)}), "ascending retentions");
  refuse(Json::array({row(0.5, some), row(0.5, some)}), "ascending retentions");
  refuse(Json::array({row(0.0, some)}), "ascending retentions");
  refuse(Json::array({row(1.0, some)}), "ascending retentions");
  refuse(Json::array({row(0.1, std::vector<double>(layers, 0.0))}), "shares over 0");
  refuse(Json::array({row(0.1, std::vector<double>(layers, 1.5))}), "prefixkv_profile[0].shares", ErrorCode::kLimitExceeded);
  refuse(Json::array({row(0.1, some), row(0.2, std::vector<double>(layers + 1, 0.5))}), "one share per layer in every row");
  refuse(Json::array({row(0.1, std::vector<double>(layers + 1, 0.5))}), "another number of layers than the model");
  refuse(Json::array({Json{{"retention", 0.1}}}), "prefixkv_profile[0].shares");
  refuse(Json::array({0.1, 0.2}), "prefixkv_profile[0]");
  refuse(Json::array(), "it must be a list of rows");
  refuse("0.1", "it must be a list of rows");
  refuse(Json(std::vector<Json>(257, row(0.5, some))), "more than 256 rows", ErrorCode::kLimitExceeded);
}

TEST_F(FolderTest, ReadsHowMuchHeadsLookAtVideos) {
  const LlavaOnevisionFolder plain = load();
  const auto layers = static_cast<std::size_t>(plain.model.text.layers);
  const auto heads = static_cast<std::size_t>(plain.model.text.kv_heads);
  const auto rows = [](std::size_t count, const std::vector<double>& scores) {
    return Json(std::vector<Json>(count, {{"heads", scores}}));
  };
  const auto with = [&](const Json& table) { write("winnow.json", {{"kvzip_head_scores", table}}); };
  with(rows(layers, std::vector<double>(heads, 0.25)));
  EXPECT_EQ(load().sidecar.kvzip_head_scores, HeadTable(layers, std::vector<double>(heads, 0.25)));
  EXPECT_EQ(load().sidecar.measured_options().at("head_scores"), head_table_text(HeadTable(layers, std::vector<double>(heads, 0.25))));
  const auto refuse = [&](const Json& table, const char* reason) {
    with(table);
    expect_error(ErrorCode::kDamagedFile, reason, [&] { load(); });
  };
  refuse(rows(layers + 1, std::vector<double>(heads, 0.25)), "other layers or heads than the model");
  refuse(rows(layers, std::vector<double>(heads + 1, 0.25)), "other layers or heads than the model");
  refuse(rows(layers, std::vector<double>(heads, -0.25)), "kvzip_head_scores[0].heads");
  refuse(Json::array({0.1, 0.2}), "kvzip_head_scores[0]");
  refuse(Json::array(), "it must be a list of layers");
}

// One row without its retention: the model is as usable as ever, only the method that would scale it is not.
TEST_F(FolderTest, PassesOverTheOneRowOfOlderFiles) {
  write("winnow.json", {{"time_instruction", "{frames} frames"}, {"prefixkv_shares", {0.13, 0.04}}});
  EXPECT_TRUE(load().sidecar.prefixkv_profile.empty());
  EXPECT_EQ(load().sidecar.time_instruction, "{frames} frames");
}

TEST_F(FolderTest, NamesMissingAndBrokenFiles) {
  folder_.write("config.json", "{\"model_type\": \"llava_onevision\",");
  expect_error(ErrorCode::kDamagedFile, "config.json: not valid JSON", [&] { load(); });
  const test::ScratchFolder empty;
  expect_error(ErrorCode::kFileNotFound, "config.json", [&] { read_llava_onevision(HuggingFaceFolder(empty.path())); });
}

}  // namespace
}  // namespace winnow::llava_onevision_test
