// A conversation that has read, and compressed, the media of a message that is still to come.
//
// Made by a MediaReading, kept in ConversationStates, written by conversation_file.h; any number of questions go on from forks of it.
// Engine thread only.
#pragma once

#include <cstdint>
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

// What is known of the media beside the conversation that holds them.
struct PreparedMedia {
  RecipeSpec recipe;     // as it was asked for
  SegmentTokens tokens;  // of the new segment, up to and with the last visual one
  std::vector<MediaSampled> media;
  std::vector<std::int64_t> ids_to_media;  // as in TurnSegment
  MediaFeatures closing;                   // of a source that is still running: what a question's prompt has after the last frame so far
  EventOutcome outcome;
  Description description;
  TimingsMs timings;  // that it took; nothing for one that was read from a file
  TurnWork work;
};

struct PreparedContext : PreparedMedia {
  explicit PreparedContext(Conversation conversation, PreparedMedia media = {})
      : PreparedMedia(std::move(media)), state(std::move(conversation)) {}

  Conversation state;  // its thread: the messages before

  // Nothing has left: every question fetches from it, and reads the text since then again.
  bool is_fetched_from() const;
  MediaRead read() const { return {media, ids_to_media, &closing, is_fetched_from()}; }
  PreparedContext fork() const { return PreparedContext(state.fork(), *this); }
};

}  // namespace winnow
