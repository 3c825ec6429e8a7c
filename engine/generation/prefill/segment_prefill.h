// Runs a prepared segment through the decoder, layer by layer, while an observer watches.
//
// Used by TurnRunner and ComparisonRunner. Errors: Exception, Interrupted (the conversation is then of no use). Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "engine/base/interrupt.h"
#include "engine/compression/token_pruner.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/messages/events.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

enum class LogitRows : int { kLast = 1, kAll = 2 };

struct SegmentPrefill {
  at::Tensor logits;        // fp32 [rows, vocabulary]
  double elapsed_ms = 0.0;  // with what the observer and after_layer took

  at::Tensor last_logits() const { return logits.select(0, logits.size(0) - 1).clone(); }
};

// Appends the segment's K and V to working's cache and moves its position on. pruner (may be null): judges in its layers instead of the
// observer, then its rows leave. segment.hidden is empty afterwards. observer may be null;
// after_layer (may be empty) runs after each layer with the number of layers done: compaction of a finished layer is safe there.
SegmentPrefill prefill_segment(const TextDecoder& text, TurnSegment& segment, Conversation& working, PrefillObserver* observer,
                               TokenPruner* pruner, const std::function<void(std::int64_t layers_done)>& after_layer, LogitRows rows,
                               const EmitEvent& emit, const InterruptToken& interrupt);

}  // namespace winnow
