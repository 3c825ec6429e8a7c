#include "engine/generation/segment/media_pruning.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/compression/token_thinning.h"
#include "engine/device/host_numbers.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/select.h"

namespace winnow {

std::optional<VisionJudge> vision_judge(const Recipe& recipe) {
  if (!recipe.prunes()) return {};
  switch (recipe.composition().pruning->judge) {
    case Pruning::Judge::kVision: return VisionJudge::kAttention;
    case Pruning::Judge::kRollout: return VisionJudge::kRollout;
    default: return {};
  }
}

namespace {

MediaFeatures only(const MediaFeatures& media, const std::vector<bool>& stays) {
  MediaFeatures left;
  std::vector<std::int64_t> kept;
  for (std::size_t token = 0; token < stays.size(); ++token) {
    if (!stays[token]) continue;
    kept.push_back(static_cast<std::int64_t>(token));
    left.origins.push_back(media.origins[token]);
    if (!media.ids.empty()) left.ids.push_back(media.ids[token]);
  }
  left.features = media.features.index_select(0, numbers_on(media.features.device(), kept));
  return left;
}

std::vector<std::int64_t> patches_of(std::span<const TokenOrigin> origins) {
  std::vector<std::int64_t> patches;
  for (std::size_t token = 0; token < origins.size(); ++token) {
    if (origins[token].row >= 0) patches.push_back(static_cast<std::int64_t>(token));  // no newline or marker
  }
  return patches;
}

std::vector<float> importance_of(const MediaFeatures& media) {
  require(media.importance.defined(), "media_pruning: nobody judged these tokens");
  return numbers_of(media.importance);
}

}  // namespace

PrunedMedia pruned_media(const MediaFeatures& media, double share, const std::vector<bool>& pinned) {
  const std::vector<float> importance = importance_of(media);
  const std::vector<std::int64_t> patches = patches_of(media.origins);
  std::vector<float> competing;
  std::vector<std::int32_t> forced;
  std::vector<bool> stays(media.origins.size(), true);
  for (const std::int64_t patch : patches) {
    const auto token = static_cast<std::size_t>(patch);
    if (!pinned.empty() && pinned[token]) forced.push_back(static_cast<std::int32_t>(competing.size()));
    competing.push_back(importance[token]);
    stays[token] = false;
  }
  const std::int64_t keep = round_half_up(share * static_cast<double>(patches.size()));
  for (const std::int32_t index : select_rows(competing, std::max(keep, std::ssize(forced)), forced))
    stays[static_cast<std::size_t>(patches[static_cast<std::size_t>(index)])] = true;
  return {only(media, stays), std::ssize(forced) > keep};
}

PatchCount patch_count(std::span<const TokenOrigin> origins, MediaKind kind, const std::vector<bool>& pinned) {
  PatchCount count;
  std::int32_t frame = -1;
  std::int64_t frames = 0;
  for (std::size_t token = 0; token < origins.size(); ++token) {
    if (origins[token].row < 0) continue;
    if (count.patches++ == 0 || origins[token].frame != frame) ++frames;
    frame = origins[token].frame;
    if (!pinned.empty() && pinned[token]) ++count.pinned;
  }
  if (kind == MediaKind::kVideo) count.frames = std::max<std::int64_t>(1, frames);
  return count;
}

bool drop_unread(std::vector<TokenOrigin>& origins, MediaKind kind, const BeforeDecoder& before, const std::vector<bool>& pinned) {
  if (!before.thins() || kind == MediaKind::kDocument) return true;
  const PatchCount count = patch_count(origins, kind, pinned);
  const FewerPatches left = patches_that_stay(before, count);
  origins.resize(origins.size() - static_cast<std::size_t>(count.patches - left.patches));
  return left.exact;
}

PrunedMedia thinned_media(const MediumToThin& medium, const RecipeSpec& recipe, const InterruptToken& interrupt) {
  const MediaFeatures& media = medium.media;
  const std::vector<std::int64_t> patches = patches_of(media.origins);
  std::vector<bool> stays(media.origins.size(), true);
  if (recipe.before.by_pixels()) {  // the encoder has run on those alone
    const std::vector<float> importance = importance_of(media);
    for (const std::int64_t patch : patches) stays[static_cast<std::size_t>(patch)] = importance[static_cast<std::size_t>(patch)] > 0.0F;
    return {only(media, stays)};
  }
  PatchCount count = patch_count(media.origins, medium.kind, medium.pinned);
  require(count.patches % count.frames == 0, "thinned_media: frames of one video differ in their patches");
  const at::Tensor rows = media.features.narrow(1, 0, medium.width).index_select(0, numbers_on(media.features.device(), patches));
  PatchesToThin thin{rows.view({count.frames, -1, medium.width}), {}};
  for (const std::int64_t patch : patches) thin.pinned.push_back(medium.pinned[static_cast<std::size_t>(patch)]);
  const std::vector<bool> kept = patches_kept(thin, recipe.before, recipe.seed, interrupt);
  for (std::size_t patch = 0; patch < patches.size(); ++patch) stays[static_cast<std::size_t>(patches[patch])] = kept[patch];
  const std::int64_t pinned = std::exchange(count.pinned, 0);
  return {only(media, stays), pinned > patches_that_stay(recipe.before, count).patches};
}

}  // namespace winnow
