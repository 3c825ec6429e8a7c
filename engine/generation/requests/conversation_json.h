// The JSON part of a stored conversation: thread, media, recipe, report of the event.
//
// Used by conversation_file.h. It is the form (messages/field_values.h) of kept files: bytes that need not be UTF-8 (paths, pieces of
// words) are hexadecimal. Reading refuses wrong types and ranges with kDamagedFile by the path of the field; what a file lacks keeps its
// default. Pure.
#pragma once

#include "engine/base/json_document.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/reading/prepared_context.h"
#include "engine/messages/field_values.h"

namespace winnow {

// All of a conversation except its cache and per-token data.
Json conversation_json(const Conversation& conversation);
void read_conversation_json(const Json& from, const fields::Path& at, Conversation& conversation);

// All of prepared media except their conversation and per-token data.
Json prepared_json(const PreparedContext& prepared);
void read_prepared_json(const Json& from, const fields::Path& at, PreparedContext& prepared);

}  // namespace winnow
