#include "engine/models/medium_tokens.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

MediaFeatures among_words(const TextDecoder& text, MediumTokens tokens, const EncodedParts& parts) {
  std::vector<std::int64_t> places;
  for (std::size_t token = 0; token < tokens.origins.size(); ++token) {
    if (tokens.origins[token].row >= 0) places.push_back(static_cast<std::int64_t>(token));
  }
  require(std::ssize(places) == parts.features.size(0) * parts.features.size(1), "a medium's pictures and their tokens differ in number");
  MediaFeatures media;
  const at::Tensor at_tokens = at::tensor(places, at::kLong).to(parts.features.device());
  media.features = text.embed(at::tensor(tokens.ids, at::kLong)).index_copy(0, at_tokens, parts.features.flatten(0, 1));
  if (parts.importance.defined()) {
    media.importance =
        at::zeros({std::ssize(tokens.ids)}, parts.importance.options()).index_copy(0, at_tokens, parts.importance.flatten(0, 1));
  }
  media.origins = std::move(tokens.origins);
  media.ids = std::move(tokens.ids);
  return media;
}

}  // namespace winnow
