// Pixels of pictures as Gemma 4's vision encoder takes them: resized to whole soft tokens, scaled, cut into patches row by row.
//
// Used by gemma4.h. Follows transformers' Gemma4ImageProcessor and Gemma4VideoProcessor (torchvision's arithmetic, which is their default);
// patches that fill a batch up are left out. Input: upright RGB8, see vision/picture_limits.h. Threads: plain function.
#pragma once

#include <ATen/ATen.h>

#include <span>

#include "engine/media/frame_source.h"
#include "engine/models/gemma4/soft_tokens.h"

namespace winnow {

// [pictures * patches, patch * patch * 3], fp32; of a patch its pixels row by row, colours innermost.
at::Tensor soft_token_patches(std::span<const RgbImage> pictures, const TokenGrid& grid, const SoftTokenRules& rules);

}  // namespace winnow
