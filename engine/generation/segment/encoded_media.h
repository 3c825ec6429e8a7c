// The media of a segment as embeddings: with subtitles and pins, without the tokens that a recipe prunes before the decoder.
//
// Used by prepare_segment(). Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/generation/segment/media_encoder.h"
#include "engine/messages/requests.h"
#include "engine/metrics/machine_speed.h"
#include "engine/recipes/recipe.h"

namespace winnow {

struct EncodedMedium {
  MediaFeatures features;
  std::vector<bool> pinned{};      // per token
  std::vector<TokenOrigin> all{};  // with those that are never read (RecipeSpec::before); empty: none was left out
};

struct EncodedMedia {
  std::vector<EncodedMedium> items;   // in thread order
  std::vector<MediaSampled> sampled;  // the same
  std::vector<std::string> hashes;    // the same: name_of_content()
  std::int64_t pruned_tokens = 0;
  bool pins_above_budget = false;
  TimingsMs timings;
  TurnWork work;  // of the vision tower
};

// first: the running number of the first of them. turn: its pins, and what its recipe leaves unread. recipe (may be null): prunes if it
// does so before the decoder. Emits Progress and MediaSampled. Errors: Exception, Interrupted.
EncodedMedia encode_media(const MediaEncoder& encoder, std::span<OpenedMedia> media, std::int32_t first, const Turn& turn,
                          const Recipe* recipe);

}  // namespace winnow
