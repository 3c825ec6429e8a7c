// Prunes the vision tokens with the lowest tower scores before the decoder (FasterVLM, IVTP's first stage).
//
// Used while a segment is put together. Pure. Engine thread only.
#pragma once

#include <optional>
#include <vector>

#include "engine/models/vision_language_model.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// How the tower scores patches for a recipe; nullopt if the recipe does not prune before the decoder.
std::optional<VisionJudge> vision_judge(const Recipe& recipe);

// Keeps the `share` of the media's patches with the highest importance, in order, and every newline embedding. Pinned tokens (empty: none)
// are always kept, even above the share. media.importance must be defined.
struct PrunedMedia {
  MediaFeatures media;
  bool pins_above_budget = false;
};
PrunedMedia pruned_media(const MediaFeatures& media, double share, const std::vector<bool>& pinned);

}  // namespace winnow
