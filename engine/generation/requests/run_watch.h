// Prefills the next frames of a running source after the compressed earlier ones.
//
// The frames so far are kept as prepared media, so that a Turn about the source continues from them like one about a prepared video. Frames
// are encoded, appended and scored clip by clip (reading/clip_stream.h). When the model's positions would run out, all positions of the
// source are halved, and twice as many frames share each position from then on. The time instruction states the seconds between two
// positions, so times stay correct. Used by engine/api for WatchClip. Errors: Exception, Interrupted; then nothing has changed. Engine
// thread only.
#pragma once

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

// Emits Progress; returns what is to be emitted last.
Watched run_watch(const RequestContext& context, const WatchClip& clip, ConversationStates& states);

}  // namespace winnow
