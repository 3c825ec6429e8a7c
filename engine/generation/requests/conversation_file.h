// A conversation's caches as a file, so that a thread goes on after the program was closed without its media being read again.
//
// Safetensors: a JSON of the thread (`conversation`, bytes), and of each state K, V and the original indices of the slots as they lie in
// the cache, head after head. The file names the model that it was made with and hashes all of its tensors; it appears under its name when
// it is complete. What was kept is gone on from bit by bit: slots are put back in their order. Used by engine/api for SaveConversation and
// LoadConversation. Errors: Exception; kCacheOutdated for another model, another version of the format, or media that have changed,
// kDamagedFile and those of the file system. Engine thread only.
#pragma once

#include <cstdint>
#include <string>

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"

namespace winnow {

// What can be kept of them: the present state unless its method goes on removing or merging slots, and prepared media. model: any text that
// names it. Returns the bytes of K and V written; 0: there is nothing that can be kept, or it is more than `most_bytes`, and no file is
// made.
std::int64_t write_conversation(const std::string& path, const std::string& model, const ConversationStates& states,
                                std::int64_t most_bytes);

// Checks everything, also that the media's files are still those that were read. Of one that is not there any more a MediaSampled with
// NoticeCode::kFileGone is told, and the cache is gone on from.
ConversationStates read_conversation(const RequestContext& context, const std::string& path, const std::string& model);

}  // namespace winnow
