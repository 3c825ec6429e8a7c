// Stores a conversation's caches in a file, so that a later run of the program continues a thread without a new prefill.
//
// Safetensors: a JSON of the thread (`conversation`, bytes), and of each state K, V and the original indices of the slots as they lie in
// the cache, head after head, and what layers without slots keep (kv_cache/layer_states.h). The file names its model and hashes all
// tensors; it is renamed into place when complete. Restored caches continue bit-identically, with slots in their order. Used by engine/api
// for SaveConversation and LoadConversation. Errors: Exception; kCacheOutdated for another model, another version of the format, or media
// that have changed, kDamagedFile and those of the file system. Engine thread only.
#pragma once

#include <cstdint>
#include <string>

#include "engine/generation/context/request_context.h"
#include "engine/generation/requests/conversation_states.h"

namespace winnow {

// The bytes of K, V and states of what a file of these states holds.
std::int64_t bytes_kept(const ConversationStates& states);

// Writes prepared media, and the current state unless its method evicts or merges while decoding. model: any text that names it. Returns
// bytes_kept(). Returns 0 and writes no file if there is nothing to store, or more than `most_bytes`.
std::int64_t write_conversation(const std::string& path, const std::string& model, const ConversationStates& states,
                                std::int64_t most_bytes);

// Checks everything, also that the media's files are unchanged. A missing media file is no error: it is reported by a MediaSampled with
// NoticeCode::kFileGone.
ConversationStates read_conversation(const RequestContext& context, const std::string& path, const std::string& model);

}  // namespace winnow
