#include "engine/generation/segment/encoded_media.h"

#include <optional>
#include <utility>

#include "engine/generation/segment/media_pruning.h"
#include "engine/generation/segment/turn_pins.h"

namespace winnow {

EncodedMedia encode_media(const MediaEncoder& encoder, std::span<OpenedMedia> media, std::int32_t first, const Turn& turn,
                          const Recipe* recipe) {
  const std::optional<VisionJudge> judge = recipe != nullptr ? vision_judge(*recipe) : std::nullopt;
  const std::int64_t joined = encoder.joined_frames();
  EncodedMedia encoded;
  for (std::size_t i = 0; i < media.size(); ++i) {
    const MediaRequest& request = media[i].request;
    const double vision_before = encoded.timings.vision;
    const std::int32_t number = first + static_cast<std::int32_t>(i);
    EncodedSource source = encoder.encode(media[i], encoding_of(turn, judge, number), encoded.timings);
    EncodedMedium medium{.features = std::move(source.features)};
    encoded.work.video_frames += source.encoded_frames;
    if (request.kind == MediaKind::kImage && encoded.timings.vision > vision_before)
      encoded.work.image_tokens += std::ssize(medium.features.origins);
    const std::vector<double> standing = media[i].source->standing_until_s();
    const std::vector<bool> frames = pinned_frames(turn.pins, {number, request.kind, request.path, source.sampled.actual_s, standing});
    medium.pinned = pinned_tokens(frames, {request.kind, medium.features.origins, joined});
    if (judge && request.kind != MediaKind::kDocument) {
      const std::int64_t before = medium.features.features.size(0);
      const double share = recipe->composition().pruning->before_decoder(recipe->budget().retention);
      PrunedMedia pruned = pruned_media(medium.features, share, medium.pinned);
      encoded.pins_above_budget = encoded.pins_above_budget || pruned.pins_above_budget;
      medium.features = std::move(pruned.media);
      medium.pinned = pinned_tokens(frames, {request.kind, medium.features.origins, joined});
      encoded.pruned_tokens += before - medium.features.features.size(0);
    }
    if (turn.recipe.before.thins() && request.kind != MediaKind::kDocument) {
      medium.all = medium.features.origins;
      PrunedMedia thinned = thinned_media({medium.features, request.kind, medium.pinned, encoder.model().text().hidden_size()}, turn.recipe,
                                          encoder.interrupt());
      encoded.pins_above_budget = encoded.pins_above_budget || thinned.pins_above_budget;
      medium.features = std::move(thinned.media);
      medium.pinned = pinned_tokens(frames, {request.kind, medium.features.origins, joined});
      encoded.pruned_tokens += std::ssize(medium.all) - std::ssize(medium.features.origins);
    }
    // Subtitles come after the pruning, which is of pictures.
    if (!media[i].subtitles.lines.empty()) {
      medium.features = with_subtitles(encoder.model(), std::move(medium.features), media[i].subtitles);
      if (!medium.all.empty()) medium.all = with_subtitles(medium.all, media[i].subtitles);
      medium.pinned = pinned_tokens(frames, {request.kind, medium.features.origins, joined});
    }
    encoded.items.push_back(std::move(medium));
    encoded.sampled.push_back(std::move(source.sampled));
    encoded.hashes.push_back(std::move(source.content_hash));
  }
  return encoded;
}

}  // namespace winnow
