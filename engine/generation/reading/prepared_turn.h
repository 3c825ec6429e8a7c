// The way of a turn whose recipe compresses before the question: the media are read, probed and compressed; what is asked reads what is
// left.
//
// What the media leave does not depend on the question, so it can be made before there is one, serve any number of questions, and be kept
// on disk. A turn whose media are not prepared yet goes the same way in one go, and comes to the same numbers. Used by
// engine/generation/requests. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/prefill/ready_turn.h"
#include "engine/generation/prefill/turn_prefill.h"
#include "engine/generation/reading/prepared_context.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// Reads and compresses what `begun` holds of media; what is asked about them is left out. begun is used up unless this returns nothing: the
// recipe, of turn.recipe, has no event between media and question, or would leave everything. A trace gets its rows so far. Emits Progress.
// Errors: Exception, Interrupted.
std::optional<PreparedContext> prepare_context(const RequestContext& context, const Turn& turn, const Recipe& recipe, BegunTurn& begun);

// Whether these are the media of the turn's last message.
bool same_media(const std::vector<MediaSampled>& media, const Message& message);

// Up to and with the media, as a message without text.
std::vector<Message> media_thread(const PreparedContext& prepared);

// What the cache holds of the media alone.
CacheReport prepared_report(const PreparedContext& prepared);

// Reads the question of the turn that has just prepared its own media: their part is in its figures. `made` is left as a fork.
ReadyTurn ready_context_turn(const RequestContext& context, const Turn& turn, PreparedContext& made);

// Reads a question about media that were prepared before, behind a fork of them. None: the turn's prompt goes on otherwise than they were
// prepared for. Emits Progress and MediaSampled. Errors: Exception, Interrupted.
std::optional<ReadyTurn> ready_prepared_turn(const RequestContext& context, const Turn& turn, const PreparedContext& prepared);

// A turn that has one recipe to itself, whichever way it goes, from `start` in whatever memory. Emits Progress and MediaSampled. Errors:
// Exception, Interrupted.
ReadyTurn ready_single_turn(const RequestContext& context, const Turn& turn, const Recipe& recipe, Conversation start,
                            const ChooseFirst& first);

}  // namespace winnow
