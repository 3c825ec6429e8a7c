#include "engine/models/vision/medium_features.h"

#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"

namespace winnow {

at::Tensor shuffled_patches(const at::Tensor& of_patches, std::int64_t scale) {
  const auto patches = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(of_patches.size(1)))));
  const std::int64_t side = patches / scale;
  return of_patches.reshape({of_patches.size(0), side, scale, side, scale, of_patches.size(2)})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({of_patches.size(0), side * side, scale * scale * of_patches.size(2)});
}

MediaFeatures features_among_words(MediumTokens tokens, const EncodedParts& parts, const TextDecoder& text) {
  std::vector<std::int64_t> picture_tokens;
  for (std::size_t token = 0; token < tokens.origins.size(); ++token) {
    if (tokens.origins[token].row >= 0) picture_tokens.push_back(static_cast<std::int64_t>(token));
  }
  require(std::ssize(picture_tokens) == parts.features.size(0) * parts.features.size(1),
          "a medium's pictures and their tokens differ in number");
  MediaFeatures media;
  const at::Tensor at_tokens = numbers_on(parts.features.device(), picture_tokens);
  media.features = text.embed(at::tensor(tokens.ids, at::kLong)).index_copy(0, at_tokens, parts.features.flatten(0, 1));
  if (parts.importance.defined()) {
    media.importance =
        at::zeros({std::ssize(tokens.ids)}, parts.importance.options()).index_copy(0, at_tokens, parts.importance.flatten(0, 1));
  }
  media.origins = std::move(tokens.origins);
  media.ids = std::move(tokens.ids);
  return media;
}

MediaFeatures features_in_order(std::vector<TokenOrigin> origins, const EncodedParts& parts) {
  MediaFeatures media{.features = parts.features.flatten(0, 1)};
  if (parts.importance.defined()) media.importance = parts.importance.flatten();
  media.origins = std::move(origins);
  require(media.features.size(0) == std::ssize(media.origins), "a medium's tokens and their origins differ in number");
  return media;
}

TokenPositions stream_positions_of_pictures(std::span<const TokenOrigin> origins, const StreamPositions& stream, const FrameLayout& frame) {
  std::vector<std::int64_t> positions;
  std::int64_t next = stream.base_position;
  for (std::size_t first = 0; first < origins.size();) {
    std::size_t end = first;
    while (end < origins.size() && origins[end].frame == origins[first].frame) ++end;
    // Tokens before the very first frame are the prompt's text.
    const std::int64_t position = origins[first].frame / stream.frames_per_position;
    next = stream.base_position + position * frame.frame_tokens + frame.picture_tokens - static_cast<std::int64_t>(end - first);
    for (; first < end; ++first) positions.push_back(next++);
  }
  return {at::tensor(positions, at::kLong).unsqueeze(0), next};
}

}  // namespace winnow
