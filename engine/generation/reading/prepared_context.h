// A conversation with the prefilled and compressed media of a message that is not sent yet.
//
// Made by a MediaReading, kept in ConversationStates, written by conversation_file.h. Any number of questions continue from forks of it.
// Engine thread only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/segment_compression.h"
#include "engine/generation/segment/segment_tokens.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"
#include "engine/metrics/machine_speed.h"

namespace winnow {

// The facts about prepared media beside their cache.
struct PreparedMedia {
  RecipeSpec recipe;     // as requested
  SegmentTokens tokens;  // of the new segment, up to and including the last visual one
  std::vector<MediaSampled> media;
  std::vector<std::string> contents;       // of the media, as requested (MediaRequest::content); empty: not known
  std::vector<std::int64_t> ids_to_media;  // as in TurnSegment
  MediaFeatures closing;                   // of a running source: the tokens that a question's prompt has after the last frame so far
  EventOutcome outcome;
  Description description;
  TimingsMs timings;  // 0 if loaded from a file
  TurnWork work;
};

struct PreparedContext : PreparedMedia {
  explicit PreparedContext(Conversation conversation, PreparedMedia media = {})
      : PreparedMedia(std::move(media)), state(std::move(conversation)) {}

  Conversation state;  // its thread: the messages before

  // Uncompressed, for phase retrieve: every question retrieves from it and prefills the later text again.
  bool is_fetched_from() const;
  MediaRead read() const { return {media, ids_to_media, &closing, is_fetched_from()}; }
  PreparedContext fork() const { return PreparedContext(state.fork(), *this); }
};

}  // namespace winnow
