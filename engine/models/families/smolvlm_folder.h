// Everything that an Idefics3- or SmolVLMForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (smolvlm.cpp) before a weight is loaded. Sizes that the published files leave out are those of transformers'
// classes (LlamaConfig, SmolVLMVisionConfig). Pixels are described where transformers 5 looks for them: the objects `image_processor` and
// `video_processor` nested in processor_config.json, then preprocessor_config.json and video_preprocessor_config.json; a video without
// either uses the image's, whose `size` goes before `video_sampling.video_size`. Images go through Pillow with the filter that the file
// names, as AutoImageProcessor chooses it for Idefics3ImageProcessor and SmolVLMImageProcessor; through torchvision, whose place of Lanczos
// takes the bicubic filter, where the file names a ...Fast class; frames through torchvision always. Which frames are read is the frame
// plan's matter: fps, num_frames and max_frames are not looked at. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with
// "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/config/vit_config.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/text/tokenizer.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// How SmolVLM's processor cuts an image: sizes and tiles in whole numbers, without pixels. Follows transformers' SmolVLMImageProcessor
// function by function: _resize_output_size_rescale_to_max_len, _resize_output_size_scale_below_upper_bound, resize_for_vision_encoder,
// split_image; quotients in double precision, because their rounding decides a tile more or less.

inline constexpr std::int64_t kMostPictureSidePx = 4096;  // MAX_IMAGE_SIZE

struct TileRules {
  std::int64_t longest_edge_px = std::int64_t{4} * 364;  // of the whole picture before it is cut: `size`
  std::int64_t side_px = 364;                            // of a tile: `max_image_size`
  bool split = true;                                     // `do_image_splitting`; else one square
};

// The way of a picture: resized to `first`, then to `whole`, which is cut into rows x columns squares.
struct TileGrid {
  PixelSize first;
  PixelSize whole;
  std::int64_t rows = 0;  // 0: one square, nothing is cut
  std::int64_t columns = 0;
};

// The longer edge becomes longest_px (at most 4,096), the shorter one even and rounded down before that.
PixelSize size_of_longest_edge(PixelSize source, std::int64_t longest_px);

TileGrid tile_grid(PixelSize source, const TileRules& rules);

// The tokens that an image or a video becomes in SmolVLM's prompt: which of them stand for pixels, which are words between them. Follows
// transformers' SmolVLMProcessor (get_image_prompt_string, expand_text_with_video_tokens). Every tile is `<fake_token_around_image>`, its
// name (`<row_1_col_2>`, `<global-img>`) and a square of `<image>`; rows of tiles end with a line, the whole picture comes last. Frames are
// whole pictures, each after "Frame from MM:SS:". A medium's tokens begin and end with the fake token, which is special, so that what is
// beside them cannot merge with them; what a prompt says before a video's first frame and after its last is its text (around()). A video's
// times are those that were asked for: they are known before anything is decoded. Differences from transformers: its processor takes images
// or a video in one prompt, and Idefics3's takes no video; here each medium is written as it would be alone. A source that is still running
// has neither length nor number of frames, and no sentence that tells them.

class MediaTokens {
 public:
  // side: tokens along a tile's side.
  MediaTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, std::int64_t side);

  // Rows and columns count over all tiles, `frame` is the tile's number from 1 on, row by row; of the whole picture it is 0. Words have no
  // row and column, and the tile that they are written before.
  MediumTokens image(const TileGrid& grid) const;

  // The rules with a shorter longest edge, of whole tiles, under which the picture takes at most so many tokens; that of one tile where
  // none does. tokens 0, or nothing to cut: as they are.
  TileRules of_at_most(std::int64_t tokens, PixelSize source, TileRules rules) const;

  // `frame` counts from 0; a frame's time is its own. facts.times_s has every frame.
  MediumTokens frames(const MediaFacts& facts) const;

  TextAround around(const VideoTimes& video) const;  // transformers names the parts intro and outro

  // True if the tokenizer has what the template of videos begins with; Idefics3 on Llama 3 has not.
  bool writes_videos() const;
  std::int64_t picture_tokens() const { return side_ * side_ + 3; }  // of a frame without its time
  std::int64_t frame_tokens() const { return frame_tokens_; }        // with it, below 100 minutes

 private:
  std::vector<std::int64_t> encoded(const std::string& text) const;  // special tokens count

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t image_token_id_;
  std::int64_t side_;
  std::int64_t frame_tokens_;
};

// A number as English words, as the Python package num2words writes it: SmolVLM's video prompts count frames in words.

// "twenty-one", "one hundred and five", "one thousand, one hundred and five". number: 0 to 999,999.
std::string spoken_number(std::int64_t number);

struct SmolVlmConfig {
  DecoderConfig text;
  VitConfig vision;  // image_size_px: that its position table was made for
  std::int64_t scale_factor = 2;
  std::int64_t image_token_id = 0;
};

enum class PixelLibrary : int { kPillow = 1, kTorchvision = 2 };

struct SmolVlmPixels {
  PixelLibrary library = PixelLibrary::kPillow;
  TileRules tiles;
  ResampleFilter filter = ResampleFilter::kLanczos;  // as the library has it
  PixelScaling scaling;
};

struct SmolVlmProcessorConfig {
  SmolVlmPixels image;
  SmolVlmPixels video;  // frames are never split
  std::int64_t image_tokens = 169;
};

// A whole folder. vision: of the pictures that the processor makes, tiles.side_px a side, with position_rows set; the processor's
// image_seq_len is the number of tokens that a picture has.
struct SmolVlmFolder {
  SmolVlmConfig model;
  SmolVlmProcessorConfig processor;
  std::int64_t side() const { return model.vision.patches_per_side / model.scale_factor; }  // tokens along a picture's side
};

// file: where `config` came from, for errors.
SmolVlmConfig parse_smolvlm_config(const Json& config, const std::string& file);

SmolVlmPixels parse_smolvlm_image_processor(const JsonObject& object);
SmolVlmPixels parse_smolvlm_video_processor(const JsonObject& object);

SmolVlmFolder read_smolvlm(const ModelPackage& package);

}  // namespace winnow
