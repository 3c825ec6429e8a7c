#include "engine/models/families/glm4v_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr std::string_view kGlm41 = "glm4v";
constexpr std::string_view kGlm46 = "glm46v";
constexpr std::string_view kGlmMoe = "glm4v_moe";
constexpr std::int64_t kMaxTableSide = 1024;  // of the position table

// The processors of both releases, which differ in what they write behind a set of frames.
struct GlmProcessorClass {
  std::string_view name;
  FrameTimes times;
};
constexpr std::array<GlmProcessorClass, 2> kGlmProcessors = {
    {{"Glm4vProcessor", FrameTimes::kBehindInSeconds}, {"Glm46VProcessor", FrameTimes::kBehind}}};

// transformers' default is the whole head, which no sections of published files fit.
void require_share(const JsonObject& text) {
  const char* const key = "partial_rotary_factor";
  bool says = text.has(key);
  for (const char* rope : {"rope_parameters", "rope_scaling"}) {
    const std::optional<JsonObject> object = text.optional_object(rope);
    says = says || (object && object->has(key));
  }
  if (!says) text.refuse(ErrorCode::kDamagedFile, key, "it is missing");
}

DecoderConfig parse_glm_text(const JsonObject& root, const std::string& type) {
  const JsonObject text = root.object("text_config");
  const char* const text_type = type == kGlmMoe ? "glm4v_moe_text" : "glm4v_text";
  require_model_type(text, text_type, true);
  DecoderConfig config = parse_glm4_text_config(text, text_type);
  require_share(text);
  if (!config.experts && config.head_dim * config.heads != config.hidden_size)
    text.refuse(ErrorCode::kDamagedFile, "head_dim", "this model's heads together are as wide as its hidden states");
  config.rotary.frequency_axis = read_rotary_sections(text, rotated_elements(config.rotary, config.head_dim));
  // transformers asks the text part of the newer dense class for nothing.
  config.tie_word_embeddings = (type != kGlm46 && config.tie_word_embeddings) || root.boolean("tie_word_embeddings", false);
  return config;
}

// The base of the tower's rotary positions, which go by row and column.
double read_axial_theta(const JsonObject& vision) {
  constexpr double kMostTheta = 1e12;
  constexpr double kUsualTheta = 10'000.0;
  const std::optional<JsonObject> rope = vision.optional_object("rope_parameters");
  if (!rope) return vision.real("rope_theta", 1.0, kMostTheta, kUsualTheta);
  const std::string type = rope->string("rope_type", kMaxNameBytes, "axial");
  if (type != "axial" && type != "default") unsupported(*rope, "rope_type", quoted_name(type) + " is not how this tower rotates");
  return rope->real("rope_theta", 1.0, kMostTheta, kUsualTheta);
}

QwenVisionConfig read_glm_vision(const JsonObject& vision, std::string_view type, std::int64_t decoder_hidden_size) {
  require_vision_type(vision, type == kGlmMoe ? "glm4v_moe" : "glm4v");
  QwenVisionConfig config = read_qwen_vision(vision, {"hidden_size", "out_hidden_size", "silu"});
  if (config.out_size != decoder_hidden_size)
    vision.refuse(ErrorCode::kDamagedFile, "out_hidden_size", "the decoder's hidden size is " + std::to_string(decoder_hidden_size));
  if (config.patches.joined_frames != 2)  // transformers takes the time of every second frame
    unsupported(vision, "temporal_patch_size", "this model's frames are joined in pairs");
  config.intermediate_size = config.out_size;  // intermediate_size is the merger's
  config.norm_eps = vision.real("rms_norm_eps", kMinEpsilon, 1.0, 1e-5);
  config.theta = read_axial_theta(vision);
  DownsampleConfig downsample;
  const std::int64_t side_px = vision.integer("image_size", 1, kMaxTableSide * kMaxPatchPx, 336);
  downsample.table_side = side_px / config.patches.patch_px;
  if (downsample.table_side < 1 || downsample.table_side > kMaxTableSide)
    vision.refuse(downsample.table_side < 1 ? ErrorCode::kDamagedFile : ErrorCode::kLimitExceeded, "image_size",
                  "the position table would be " + std::to_string(downsample.table_side) + " patches wide");
  downsample.merger_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
  downsample.qkv_bias = vision.boolean("attention_bias", false);
  config.downsample = downsample;
  return config;
}

Qwen3VlTokens read_glm_tokens(const JsonObject& root, std::string_view type, std::int64_t vocabulary) {
  const std::int64_t image = read_media_token(root, {"image_token_id"}, type == kGlmMoe ? 151'363 : 151'343, vocabulary);
  const Qwen3VlTokens tokens{image, image, read_media_token(root, {"image_start_token_id"}, 151'339, vocabulary),
                             read_media_token(root, {"image_end_token_id"}, 151'340, vocabulary)};
  if (std::set<std::int64_t>{tokens.image, tokens.vision_start, tokens.vision_end}.size() != 3)
    root.refuse(ErrorCode::kDamagedFile, "image_token_id", "the tokens around and in pictures must be three");
  return tokens;
}

// processor_class of the first document that names one; config.json does last, as in transformers.
FrameTimes read_frame_times(const ModelPackage& package, const ProcessorDocuments& documents, FrameTimes of_model) {
  constexpr const char* kKey = "processor_class";
  std::optional<JsonObject> processor;
  if (const ModelDocument* document = package.document(ModelPart::kProcessor)) processor = document->root();
  const std::optional<JsonObject> config = package.required(ModelPart::kConfig).root();
  for (const std::optional<JsonObject>& document : {processor, documents.image, documents.video, config}) {
    if (!document || !document->has(kKey)) continue;
    const std::string name = document->string(kKey, kMaxNameBytes);
    const auto* found = std::ranges::find(kGlmProcessors, name, &GlmProcessorClass::name);
    if (found == kGlmProcessors.end()) unsupported(*document, kKey, quoted_name(name) + " is not how this model's media are prepared");
    return found->times;
  }
  return of_model;
}

QwenVlProcessors read_glm_processors(const ModelPackage& package, const ProcessorDocuments& documents, const PatchGeometry& tower) {
  constexpr const char* kKey = "video_processor_type";
  if (documents.video && documents.video->has(kKey)) {
    const std::string type = documents.video->string(kKey, kMaxNameBytes);
    if (type != "Glm4vVideoProcessor" && type != "Glm46VVideoProcessor")
      unsupported(*documents.video, kKey, quoted_name(type) + " is not how this model's videos are prepared");
  }
  QwenVlProcessors defaults;
  defaults.image.counted = CountedPixels::kOfSets;
  defaults.image.min_pixels = std::int64_t{112} * 112;
  defaults.image.max_pixels = std::int64_t{28} * 28 * 15'000;
  defaults.video = defaults.image;
  defaults.video.max_pixels = std::int64_t{28} * 28 * 2 * 30'000;
  return read_patch_processors(package, tower, defaults);
}

}  // namespace

Qwen3VlConfig parse_glm4v_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes);
  if (type != kGlm41 && type != kGlm46 && type != kGlmMoe)
    unsupported(root, "model_type", quoted_name(type) + " is not a model that this program runs");
  Qwen3VlConfig config;
  config.text = parse_glm_text(root, type);
  config.vision = read_glm_vision(root.object("vision_config"), type, config.text.hidden_size);
  config.tokens = read_glm_tokens(root, type, config.text.vocabulary);
  return config;
}

Qwen3VlFolder read_glm4v(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Qwen3VlFolder read{.model = parse_glm4v_config(config.content, config.subject)};
  const ProcessorDocuments documents = processor_documents(package);
  read.processors = read_glm_processors(package, documents, read.model.vision.patches);
  const std::string type = config.root().string("model_type", kMaxNameBytes);
  read.times = read_frame_times(package, documents, kGlmProcessors[type == kGlm46 ? 1 : 0].times);
  read.texts = {"<|image|>", "<|image|>", "<|begin_of_image|>", "<|end_of_image|>"};
  read.chat_template = read.times == FrameTimes::kBehind || type == kGlmMoe ? family_template("glm46v") : family_template("glm41v");
  return read;
}

DecoderConfig parse_glm4_text_config(const JsonObject& text, std::string_view assumed_type) {
  DecoderConfig config = parse_decoder_config(text, assumed_type);
  if (config.experts) {
    config.names.shared_expert = "shared_experts";
    config.query_key_norm =
        text.string("model_type", kMaxNameBytes, std::string(assumed_type)) == kGlm4MoeType && text.boolean("use_qk_norm", false);
    return config;
  }
  if (!text.boolean("rotary_pairs_in_halves", false)) config.pairs = RotaryPairs::kNeighbours;
  config.names.attention_out_norm = "post_self_attn_layernorm";
  config.names.mlp_out_norm = "post_mlp_layernorm";
  config.names.gate_up = "mlp.gate_up_proj";
  return config;
}

}  // namespace winnow
