// Everything that a Gemma3ForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (gemma3.cpp) before a weight is loaded. What config.json leaves out is as transformers' Gemma3Config,
// Gemma3TextConfig and SiglipVisionConfig have it; the text model is read by gemma3_text_config.h, its bound of logits left
// aside, as transformers' class does. Pixels are described where picture_config.h finds their document. Images are resized with
// torchvision's arithmetic, which is transformers' default for both of the class's processors; with Pillow's where the file names none.
// Pan and scan: a file with do_pan_and_scan asks for it, and its other numbers count; transformers' Gemma3Processor leaves both aside and
// takes what its caller says (by default no), so that such a folder is read as its makers wrote it. Errors: Exception; kDamagedFile,
// kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/config/vit_config.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/text/tokenizer.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// Which crops pan and scan takes of a long picture beside the whole: whole numbers, without pixels. Follows pan_and_scan() of transformers'
// Gemma3ImageProcessor, quotients in double precision: so many crops side by side, or one above the other, as the longer side is longer,
// none where it is hardly so or where they would be small.

inline constexpr std::int64_t kMostCropsOfAnImage = 64;

struct CropRules {
  bool wanted = false;          // do_pan_and_scan
  std::int64_t least_px = 256;  // pan_and_scan_min_crop_size: of a crop's shorter side
  std::int64_t most = 4;        // pan_and_scan_max_num_crops, up to kMostCropsOfAnImage
  double least_ratio = 1.2;     // pan_and_scan_min_ratio_to_activate: of the longer side to the shorter
};

// rows x columns crops, one of which is 1. The last one ends with the picture, which may make it smaller.
struct CropGrid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  PixelSize crop;

  std::int64_t crops() const { return rows * columns; }  // 0: the picture alone
};

// A picture without a size has no crops.
CropGrid crops_of(PixelSize picture, const CropRules& rules);

// The tokens that an image becomes in Gemma 3's prompt: which of them stand for pixels, which are words between them. Follows transformers'
// Gemma3Processor: a picture is `<start_of_image>`, `<image_soft_token>` for each of its tokens, `<end_of_image>`, between empty lines;
// with pan and scan words come before the picture, between it and its crops, and between these. A medium's tokens begin and end with
// special tokens, so that what is beside them cannot merge with them; the rest is the prompt's text (around()).

class Gemma3Tokens {
 public:
  // side: tokens along a picture's side. file: what errors call the tokenizer.
  Gemma3Tokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file);

  // `frame` is 0 of the whole picture; a crop's is its number from 1 on, its rows and columns count over all crops.
  MediumTokens image(const CropGrid& grid) const;
  TextAround around(const CropGrid& grid) const;

  std::int64_t begin_token_id() const { return begin_; }  // what templates write for an image
  std::int64_t image_token_id() const { return image_; }  // of a picture's tokens

 private:
  // Between a picture's end and the next one's beginning.
  std::vector<std::int64_t> between(std::string_view words) const;
  void add_picture(MediumTokens& tokens, const TokenSquare& square) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t side_;
  std::int64_t begin_;
  std::int64_t image_;
  std::int64_t end_;
};

struct Gemma3Config {
  DecoderConfig text;
  VitConfig vision;
  std::int64_t side = 16;  // tokens along a picture's side
  std::int64_t image_token_id = 0;

  std::int64_t pooled() const { return vision.patches_per_side / side; }  // patches along a token's side
};

struct Gemma3Pixels {
  PictureRules image;
  CropRules crops{};
};

struct Gemma3Folder {
  Gemma3Config model;
  Gemma3Pixels pixels{};
};

// file: where `config` came from, for errors.
Gemma3Config parse_gemma3_vision_config(const Json& config, const std::string& file);

// One object of a processor's file.
Gemma3Pixels parse_gemma3_image_processor(const JsonObject& object);

Gemma3Folder read_gemma3(const ModelPackage& package);

}  // namespace winnow
