// Retrieves, layer by layer, the frames that match a question, just before the layer is prefilled with it (phase retrieve).
//
// Used around the question's prefill: call before_layer() for every layer in order. The cache is a fork, so frames that are not retrieved
// stay available for the next question. A layer's queries come from running it once, with all new rows, on another fork; only the queries
// of the user's words are compared (TurnSegment::words). Engine thread only. Errors: Exception, Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/segment_compression.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/recipes/recipe.h"

namespace winnow {

class FrameRetrieval {
 public:
  // working: ends with the uncompressed media segment; tokens: of that segment. All must outlive it.
  FrameRetrieval(const RequestContext& context, const Recipe& recipe, const SegmentTokens& tokens, Conversation& working);
  FrameRetrieval(const FrameRetrieval&) = delete;
  FrameRetrieval& operator=(const FrameRetrieval&) = delete;

  // question: with the layer's input as its hidden states.
  void before_layer(LayerId layer, const TurnSegment& question);
  SegmentCompression& compression() { return compression_; }
  double ms() const { return ms_; }  // of its own work, without compaction

 private:
  std::vector<float> scores(LayerId layer, const TurnSegment& question) const;

  const RequestContext& context_;
  const Recipe& recipe_;
  const SegmentTokens& tokens_;
  Conversation& working_;
  SegmentCompression compression_;
  std::vector<std::int64_t> frames_;  // per media token: its picture
  double ms_ = 0.0;
};

}  // namespace winnow
