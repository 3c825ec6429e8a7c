// Everything that a Qwen3VLForConditionalGeneration or Qwen3VLMoeForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (qwen3_vl.cpp) before a weight is loaded. Every field has a range (caps against hostile folders); what the
// engine does not run is refused by name. Images have the processor of Qwen2-VL, videos one of their own, which counts the pixels of all
// frames together; which frames are read is the frame plan's matter: fps, min_frames and max_frames are not looked at. Errors: Exception;
// kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/family_templates.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/qwen_vision_config.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// The tokens that an image or a video becomes in Qwen3-VL's and GLM-4V's prompts: which of them stand for pixels, which are words between
// them. An image is its cells, and what the template writes around them is text. A video's sets of joined frames are pictures, each between
// two marks and with its time. Qwen3-VL (transformers' Qwen3VLProcessor) has the time before the marks, "<1.5 seconds>"; the three tokens
// that the template writes for a video are one place (texts()). The first set's time is the prompt's text (before()), because it is encoded
// together with what is before it; a medium then begins and ends with special tokens. A set's time is the middle of its first and its last
// frame's own times, the last frame as often as its set lacks some. Of a source that is still running the first time is that of the first
// frame: how many frames come with it is not known when it is written again. GLM-4V (Glm4vProcessor, Glm46VProcessor) has the time of a
// set's first frame behind its marks: "1" or "1.5 seconds". Special tokens are on either side of it, those that the template writes around
// the video among them.

// Token ids of config.json.
struct Qwen3VlTokens {
  std::int64_t image = 0;
  std::int64_t video = 0;         // of a video's cells
  std::int64_t vision_start = 0;  // around the cells of a set
  std::int64_t vision_end = 0;
};

// How a set is told its time.
enum class FrameTimes : int {
  kBefore = 1,           // Qwen3-VL's
  kBehind = 2,           // GLM-4.6V's: in tenths of a second
  kBehindInSeconds = 3,  // GLM-4.1V's: in whole seconds, cut
};

class TimedFrames {
 public:
  TimedFrames(std::shared_ptr<const Tokenizer> tokenizer, const Qwen3VlTokens& tokens, std::int64_t joined_frames,
              FrameTimes times = FrameTimes::kBefore);

  // That a template writes for a video, longest first.
  std::span<const std::string_view> texts() const;

  MediumTokens image(const CellGrid& grid) const;

  // `frame` counts from 0; words before a set have its first frame. facts.times_s has every frame.
  MediumTokens frames(const CellGrid& grid, const MediaFacts& facts) const;

  // The first set's time, where that is before it.
  std::string before(const VideoTimes& video) const;

  std::int64_t words() const { return words_; }  // of a set, below 1,000 seconds

 private:
  // The text of the set that begins with times_s.front().
  std::string time_text(std::span<const double> times_s) const;
  std::vector<std::int64_t> time_words(std::span<const double> times_s) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  Qwen3VlTokens tokens_;
  std::int64_t joined_;
  FrameTimes times_;
  std::int64_t words_ = 0;
};

struct Qwen3VlConfig {
  DecoderConfig text;  // with three rotary axes and deepstack features
  QwenVisionConfig vision{};
  Qwen3VlTokens tokens{};
};

// Texts of the tokens that Qwen3VlTokens has the ids of.
struct Qwen3VlTokenTexts {
  const char* image = "<|image_pad|>";
  const char* video = "<|video_pad|>";
  const char* vision_start = "<|vision_start|>";
  const char* vision_end = "<|vision_end|>";
};

// A whole folder: config.json and the files beside it, checked where they must agree (PatchGeometry).
struct Qwen3VlFolder {
  Qwen3VlConfig model;
  QwenVlProcessors processors{};
  std::string_view chat_template = family_template("qwen3_vl");  // of folders that have none
  FrameTimes times = FrameTimes::kBefore;
  Qwen3VlTokenTexts texts{};
};

// file: where `config` came from, for errors.
Qwen3VlConfig parse_qwen3_vl_config(const Json& config, const std::string& file);

Qwen3VlFolder read_qwen3_vl(const ModelPackage& package);

// For families whose media are those of Qwen3-VL (qwen3_5, glm4v): the parts of their files that are alike. deepstack: without its layers.
DeepstackConfig read_position_table(const JsonObject& vision);
QwenVisionConfig read_qwen3_vision(const JsonObject& vision, std::int64_t decoder_hidden_size);
Qwen3VlTokens read_qwen3_tokens(const JsonObject& root, const Qwen3VlTokens& defaults, std::int64_t vocabulary);
QwenVlProcessors read_qwen3_processors(const ModelPackage& package, const QwenVisionConfig& vision);

}  // namespace winnow
