// Reads the next frames of a source that is still running, behind what is left of the earlier ones.
//
// What was seen so far is kept as prepared media, so that a Turn about the source goes on from it as about a prepared video. Frames are
// encoded, appended and judged clip by clip (reading/clip_stream.h). Where the model's positions would not suffice, places are shared: all
// positions of the source are halved, and from then on twice as many frames stand at one place; the time line tells the model how far two
// places are apart, so that times stay right. Used by engine/api for WatchClip. Errors: Exception, Interrupted; then nothing has changed.
// Engine thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Emits Progress; returns what is to be emitted last.
Watched run_watch(const RequestContext& context, const WatchClip& clip, ConversationStates& states);

}  // namespace winnow
