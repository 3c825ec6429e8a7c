// The detail that models offer whose pictures become cells in their own proportions: any number of tokens.
//
// Used by the loaders of qwen2_vl/, qwen3_vl/ and mistral3/. A word stands for about 450, 900 and 1,800 px a side of cells of 28 px; for
// frames, of which a video has many, for half as much a side; `high` is what Qwen2-VL's and Qwen3-VL's own files give a frame. No torch.
#pragma once

#include "engine/models/model_info.h"
#include "engine/models/qwen_vl_parts/patch_processor_config.h"

namespace winnow {

inline constexpr DetailChoices kCellsOfPictures = {DetailKind::kAnySize, 256, 1024, 4096, 0};
inline constexpr DetailChoices kCellsOfFrames = {DetailKind::kAnySize, 64, 256, 768, 0};

// For a model whose processors are bounded by pixels.
inline void offer_cells(ModelInfo& info, const PatchGeometry& patches) {
  info.picture_detail = kCellsOfPictures;
  info.frame_detail = kCellsOfFrames;
  info.picture_detail.token_px = info.frame_detail.token_px = patches.cell_px();
}

}  // namespace winnow
