#include "engine/models/families/qwen3_vl_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr std::string_view kDense = "qwen3_vl";
constexpr std::string_view kExperts = "qwen3_vl_moe";
constexpr std::int64_t kMaxTableRows = 1 << 20;

DecoderConfig qwen3_vl_parse_text(const JsonObject& root, const std::string& type) {
  const JsonObject text = root.object("text_config");
  const std::string text_type = type + "_text";
  require_model_type(text, text_type, true);
  // Its class's default is no quotient, unlike everybody else's.
  if (type == kDense && !text.has("head_dim")) text.refuse(ErrorCode::kDamagedFile, "head_dim", "it is missing");
  DecoderConfig config = parse_decoder_config(text, text_type);
  config.rotary.frequency_axis = read_alternating_sections(text, config.head_dim);
  config.tie_word_embeddings = config.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  return config;
}

DeepstackConfig read_deepstack(const JsonObject& vision, const Qwen3VlConfig& config) {
  DeepstackConfig deepstack = read_position_table(vision);
  const char* const key = "deepstack_visual_indexes";
  deepstack.layers = vision.says(key) ? vision.integers(key, 0, kMaxLayers - 1, static_cast<std::size_t>(kMaxLayers))
                                      : std::vector<std::int64_t>{8, 16, 24};
  const std::vector<std::int64_t>& layers = deepstack.layers;
  if (std::ranges::adjacent_find(layers, std::greater_equal<>()) != layers.end())
    vision.refuse(ErrorCode::kDamagedFile, key, "the layers must ascend");
  if (!layers.empty() && layers.back() >= config.vision.layers)
    vision.refuse(ErrorCode::kDamagedFile, key, "there are " + std::to_string(config.vision.layers) + " layers");
  if (std::ssize(layers) > config.text.layers) {
    vision.refuse(ErrorCode::kDamagedFile, key,
                  "the decoder's " + std::to_string(config.text.layers) + " layers are fewer than what is added behind them");
  }
  return deepstack;
}

constexpr std::array<std::string_view, 2> kQwenVideoTexts = {"<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>"};
constexpr std::array<std::string_view, 1> kGlmVideoTexts = {"<|video|>"};

// Python's "{:.1f}" and, where the format says so, "{:d}" of int(): the double itself is rounded, halves to even, or cut.
std::string written_time(double time_s, FrameTimes times) {
  std::array<char, 352> text{};
  switch (times) {
    case FrameTimes::kBefore: std::snprintf(text.data(), text.size(), "<%.1f seconds>", time_s); break;
    case FrameTimes::kBehind: std::snprintf(text.data(), text.size(), "%.1f seconds", time_s); break;
    case FrameTimes::kBehindInSeconds: std::snprintf(text.data(), text.size(), "%.0f", std::trunc(time_s)); break;
  }
  return text.data();
}

}  // namespace

DeepstackConfig read_position_table(const JsonObject& vision) {
  DeepstackConfig deepstack;
  const std::int64_t rows = vision.integer("num_position_embeddings", 1, kMaxTableRows, 2304);
  deepstack.table_side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rows)));
  if (deepstack.table_side * deepstack.table_side != rows)
    vision.refuse(ErrorCode::kDamagedFile, "num_position_embeddings", std::to_string(rows) + " is no square of a whole number");
  return deepstack;
}

QwenVisionConfig read_qwen3_vision(const JsonObject& vision, std::int64_t decoder_hidden_size) {
  QwenVisionConfig config = read_qwen_vision(vision, {"hidden_size", "out_hidden_size", "gelu_pytorch_tanh"});
  config.intermediate_size = vision.integer("intermediate_size", 1, kMaxIntermediate);
  config.names = {"mlp.linear_fc1", "mlp.linear_fc2", "norm", "linear_fc1", "linear_fc2"};
  if (config.out_size != decoder_hidden_size)
    vision.refuse(ErrorCode::kDamagedFile, "out_hidden_size", "the decoder's hidden size is " + std::to_string(decoder_hidden_size));
  return config;
}

Qwen3VlTokens read_qwen3_tokens(const JsonObject& root, const Qwen3VlTokens& defaults, std::int64_t vocabulary) {
  const Qwen3VlTokens tokens{read_media_token(root, {"image_token_id"}, defaults.image, vocabulary),
                             read_media_token(root, {"video_token_id"}, defaults.video, vocabulary),
                             read_media_token(root, {"vision_start_token_id"}, defaults.vision_start, vocabulary),
                             read_media_token(root, {"vision_end_token_id"}, defaults.vision_end, vocabulary)};
  if (std::set<std::int64_t>{tokens.image, tokens.video, tokens.vision_start, tokens.vision_end}.size() != 4)
    root.refuse(ErrorCode::kDamagedFile, "video_token_id", "the tokens around and in media must be four");
  return tokens;
}

Qwen3VlConfig parse_qwen3_vl_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes);
  if (type != kDense && type != kExperts) unsupported(root, "model_type", quoted_name(type) + " is not a model that this program runs");
  Qwen3VlConfig config{.text = qwen3_vl_parse_text(root, type)};
  const JsonObject vision = root.object("vision_config");
  require_vision_type(vision, type);
  config.vision = read_qwen3_vision(vision, config.text.hidden_size);
  config.vision.deepstack = read_deepstack(vision, config);
  config.text.deepstack_layers = config.vision.deepstack_layers();
  config.tokens = read_qwen3_tokens(root, {151'655, 151'656, 151'652, 151'653}, config.text.vocabulary);
  return config;
}

QwenVlProcessors read_qwen3_processors(const ModelPackage& package, const QwenVisionConfig& vision) {
  QwenVlProcessors defaults;
  defaults.video.patches.patch_px = 16;
  defaults.video.min_pixels = std::int64_t{128} * 32 * 32;
  defaults.video.max_pixels = std::int64_t{768} * 32 * 32;
  defaults.video.counted = CountedPixels::kOfVideo;
  defaults.video.scaling.mean = defaults.video.scaling.standard_deviation = {0.5, 0.5, 0.5};
  if (const std::optional<JsonObject> video = processor_documents(package).video) {
    const char* const key = "video_processor_type";
    const std::string type = video->string(key, kMaxNameBytes, "Qwen3VLVideoProcessor");
    if (type != "Qwen3VLVideoProcessor") unsupported(*video, key, quoted_name(type) + " is not how this model's videos are prepared");
  }
  return read_patch_processors(package, vision.patches, defaults);
}

Qwen3VlFolder read_qwen3_vl(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  Qwen3VlFolder read;
  read.model = parse_qwen3_vl_config(config.content, config.subject);
  read.processors = read_qwen3_processors(package, read.model.vision);
  return read;
}

TimedFrames::TimedFrames(std::shared_ptr<const Tokenizer> tokenizer, const Qwen3VlTokens& tokens, std::int64_t joined_frames,
                         FrameTimes times)
    : tokenizer_(std::move(tokenizer)), tokens_(tokens), joined_(joined_frames), times_(times) {
  require(tokenizer_ != nullptr && joined_ > 0, "timed frames need a tokenizer and sets of frames");
  const std::array<double, 2> longest = {999.9, 999.9};
  words_ = std::ssize(time_words(longest)) + 2;
}

std::span<const std::string_view> TimedFrames::texts() const {
  if (times_ == FrameTimes::kBefore) return kQwenVideoTexts;
  return kGlmVideoTexts;
}

MediumTokens TimedFrames::image(const CellGrid& grid) const {
  MediumTokens tokens{.origins = cell_origins(grid, 1, 1)};
  tokens.ids.assign(tokens.origins.size(), tokens_.image);
  return tokens;
}

MediumTokens TimedFrames::frames(const CellGrid& grid, const MediaFacts& facts) const {
  require(std::ssize(facts.times_s) == facts.frames, "every frame has its time");
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < facts.frames; frame += joined_) {
    const auto times_s = std::span(facts.times_s).subspan(static_cast<std::size_t>(frame));
    const bool before = times_ == FrameTimes::kBefore && (frame > 0 || facts.frames_before > 0);
    std::vector<std::int64_t> words = before ? time_words(times_s) : std::vector<std::int64_t>();
    words.push_back(tokens_.vision_start);
    tokens.add_words(words, frame);
    for (TokenOrigin cell : cell_origins(grid, 1, 1)) {
      cell.frame = static_cast<std::int32_t>(frame);
      tokens.origins.push_back(cell);
      tokens.ids.push_back(tokens_.video);
    }
    words.assign(1, tokens_.vision_end);
    if (times_ != FrameTimes::kBefore) {
      const std::vector<std::int64_t> time = time_words(times_s);
      words.insert(words.end(), time.begin(), time.end());
    }
    tokens.add_words(words, frame);
  }
  return tokens;
}

std::string TimedFrames::before(const VideoTimes& video) const {
  return times_ == FrameTimes::kBefore ? time_text(video.times_s) : std::string();
}

std::vector<std::int64_t> TimedFrames::time_words(std::span<const double> times_s) const {
  return tokenizer_->encode(time_text(times_s), SpecialText::kParse, TextStart::kAfterToken);
}

std::string TimedFrames::time_text(std::span<const double> times_s) const {
  if (times_s.empty()) return written_time(0.0, times_);
  if (times_ != FrameTimes::kBefore) return written_time(times_s.front(), times_);
  const double last_s = times_s[std::min(times_s.size(), static_cast<std::size_t>(joined_)) - 1];
  return written_time((times_s.front() + last_s) / 2.0, times_);
}

}  // namespace winnow
