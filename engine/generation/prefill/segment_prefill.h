// Runs a prepared segment through the decoder, layer by layer, while an observer watches.
//
// Used by TurnPrefill. Errors: Exception, Interrupted (the conversation is then unusable). Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "engine/compression/token_pruner.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/layers/attention_window.h"

namespace winnow {

enum class LogitRows : int { kLast = 1, kAll = 2, kNone = 3 };

struct SegmentPrefill {
  at::Tensor logits;        // fp32 [rows, vocabulary]; undefined if none were requested
  double elapsed_ms = 0.0;  // hooks included

  at::Tensor last_logits() const { return logits.select(0, logits.size(0) - 1).clone(); }
};

// Participants of a prefill; each may be missing.
struct PrefillHooks {
  PrefillObserver* observer = nullptr;
  TokenPruner* pruner = nullptr;                                // observes its layers instead of the observer, then prunes rows
  std::function<void(std::int64_t layers_done)> after_layer{};  // compaction of a finished layer is safe there
  std::function<void(LayerId layer, const TurnSegment& segment)> before_layer{};
  bool says_progress = true;  // false: the segment is one of many
  int pass = 0;               // of `passes` over the segment
  int passes = 1;
  AttentionWindow window{};
};

// Appends the segment's K and V to working's cache and advances its position. segment.hidden is empty afterwards. Emits Progress.
SegmentPrefill prefill_segment(const RequestContext& context, TurnSegment& segment, Conversation& working, const PrefillHooks& hooks,
                               LogitRows rows);

}  // namespace winnow
