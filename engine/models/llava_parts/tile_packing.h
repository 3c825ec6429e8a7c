// Features of an image's tiles in prompt order: the base tile, then the stitched and unpadded map with a newline embedding after each row.
//
// Used by the LLaVA families that tile (transformers' pack_image_features); which tokens that gives says visual_grid.h. Threads: engine
// thread. Errors: kInternal for tiles that do not fit the image.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "engine/models/llava_parts/visual_grid.h"
#include "engine/models/media_facts.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

// tiles: [1 + tiles, patches, hidden], base first; newline: [hidden].
MediaFeatures packed_tiles(PixelSize source, const GridRules& rules, const EncodedParts& tiles, const at::Tensor& newline);

// maps: [count, rows, columns, hidden]. As torch.nn.functional.interpolate(mode="bilinear") on channels first.
at::Tensor resized_maps(const at::Tensor& maps, std::int64_t rows, std::int64_t columns);

}  // namespace winnow
