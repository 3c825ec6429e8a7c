// How a folder of Qwen2-VL, Qwen2.5-VL, Qwen3-VL or GLM-4V wants its pixels: preprocessor_config.json, video_preprocessor_config.json,
// processor_config.json.
//
// Read with qwen2_vl_config.h and qwen3_vl_config.h, used by patch_grid.h and patch_processor.h; which document speaks of what says
// picture_config.h. What is not written has the defaults of transformers' classes, a folder without any document all of them. Bounds on a
// picture's pixels are written in two ways, `size: {shortest_edge, longest_edge}` and `min_pixels`, `max_pixels`; the second goes first
// where both are there, one by one. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel naming file and key. No torch.
// Threads: plain values.
#pragma once

#include <cstdint>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

inline constexpr std::int64_t kMaxPatchPx = 64;
inline constexpr std::int64_t kMaxMerge = 16;
inline constexpr std::int64_t kMaxJoinedFrames = 8;

// The sizes that processors and tower have to agree on.
struct PatchGeometry {
  std::int64_t patch_px = 14;
  std::int64_t merge = 2;          // patches a side that become one token: a cell
  std::int64_t joined_frames = 2;  // that become one set of tokens; an image so many times

  std::int64_t cell_px() const { return patch_px * merge; }
  std::int64_t cell_patches() const { return merge * merge; }
};

// The picture or frames whose pixels the bounds count.
enum class CountedPixels : int {
  kOfPicture = 1,
  kOfVideo = 2,  // of all frames together, the last as often as its set lacks some (Qwen3-VL's videos)
  kOfSets = 3,   // of all frames together, in the nearest number of sets; an image counts as a set (GLM-4V)
};

struct PatchProcessorConfig {
  std::int64_t min_pixels = std::int64_t{56} * 56;  // of a picture as the tower gets it
  std::int64_t max_pixels = std::int64_t{1280} * 28 * 28;
  CountedPixels counted = CountedPixels::kOfPicture;
  PatchGeometry patches;
  ResampleFilter filter = ResampleFilter::kBicubic;
  PixelScaling scaling;
};

struct QwenVlProcessors {
  PatchProcessorConfig image;
  PatchProcessorConfig video;
};

// defaults: where the object says nothing.
PatchProcessorConfig parse_patch_processor(const JsonObject& object, PatchProcessorConfig defaults);

// tower: what config.json says. defaults: of the classes that the family's processors have.
QwenVlProcessors read_patch_processors(const ModelPackage& package, const PatchGeometry& tower, const QwenVlProcessors& defaults);

}  // namespace winnow
