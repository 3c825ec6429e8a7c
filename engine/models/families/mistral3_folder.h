// Configuration of Mistral 3.1, 3.2 and Ministral 3 folders with vision (Mistral3ForConditionalGeneration): config.json and processor
// files, checked.
//
// The text model is Mistral's or Ministral 3's (decoder_config.h), the tower Pixtral's. A picture keeps its proportions: its longest edge
// is bounded, and it becomes whole cells of merge x merge patches (patch_grid.h's CellGrid). Follows transformers' PixtralImageProcessor
// and PixtralProcessor. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject. No torch.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <string>

#include "engine/layers/activation.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/vision/patch_grid.h"

namespace winnow {

struct PixtralConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;  // up to the one whose output is the features
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;  // a multiple of four: half is rotated by row, half by column
  std::int64_t image_px = 0;  // the longest edge that it was trained for
  double theta = 10'000.0;
  Activation activation = Activation::kSilu;
};

struct Mistral3Config {
  DecoderConfig text;
  PixtralConfig vision;
  Activation projector_activation = Activation::kGelu;
  bool projector_bias = false;
  std::int64_t image_token_id = 10;
};

struct Mistral3Folder {
  Mistral3Config model;
  std::int64_t longest_edge_px = 0;
  PatchProcessorConfig pixels;  // bounds on the number of pixels are not used
  std::string image_token = "[IMG]";
  std::string break_token = "[IMG_BREAK]";
  std::string end_token = "[IMG_END]";
};

Mistral3Folder read_mistral3(const ModelPackage& package);

// The picture as the tower gets it, in pixels: whole cells, the longest edge bounded. A side that would be less than a pixel is one, where
// transformers fails.
PixelSize pixtral_size(PixelSize source, std::int64_t longest_edge_px, std::int64_t cell_px);

// The longest edge, at most longest_edge_px, under which the picture takes at most so many tokens, the ends of its rows included; one cell
// where none does. tokens 0: longest_edge_px.
std::int64_t longest_edge_for(std::int64_t tokens, PixelSize source, std::int64_t longest_edge_px, std::int64_t cell_px);

}  // namespace winnow
