// The uncached part of a thread, ready for the decoder: embeddings, positions, and the facts about its tokens.
//
// Made once per prefill by prepare_segment(), read by TurnPrefill. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/segment/media_encoder.h"
#include "engine/generation/segment/probe_prompts.h"
#include "engine/generation/segment/prompt.h"
#include "engine/generation/segment/segment_tokens.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/machine_speed.h"
#include "engine/recipes/recipe.h"

namespace winnow {

struct TurnSegment {
  at::Tensor hidden;               // [n, hidden]; replaced layer by layer and freed by the prefill
  at::Tensor positions;            // int64 [axes, n], on the model's device
  std::int64_t next_position = 0;  // after the segment
  // After its last medium, where that has positions of tokens that are never read; 0: as its rows say.
  std::int64_t position_after_media = 0;
  std::vector<std::int32_t> originals{};  // original token indices of the rows of `hidden`
  SegmentTokens tokens{};
  std::vector<MediaSampled> media{};         // in thread order
  std::vector<std::int64_t> ids_to_media{};  // of the prompt, up to and with its last placeholder; one for each medium
  ProbePrompts probe{};                      // for recipes that need one
  TokenRange words{};                        // rows of what was asked, where that is wanted; empty: not known
  bool pins_above_budget = false;            // where tokens were pruned before the decoder
  TimingsMs timings{};                       // of the media
  TurnWork work{};                           // what this segment takes, for predictions
};

// Opens media (headers first, so that a prompt that does not fit is refused before decoding), builds the prompt of the messages that
// `working` does not hold yet, and encodes the media. Adds the tokens to working's origins, ids and pins; its cache and position are left
// to the prefill. A recipe (may be null) that prunes before the decoder does so here. Emits Progress and MediaSampled. Errors: Exception,
// Interrupted.
TurnSegment prepare_segment(const RequestContext& context, const Turn& turn, const Recipe* recipe, Conversation& working);

// A segment and the conversation that is about to read it.
struct BegunTurn {
  Conversation conversation;
  TurnSegment segment;
  double elapsed_ms = 0.0;
};

// The same from `start`, in whatever memory, which goes to the model's device.
BegunTurn begin_turn(const RequestContext& context, const Turn& turn, const Recipe* recipe, Conversation start);

// Errors: kContextFull where a prompt that ends at this position leaves no room for the answer.
void require_context(const RequestContext& context, const Turn& turn, std::int64_t next_position);

// The part of the prompt before its first medium; no tokens: there is none. Added to `working` as above.
TurnSegment segment_before_media(const RequestContext& context, const PromptSegment& prompt, Conversation& working);

// Media that a conversation has read, all that the prompt has up to and with the last of them (ids_to_media). Borrowed.
struct MediaRead {
  std::span<const MediaSampled> media;
  std::span<const std::int64_t> ids_to_media;
  const MediaFeatures* closing = nullptr;  // of the last medium, and not read yet; null or empty: nothing
  bool wants_words = false;                // of questions about them: TurnSegment::words
};

// True if the thread's prompt begins with what was read of the media. thread.held: the conversation that has read them. Errors: Exception
// (a template that fails).
bool goes_on_behind(const ThreadToRead& thread, const MediaRead& read);

// The question about media that `working` holds. Requires that the turn's thread goes on behind them. Errors: Exception.
TurnSegment question_segment(const RequestContext& context, const Turn& turn, const MediaRead& read, Conversation& working);

}  // namespace winnow
