// The JSON part of a stored conversation: thread, media, recipe, report of the event.
//
// Used by conversation_file.h. Bytes that need not be UTF-8 (paths, pieces of words) are hexadecimal. Reading refuses wrong types and
// ranges with kDamagedFile; every field is written, so what is read equals what was written. Pure.
#pragma once

#include <string>

#include "engine/base/json_document.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/reading/prepared_context.h"

namespace winnow {

// All of a conversation except its cache and per-token data.
Json conversation_json(const Conversation& conversation);
void read_conversation_json(const JsonObject& from, Conversation& conversation);

// All of prepared media except their conversation and per-token data.
Json prepared_json(const PreparedContext& prepared);
void read_prepared_json(const JsonObject& from, PreparedContext& prepared);

}  // namespace winnow
