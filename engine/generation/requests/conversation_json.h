// What a stored conversation says beside its tensors, as JSON: thread, media, recipe, what the event had to tell.
//
// Used by conversation_file.h. Bytes that need not be UTF-8 (paths, pieces of words) are hexadecimal. Reading refuses wrong types and
// ranges with kDamagedFile; every field is written, so what is read equals what was written. Pure.
#pragma once

#include <string>

#include "engine/base/json_document.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/reading/prepared_context.h"

namespace winnow {

// All of a conversation but its cache and what is known of each token.
Json conversation_json(const Conversation& conversation);
void read_conversation_json(const JsonObject& from, Conversation& conversation);

// All of prepared media but their conversation and their tokens' names.
Json prepared_json(const PreparedContext& prepared);
void read_prepared_json(const JsonObject& from, PreparedContext& prepared);

}  // namespace winnow
