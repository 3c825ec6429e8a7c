// Everything that a folder of MiniCPMV4_6ForConditionalGeneration or MiniCPMV4_7's says about itself, checked. Read by minicpmv.cpp before
// a weight is loaded.
//
// The text model is Qwen3.5's, in 4.6 with positions along one axis. How many patches become a token (downsample_mode) is said by
// config.json and by both processors, which have to agree. Frames are not cut, whatever the processor's file says, as the model's makers
// ask for; its max_slice_nums is not read. A processor that joins frames into one picture (stack_frames) is refused. Which frames are read
// is the frame plan's matter. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject,
// kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/text/tokenizer.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// How MiniCPM-V cuts a picture: the whole of it, made smaller or larger, and slices of a larger one. Whole numbers, no pixels. Follows
// find_best_resize(), get_refine_size() and get_sliced_grid() of transformers' MiniCPMV4_6ImageProcessor, which its video processor
// repeats; quotients and logarithms in double precision, because their rounding decides a row more or less.

// The most slices that a detail may ask for: what the model's makers recommend for documents.
inline constexpr std::int64_t kMostSlicesAsked = 36;

struct SliceRules {
  std::int64_t scale_px = 448;   // a picture and a slice are about as large as such a square
  std::int64_t most_slices = 9;  // 1: nothing is cut
  std::int64_t patch_px = 14;
  std::int64_t joined = 4;       // patches along a token's side: 4 ("16x") or 2 ("4x")
  std::int64_t most_joined = 4;  // that a detail may ask for

  std::int64_t token_px() const { return patch_px * joined; }
};

// A picture as the vision encoder gets it: the whole, and slices of one size, row by row.
struct SlicedPicture {
  CellGrid whole;  // in tokens
  CellGrid slice;
  std::int64_t rows = 0;  // of slices; 0: nothing is cut
  std::int64_t columns = 0;

  std::int64_t slices() const { return rows * columns; }
  std::int64_t cells() const { return whole.cells() + slices() * slice.cells(); }
};

SlicedPicture sliced_picture(PixelSize source, const SliceRules& rules);

// The tokens that an image or a video becomes in MiniCPM-V's prompt: which of them stand for pixels, which are marks between them. Follows
// transformers' MiniCPMV4_6Processor: a picture is `<image>`, a token for every cell, `</image>`, and for each slice `<slice>`, its cells,
// `</slice>`; rows of slices are parted by a line. Frames of a video are such pictures one behind the other. Before an image stands its
// number in the thread, from 0 on (around()), where the folder wants that. A medium's tokens begin and end with special tokens.

class MiniCpmVTokens {
 public:
  struct Ids {
    std::int64_t image = 0;
    std::int64_t video = 0;
  };

  // ids: as config.json has them. file: what errors call the tokenizer.
  MiniCpmVTokens(const Tokenizer& tokenizer, Ids ids, const std::string& file);

  // `frame` is the slice's number from 1 on, row by row; of the whole it is 0. Rows and columns of slices count over all of them.
  MediumTokens image(const SlicedPicture& cut) const;

  // `frame` counts from 0; a frame's slices have their rows below those of the whole.
  MediumTokens frames(const SlicedPicture& cut, std::int64_t frames) const;

  // The number of an image: how many images are before it in the thread.
  static std::string before(std::int64_t images_before) { return "<image_id>" + std::to_string(images_before) + "</image_id>"; }

  // Tokens of one picture, marks included.
  std::int64_t count(const SlicedPicture& cut) const;

  // The rules under which a picture takes at most so many tokens: with as many slices as fit at 16 patches a token; at 4 patches a token
  // if all slices that it could be cut into fit so, too. The whole at 16 patches where nothing fits. tokens 0: as they are. Where no token
  // may stand for 16 patches, the same at 4.
  SliceRules of_at_most(std::int64_t tokens, PixelSize source, const SliceRules& rules) const;

  const Ids& ids() const { return ids_; }
  std::span<const std::int64_t> line() const { return line_; }  // between two rows of slices

 private:
  Ids ids_;
  std::int64_t begin_;
  std::int64_t end_;
  std::int64_t slice_begin_;
  std::int64_t slice_end_;
  std::vector<std::int64_t> line_;  // between two rows of slices
};

struct MiniCpmVVision {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t patch_px = 14;
  std::int64_t table_side = 0;    // rows and columns of the table of positions
  std::int64_t merger_layer = 6;  // behind this layer four patches become one, where a token stands for 16
  bool joins_squares = true;      // the weights for that are there; GGUF files whose tokens stand for 4 patches lack them
  double norm_eps = 1e-6;
  Activation activation = Activation::kGeluTanh;
};

// Tokens at the corners of pictures and slices, by which 4.7 tells positions.
struct CanvasMarks {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t slice_begin = 0;
  std::int64_t slice_end = 0;
  std::int64_t line = 0;
};

struct MiniCpmVConfig {
  DecoderConfig text;
  MiniCpmVVision vision;
  std::int64_t joined = 4;  // SliceRules::joined
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
  std::optional<CanvasMarks> marks{};  // 4.7
};

// How pictures are prepared. Bounds on the number of pixels are not used, cells are made where patches go through the vision encoder.
struct MiniCpmVPixels {
  SliceRules slices;
  PatchProcessorConfig patches;
};

struct MiniCpmVFolder {
  MiniCpmVConfig model;
  MiniCpmVPixels image{};
  MiniCpmVPixels frame{};
  bool numbers_images = true;  // use_image_id
};

// file: where `config` came from, for errors.
MiniCpmVConfig parse_minicpmv_config(const Json& config, const std::string& file);

MiniCpmVFolder read_minicpmv(const ModelPackage& package);

}  // namespace winnow
