// Visual tokens that never reach the decoder: the ones that the vision tower judged least (FasterVLM, IVTP's first stage).
//
// Used while a segment is put together. Pure. Engine thread only.
#pragma once

#include <optional>
#include <vector>

#include "engine/models/vision_language_model.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// Whom a recipe asks before the decoder; nothing if it does not prune there.
std::optional<VisionJudge> vision_judge(const Recipe& recipe);

// The `share` of the media's patches with the highest importance, in their order, and every newline embedding. Pinned tokens (empty: none)
// are among them, above the share if they must. media.importance is defined.
struct PrunedMedia {
  MediaFeatures media;
  bool pins_above_budget = false;
};
PrunedMedia pruned_media(const MediaFeatures& media, double share, const std::vector<bool>& pinned);

}  // namespace winnow
