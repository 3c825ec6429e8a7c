// Everything that an InternVL folder says about itself, checked, in either of its two layouts.
//
// Read by the family's model (internvl.cpp) before a weight is loaded. read_internvl() reads transformers' layout
// (InternVLForConditionalGeneration: InternVL2.5, 3 and 3.5 "-hf"; what config.json leaves out is as transformers' classes have it; pixels
// as picture_config.h finds their documents); read_internvl_chat() (internvl_chat_config.h) that of the published folders with code of
// their own. Images are always cut into tiles (InternVLProcessor asks for it whatever the file says) and resized with torchvision's
// arithmetic, which is transformers' default for GotOcr2ImageProcessor, too; frames never are. Which frames are read is the frame plan's
// matter. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/config/vit_config.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/models/vision/tile_choice.h"
#include "engine/text/tokenizer.h"
#include "engine/weights/weight_names.h"

namespace winnow {

// The tokens that an image or a video becomes in InternVL's prompt: which of them stand for pixels, which are words between them. Follows
// transformers' InternVLProcessor and the chat() of the original models, which write the same: an image is `<img>`, `<IMG_CONTEXT>` for
// every token of its tiles and of the thumbnail behind them, `</img>`; a video has that for every frame, each on a line of its own after
// "Frame1: ". A medium's tokens begin and end with `<img>` and `</img>`, which are special, so that what is beside them cannot merge with
// them; the first frame's number is the prompt's text (around()).

class InternVlTokens {
 public:
  // side: tokens along a tile's side. file: what errors call the tokenizer.
  InternVlTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t side, const std::string& file);

  // Rows and columns count over all tiles, `frame` is the tile's number from 1 on, row by row; of the thumbnail, or of the one tile, it is
  // 0.
  MediumTokens image(const TileCount& grid, bool thumbnail) const;

  // `frame` counts from 0.
  MediumTokens frames(const MediaFacts& facts) const;

  TextAround around() const { return {"Frame1: ", ""}; }

  std::int64_t image_token_id() const { return image_; }
  static constexpr std::int64_t kMarks = 2;  // around a picture
  std::int64_t tile_tokens() const { return side_ * side_; }
  std::int64_t picture_tokens() const { return tile_tokens() + kMarks; }  // of a frame without its number
  // With it: of a short number, and of one that leaves room in a source without an end (four digits).
  std::int64_t frame_tokens() const { return picture_tokens() + std::ssize(number_line(2)); }
  std::int64_t stream_frame_tokens() const { return picture_tokens() + std::ssize(number_line(1000)); }

 private:
  // "\nFrame2: " as it stands between two frames.
  std::vector<std::int64_t> number_line(std::int64_t number) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t side_;
  std::int64_t begin_;
  std::int64_t image_;
  std::int64_t end_;
};

struct InternVlConfig {
  DecoderConfig text;
  VitConfig vision;                // image_size_px: that its position table was made for
  std::int64_t feature_state = 0;  // of the tower, counted from the embeddings
  bool last_norm = false;          // of the tower, over that state
  Activation projector_activation = Activation::kGelu;
  std::int64_t scale = 2;                      // patches along a token's side: 1 / downsample_ratio
  std::optional<std::int64_t> image_token_id;  // where the file says it
};

struct InternVlPixels {
  PictureRules image;  // of a tile, a square
  PictureRules video;  // of a frame, the same square
  TileBounds tiles;
};

// A whole folder. vision: of the pictures that the processor makes, with position_side set.
struct InternVlFolder {
  InternVlConfig model;
  InternVlPixels pixels{};
  std::span<const WeightNameRule> names;  // to "text.", "tower.", "projector."
  std::string own_template{};             // the layout's own way to write a thread; empty: the folder's
  std::int64_t side() const { return model.vision.patches_per_side / model.scale; }  // tokens along a tile's side
};

// file: where `config` came from, for errors.
InternVlConfig parse_internvl_config(const Json& config, const std::string& file);

// One object of a processor's file; images with the tiles, frames without.
InternVlPixels parse_internvl_image_processor(const JsonObject& object);
PictureRules parse_internvl_video_processor(const JsonObject& object);

InternVlFolder read_internvl(const ModelPackage& package);

// Fields that both layouts read alike: `norm_type` of the tower, `downsample_ratio`, and a state of the tower under `key`, -1 the last.
bool read_rms_norms(const JsonObject& vision, const char* fallback);
std::int64_t read_downsampling(const JsonObject& root);
std::int64_t read_feature_state(const JsonObject& root, const char* key, std::int64_t layers);
// All tiles of an image together; key: of their number.
void require_tiles_fit(const JsonObject& object, const char* key, const TileBounds& tiles);
// The tower for pictures of side_px a side. subject: what says so.
void place_pictures(InternVlConfig& config, std::int64_t side_px, const std::string& subject);

}  // namespace winnow
