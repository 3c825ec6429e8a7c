// Fetches, layer by layer, the frames that fit a question, just before the layer reads it (phase retrieve).
//
// Used by context_turn.cpp around the question's prefill: before_layer() for every layer in order. The cache is a fork: what is not fetched
// stays in the state that the next question forks. A layer's queries come from running it once, with all rows that are new, on another
// fork; those of what was asked are compared (TurnSegment::words). Engine thread only. Errors: Exception, Interrupted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/segment_compression.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/recipes/recipe.h"

namespace winnow {

class FrameRetrieval {
 public:
  // working: its last tokens are the media's segment, whole; tokens: what is known of that. All must outlive it.
  FrameRetrieval(const RequestContext& context, const Recipe& recipe, const SegmentTokens& tokens, Conversation& working);
  FrameRetrieval(const FrameRetrieval&) = delete;
  FrameRetrieval& operator=(const FrameRetrieval&) = delete;

  // question: as it enters the layer.
  void before_layer(LayerId layer, const TurnSegment& question);
  SegmentCompression& compression() { return compression_; }
  double ms() const { return ms_; }  // of its own work, compaction apart

 private:
  std::vector<float> scores(LayerId layer, const TurnSegment& question) const;

  const RequestContext& context_;
  const Recipe& recipe_;
  const SegmentTokens& tokens_;
  Conversation& working_;
  SegmentCompression compression_;
  std::vector<std::int64_t> frames_;  // of the media's tokens: which picture each belongs to
  double ms_ = 0.0;
};

}  // namespace winnow
