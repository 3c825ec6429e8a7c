#include "engine/generation/segment/foreseen_positions.h"

#include <vector>

#include "engine/generation/segment/media_pruning.h"

namespace winnow {

std::int64_t foreseen_position(const VisionLanguageModel& network, const PromptSegment& prompt, std::span<const OpenedMedia> media,
                               std::int64_t next_position, const BeforeDecoder& before) {
  std::vector<TokenOrigin> origins;
  std::vector<std::int64_t> ids;
  std::vector<double> frame_s;
  for (const OpenedMedia& item : media) frame_s.push_back(item.frame_s());
  std::size_t next = 0;
  for (std::size_t i = 0; i < prompt.token_ids.size(); ++i) {
    if (next == prompt.media_at.size() || prompt.media_at[next] != i) {
      origins.emplace_back();
      ids.push_back(prompt.token_ids[i]);
      continue;
    }
    const std::size_t item = prompt.media_item[next++];
    if (media[item].request.kind == MediaKind::kImage) continue;
    std::vector<TokenOrigin> all = foreseen_origins(network, media[item]);
    if (network.info().traits.position_axes == 1) drop_unread(all, media[item].request.kind, before, {});
    for (TokenOrigin& origin : all) {
      origin.media = static_cast<std::int32_t>(item);
      origins.push_back(origin);
    }
    ids.resize(origins.size(), prompt.token_ids[i]);
  }
  return network.positions_for({origins, next_position, frame_s, ids}).next_position;
}

}  // namespace winnow
