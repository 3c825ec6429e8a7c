// How large a picture is made so that it becomes at most a budget of soft tokens, of which each stands for a square of patches.
//
// Used by gemma4.h for tokens and pixels alike. Follows get_aspect_ratio_preserving_size() of transformers' Gemma4Processor in double
// precision: the largest size of the picture's shape, in whole tokens, within the budget; smaller pictures are made larger. No torch.
// Threads: plain functions. Errors: kInvalidArgument for a picture without an area.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// The budgets that transformers' processors take.
inline constexpr std::array<std::int64_t, 5> kSoftTokenBudgets = {70, 140, 280, 560, 1120};

// The rules in a processor's document.
struct SoftTokenRules {
  std::int64_t patch_px = 16;
  std::int64_t pooled = 3;  // patches along a token's side
  std::int64_t budget = 280;
  std::int64_t most = kSoftTokenBudgets.back();  // the largest budget for which the vision encoder has places
  ResampleFilter filter = ResampleFilter::kBicubic;
  PixelScaling scaling{};

  std::int64_t token_px() const { return patch_px * pooled; }
};

struct TokenGrid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// The rules with the largest budget of at most so many tokens, and never less than the smallest; 0: as they are.
SoftTokenRules of_budget(std::int64_t tokens, SoftTokenRules rules);

TokenGrid soft_token_grid(PixelSize picture, const SoftTokenRules& rules);

}  // namespace winnow
