// Takes visual tokens out of a medium before the decoder: those with the lowest tower scores (FasterVLM, IVTP's first stage), or those that
// a recipe's `before` leaves unread.
//
// Used while a segment is put together, and by plans. Pure. Engine thread only.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/base/interrupt.h"
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

// The patches among a medium's tokens: those with a row. pinned: per token; empty: none.
PatchCount patch_count(std::span<const TokenOrigin> origins, MediaKind kind, const std::vector<bool>& pinned);

// Drops as many of a medium's tokens as `before` leaves unread; which ones is not known before they are encoded: any will do. Returns false
// where how many is not known either, and is estimated. Documents keep all. pinned: as above.
bool drop_unread(std::vector<TokenOrigin>& origins, MediaKind kind, const BeforeDecoder& before, const std::vector<bool>& pinned);

// An image or a video of which `recipe.before` leaves a part; tokens that are no patches stay.
struct MediumToThin {
  const MediaFeatures& media;
  MediaKind kind = MediaKind::kImage;
  const std::vector<bool>& pinned;  // per token
  std::int64_t width = 0;           // of the decoder; behind it lie deepstack features
};
PrunedMedia thinned_media(const MediumToThin& medium, const RecipeSpec& recipe, const InterruptToken& interrupt);

}  // namespace winnow
