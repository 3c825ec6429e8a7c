// Everything that an LFM2-VL folder (Lfm2VlForConditionalGeneration) says about itself, checked.
//
// Read by lfm2_vl.cpp before a weight is loaded. Follows transformers 5.24's Lfm2VlConfig, Siglip2VisionConfig, Lfm2VlImageProcessor and
// Lfm2VlProcessor, whose defaults count where a file is silent. The processor's patches and cells are the model's, and tiles are whole
// cells: transformers fails where they are not. A text model other than LFM2 (its mixture of experts) is refused. Errors: Exception;
// kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/layers/activation.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/config/vit_config.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/models/vision/tile_choice.h"
#include "engine/text/tokenizer.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// How LFM2-VL's processor sizes and cuts an image: whole numbers, without pixels. Follows transformers 5.24's Lfm2VlImageProcessor
// (smart_resize, _is_image_too_large, crop_image_to_patches) in double precision. A picture keeps its proportions and becomes whole cells
// within bounds on their number; one that is too large for that is stretched over tiles, too, and comes behind them as a thumbnail. Where a
// large picture's tiles are one, transformers announces another number of tokens than it makes; here such a picture is not cut.

struct Lfm2PictureRules {
  std::int64_t patch_px = 16;
  std::int64_t merge = 2;  // patches along a cell's side; a cell is a token
  std::int64_t least_tokens = 64;
  std::int64_t most_tokens = 256;      // of a picture that is not cut
  double tolerance = 2.0;              // a picture of more than so many times most_tokens is cut
  TileBounds tiles{512, 2, 10, true};  // of at most one: pictures are not cut
  ResampleFilter filter = ResampleFilter::kBilinear;
  PixelScaling scaling{};

  std::int64_t cell_px() const { return patch_px * merge; }
  std::int64_t tile_side() const { return tiles.side_px / cell_px(); }  // tokens
  std::int64_t tile_tokens() const { return tile_side() * tile_side(); }
  bool cuts() const { return tiles.most > 1; }
  static constexpr std::int64_t kMarks = 2;  // around a picture
  static constexpr std::int64_t kName = 1;   // before a tile and the thumbnail
};

struct Lfm2PicturePlan {
  PixelSize whole;        // the thumbnail, or the picture that is not cut
  TileCount tiles;        // one: not cut
  bool thumbnail = true;  // behind the tiles

  bool cut() const { return tiles.tiles() > 1; }
  bool has_whole() const { return !cut() || thumbnail; }
};

Lfm2PicturePlan lfm2_picture_plan(PixelSize source, const Lfm2PictureRules& rules);

// Tokens of a picture: its two marks, each tile and the thumbnail behind its name.
std::int64_t tokens_of_plan(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules);
// The most tokens of a picture of so many tiles.
std::int64_t most_tokens_of_tiles(std::int64_t tiles, const Lfm2PictureRules& rules);

// The rules under which the picture takes at most so many tokens: as many tiles as fit beside the thumbnail, and where those are none,
// fewer tokens of the picture that is not cut; a small one is grown to a quarter of them at most. tokens 0: as they are.
Lfm2PictureRules of_at_most(std::int64_t tokens, PixelSize source, Lfm2PictureRules rules);

// The tokens that an image becomes in LFM2-VL's prompt: which of them stand for pixels, which are words between them. Follows transformers'
// Lfm2VlProcessor: `<|image_start|>`, each tile behind its name (`<|img_row_1_col_2|>`), the thumbnail behind `<|img_thumbnail|>`,
// `<|image_end|>`; a picture that is not cut has no name. transformers writes these words whatever use_image_special_tokens of
// processor_config.json says. First and last token are special, so that what is beside them cannot merge with them.

class Lfm2PictureTokens {
 public:
  // file: what errors call the tokenizer.
  Lfm2PictureTokens(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t image_token_id, const std::string& file);

  std::int64_t image_token_id() const { return image_; }
  // Rows and columns of a tile's tokens count over all tiles, `frame` is its number from 1 on, row by row; of the thumbnail, or of the
  // picture that is not cut, it is 0.
  MediumTokens image(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) const;

 private:
  void add_mark(MediumTokens& tokens, const std::string& word, std::int64_t frame) const;

  std::shared_ptr<const Tokenizer> tokenizer_;  // of the loaded model
  std::int64_t image_;
};

struct Lfm2VlConfig {
  DecoderConfig text;
  VitConfig vision{};
  std::int64_t merge = 2;  // patches along a token's side
  std::int64_t projector_size = 0;
  bool projector_norm = true;
  bool projector_bias = true;
  Activation projector_activation = Activation::kGelu;
  std::int64_t image_token_id = 0;

  std::int64_t token_channels() const { return vision.hidden_size * merge * merge; }
};

struct Lfm2VlFolder {
  Lfm2VlConfig model;
  Lfm2PictureRules pictures;
};

Lfm2VlFolder read_lfm2_vl(const ModelPackage& package);

}  // namespace winnow
