// Everything that a LlavaOnevisionForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (llava_onevision.cpp) before a weight is loaded. Every field has a range (caps against hostile folders); what
// the engine does not run is refused by name instead of failing later as arithmetic. Keys of both transformers 4 (*_token_index) and 5
// (*_token_id) are read. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject,
// kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/base/token_origin.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision/visual_grid.h"

namespace winnow {

// How a model folder wants its pixels: preprocessor_config.json, video_preprocessor_config.json, processor_config.json. As in LLaVA's
// folders (llava_folder.h) an image processor that the file names is loaded in its fast form, torchvision's, whichever it names;
// where the file names none it is the slow form over Pillow. Videos are torchvision's. Settings that the engine does not run (another
// filter, no resizing, centre crops) are refused by name, not ignored.

struct ImageProcessorConfig : PictureRules {
  std::vector<PixelSize> grid_pinpoints;  // resolutions that the anyres tiling may choose, in the file's order
};

struct ProcessorConfig {
  ImageProcessorConfig image;
  PictureRules video;
  // The value of processor_config.json; absent there: nullopt. The family's configuration checks that they agree with the model's.
  std::optional<std::int64_t> image_tokens;
  std::optional<std::string> feature_select_strategy;
  std::optional<std::string> aspect_ratio;
};

// The 36 pinpoints of transformers' LLaVA-OneVision classes: multiples of 384 px up to 6 x 6.
std::vector<PixelSize> default_grid_pinpoints();

ImageProcessorConfig parse_image_processor(const JsonObject& object);
PictureRules parse_video_processor(const JsonObject& object);

// Missing documents are an error only if none of them describes images.
ProcessorConfig read_processor_config(const ModelPackage& package);

// How frames become tokens, as the config.json of a LLaVA-Video says: mm_spatial_pool_mode, mm_spatial_pool_stride, mm_newline_position.
// A folder that says none of it is transformers' LLaVA-OneVision: bilinear to half the side, one
// newline at the end. Keys, defaults and sentence are those of the LLaVA-NeXT repository (llava_arch.py, train.py); the file decides,
// whatever an evaluation may have overridden.

// The place of the newline embedding among the tokens of a video.
enum class NewlinePlace : int {
  kRow = 1,      // "grid": after every row of every frame
  kFrame = 2,    // "frame": after every frame
  kVideo = 3,    // "one_token": after the last
  kNowhere = 4,  // "no_token"
};

struct VideoRules {
  FramePoolingRules pooling{FramePooling::kBilinear, 2};
  NewlinePlace newline = NewlinePlace::kVideo;
  bool tells_times = false;  // add_time_instruction: kLlavaVideoTimes stands before the question
};

// Its placeholders are those of winnow_sidecar.h; the missing space is theirs.
inline constexpr const char* kLlavaVideoTimes =
    "The video lasts for {exact_duration_s} seconds, and {frames} frames are uniformly sampled from it. These frames are located at "
    "{frame_times}.Please answer the following questions related to this video.";

// root: config.json.
VideoRules read_video_rules(const JsonObject& root, std::int64_t patches_per_side);

// Which tokens a LLaVA-OneVision makes of what is not tiled: one image among several, and videos. Follows transformers' pack_image_features
// and get_video_features, and LLaVA-NeXT's add_token_per_grid and add_token_per_frame.

// One tile and one newline.
std::vector<TokenOrigin> single_image_origins(const GridRules& rules);

// Pooled tokens of a frame, a side.
std::int64_t frame_side(const GridRules& rules, const VideoRules& video);
// Tokens of a frame with the newlines that it has.
std::int64_t frame_tokens(const GridRules& rules, const VideoRules& video);

// Frames row by row. A newline of a row or a frame is of that frame, one at the end of frame -1.
std::vector<TokenOrigin> video_origins(std::int64_t frames, const GridRules& rules, const VideoRules& video);

struct LlavaOnevisionConfig : LlavaVisionConfig {
  DecoderConfig text;
  GridRules grid;  // pinpoints, tile side, patches per side, N of "anyres_max_N"
  VideoRules video;
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
};

// A whole folder: config.json and the files beside it, with the places checked where they must agree (pixel sizes, pinpoints, aspect
// ratio, select strategy, tokens per image, token ids inside the vocabulary).
struct LlavaOnevisionFolder {
  LlavaOnevisionConfig model;
  ProcessorConfig processor;
};

// file: where `config` came from, for errors.
LlavaOnevisionConfig parse_llava_onevision_config(const Json& config, const std::string& file);

LlavaOnevisionFolder read_llava_onevision(const ModelPackage& package);

}  // namespace winnow
