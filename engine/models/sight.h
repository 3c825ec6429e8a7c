// A family's treatment of pictures and videos: the tokens that they become, their pixels, and what its vision encoder makes of them.
//
// A family derives from it in its own file (families/) and writes what differs: three functions, and those whose default is not its own.
// engine/generation calls them through vision_language_model.h. A model that reads text only has a plain Sight, which is given no media.
// Threads: engine thread; methods need c10::InferenceMode. Errors: Exception, Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/base/row_span.h"
#include "engine/base/token_origin.h"
#include "engine/media/frame_source.h"
#include "engine/models/decoder/text_decoder.h"
#include "engine/models/media_facts.h"
#include "engine/models/token_positions.h"
#include "engine/models/vision/medium_tokens.h"
#include "engine/models/vision/vision_judge.h"
#include "engine/vision/pixel_values.h"

namespace winnow {

// Embeddings of one image or video, in prompt order.
struct MediaFeatures {
  at::Tensor features;                 // [tokens, width], decoder dtype
  at::Tensor importance{};             // fp32 [tokens], 0 for newline embeddings; undefined without a VisionJudge
  std::vector<TokenOrigin> origins{};  // one per token; `media` is left at -1
  // Token ids of a document, or of a picture with text among its tokens (tile markers, frame times). Empty: all are placeholders.
  std::vector<std::int64_t> ids{};
};

// The tower's output for an image or consecutive frames. What a part is depends on the family: a tile, a frame, or joined frames.
struct EncodedParts {
  at::Tensor features;      // [parts, tokens of a part, width]
  at::Tensor importance{};  // fp32 [parts, tokens of a part]; undefined without a VisionJudge
};

class Sight {
 public:
  virtual ~Sight() = default;

  // The tokens of a medium, without running the tower; no ids where all are placeholders. A token's `frame` is the first of its joined
  // frames (ModelTraits::joined_frames).
  virtual MediumTokens tokens_of(const MediaFacts& facts) const;
  // pictures: the image, or consecutive frames of the video: a multiple of joined_frames, except at its end.
  virtual PixelValues pixels_of(const MediaFacts& facts, std::span<const RgbImage> pictures) const;
  virtual EncodedParts encode(const MediaFacts& facts, const PixelValues& pixels, std::optional<VisionJudge> judge,
                              const InterruptToken& interrupt) const;

  // Joins all parts of the medium: row by row into the tokens that stand for pixels, with the text model's embeddings between them.
  virtual MediaFeatures join(const MediaFacts& facts, const EncodedParts& parts, const TextDecoder& text) const;
  // Positions of consecutive tokens; one axis.
  virtual TokenPositions positions_for(const TokensToPlace& tokens) const;
  // Positions of a watched source's tokens, `frame` counted from its first. One axis, on which a frame takes all of its tokens.
  virtual TokenPositions positions_of_stream(std::span<const TokenOrigin> origins, const StreamPositions& stream) const;
  // Bidirectional spans among consecutive tokens: rows that attend to each other, later ones included. At least two rows each, ascending
  // (AttentionWindow).
  virtual std::vector<RowSpan> bidirectional_spans(std::span<const TokenOrigin> /*origins*/) const { return {}; }
  virtual TextAround text_around(const VideoTimes& /*video*/) const { return {}; }
  // images_before: in the thread.
  virtual TextAround text_around(const PictureSize& /*image*/, std::int64_t /*images_before*/) const { return {}; }
};

}  // namespace winnow
