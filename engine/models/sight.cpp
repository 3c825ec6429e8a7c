#include "engine/models/sight.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/models/vision/medium_features.h"

namespace winnow {
namespace {

[[noreturn]] void refuse_media() { throw Exception(ErrorCode::kInternal, "", "a model that reads text only was given media"); }

}  // namespace

MediumTokens Sight::tokens_of(const MediaFacts&) const { refuse_media(); }

PixelValues Sight::pixels_of(const MediaFacts&, std::span<const RgbImage>) const { refuse_media(); }

EncodedParts Sight::encode(const MediaFacts&, const PixelValues&, std::optional<VisionJudge>, const InterruptToken&) const {
  refuse_media();
}

MediaFeatures Sight::join(const MediaFacts& facts, const EncodedParts& parts, const TextDecoder& text) const {
  MediumTokens tokens = tokens_of(facts);
  return tokens.ids.empty() ? features_in_order(std::move(tokens.origins), parts) : features_among_words(std::move(tokens), parts, text);
}

TokenPositions Sight::positions_for(const TokensToPlace& tokens) const {
  return one_axis_positions(std::ssize(tokens.origins), tokens.next_position);
}

TokenPositions Sight::positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const {
  return one_axis_stream_positions(origins, stream, std::ssize(origins));
}

}  // namespace winnow
