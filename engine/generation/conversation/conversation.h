// The engine's state of a conversation: the cache, the origin of each token, and the messages that the cache holds.
//
// Owned by the engine. fork() is cheap because blocks are shared: a turn keeps the state before it for Cancel and for answering again, and
// each column of a comparison has its own. Engine thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/clone_ptr.h"
#include "engine/compression/decode_policy.h"
#include "engine/generation/conversation/position_list.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

struct Conversation {
  explicit Conversation(const KvShape& shape) : cache(shape), positions(shape.rotary.axes()) {}
  Conversation(Conversation&&) = default;
  Conversation& operator=(Conversation&&) = default;

  KvCache cache;
  std::vector<TokenOrigin> origins;       // by original token index
  std::vector<std::int64_t> token_ids;    // by original token index; media tokens have their placeholder's id or their own
  PositionList positions;                 // by original token index; a segment's are added when it is prepared
  std::int64_t pruned_tokens = 0;         // pruned before the decoder: without token indices and positions
  BeforeDecoder before;                   // what was left unread of its media
  std::int64_t next_position = 0;         // rotary position of the next token; never derived from the cache's size
  std::int32_t media_count = 0;           // images, videos and documents so far
  std::vector<std::string> media_hashes;  // per medium: name_of_content()
  std::vector<double> frame_s;            // per medium: FrameSeconds
  std::vector<MediaKind> media_kinds;     // per medium
  std::vector<std::int32_t> pinned;       // original indices of tokens that no method may drop, ascending
  std::vector<Pin> pins;                  // of the whole thread, as given in its turns
  std::vector<Message> thread;            // the cached messages; ends with the assistant's answer
  PromptSettings settings;                // given to the template for the last message
  CacheMakers makers;                     // the recipes that compressed the cache
  std::vector<std::int64_t> answer_ids;   // of the last answer, end token included
  bool answer_open = false;               // the answer reached its length: its last token is not cached
  ClonePtr<DecodePolicy> decode_policy;   // null: no eviction while decoding
  MergeState merge_state;
  bool compressed = false;  // an event with visual tokens has happened

  std::int32_t next_original() const { return static_cast<std::int32_t>(origins.size()); }
  // Tokens of an uncompressed cache.
  std::int64_t full_tokens() const { return next_original() + pruned_tokens; }

  Conversation fork() const { return *this; }

 private:
  Conversation(const Conversation&) = default;  // private, so that copies are explicit: fork()
};

}  // namespace winnow
