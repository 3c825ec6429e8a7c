#include "engine/generation/segment/media_pruning.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/select.h"

namespace winnow {

std::optional<VisionJudge> vision_judge(const Recipe& recipe) {
  if (!recipe.prunes()) return {};
  switch (recipe.composition().pruning->judge) {
    case Pruning::Judge::kVision:
      return VisionJudge::kAttention;
    case Pruning::Judge::kRollout:
      return VisionJudge::kRollout;
    default:
      return {};
  }
}

PrunedMedia pruned_media(const MediaFeatures& media, double share, const std::vector<bool>& pinned) {
  require(media.importance.defined(), "pruned_media: nobody judged these tokens");
  const at::Tensor host = media.importance.to(at::kCPU).contiguous();
  const float* const importance = host.const_data_ptr<float>();
  std::vector<std::int64_t> patches;
  std::vector<float> competing;
  std::vector<std::int32_t> forced;
  std::vector<bool> stays(media.origins.size(), true);
  for (std::size_t token = 0; token < media.origins.size(); ++token) {
    if (media.origins[token].row < 0) continue;  // newline or marker
    if (!pinned.empty() && pinned[token]) forced.push_back(static_cast<std::int32_t>(patches.size()));
    patches.push_back(static_cast<std::int64_t>(token));
    competing.push_back(importance[token]);
    stays[token] = false;
  }
  const std::int64_t keep = round_half_up(share * static_cast<double>(patches.size()));
  PrunedMedia pruned;
  pruned.pins_above_budget = std::ssize(forced) > keep;
  for (const std::int32_t index : select_rows(competing, std::max(keep, std::ssize(forced)), forced))
    stays[static_cast<std::size_t>(patches[static_cast<std::size_t>(index)])] = true;
  std::vector<std::int64_t> kept;
  for (std::size_t token = 0; token < stays.size(); ++token) {
    if (!stays[token]) continue;
    kept.push_back(static_cast<std::int64_t>(token));
    pruned.media.origins.push_back(media.origins[token]);
    if (!media.ids.empty()) pruned.media.ids.push_back(media.ids[token]);
  }
  pruned.media.features = media.features.index_select(0, numbers_on(media.features.device(), kept));
  return pruned;
}

}  // namespace winnow
