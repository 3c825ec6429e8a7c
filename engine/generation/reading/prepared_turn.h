// Turns whose recipe compresses before the question: the media are prefilled, probed and compressed, then the question is prefilled.
//
// The compressed media do not depend on the question. They can be prepared in advance, serve any number of questions, and be kept on disk.
// A turn whose media are not prepared yet takes the same steps with bit-identical results. Used by engine/generation/requests. Engine
// thread only.
#pragma once

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

// Prefills and compresses the media of `begun`, without the question. Returns nullopt, leaving begun intact, if turn.recipe has no event
// between media and question or would keep everything; otherwise consumes begun. Fills a trace's rows so far. Emits Progress. Errors:
// Exception, Interrupted.
std::optional<PreparedContext> prepare_context(const RequestContext& context, const Turn& turn, const Recipe& recipe, BegunTurn& begun);

// True if these are the media of the turn's last message.
bool same_media(const PreparedMedia& prepared, const Message& message);

// The thread up to the media, which are a message without text.
std::vector<Message> media_thread(const PreparedContext& prepared);

// The report of the media alone.
CacheReport prepared_report(const PreparedContext& prepared);

// Prefills the question of a turn that has just prepared its own media, which its figures include. `made` is not modified.
ReadyTurn ready_context_turn(const RequestContext& context, const Turn& turn, PreparedContext& made);

// Prefills a question about media prepared earlier, on a fork. Requires that the turn starts from them (start_of()). Emits Progress and
// MediaSampled. Errors: Exception, Interrupted.
ReadyTurn ready_prepared_turn(const RequestContext& context, const Turn& turn, const PreparedContext& prepared);

// A turn with one recipe of any phase, from `start` in host or device memory. Emits Progress and MediaSampled. Errors: Exception,
// Interrupted.
ReadyTurn ready_single_turn(const RequestContext& context, const Turn& turn, const Recipe& recipe, Conversation start,
                            const ChooseFirst& first);

}  // namespace winnow
