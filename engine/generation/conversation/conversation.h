// What the engine remembers of one conversation: the cache, where each token came from, and which messages the cache stands for.
//
// Owned by the engine. fork() is cheap (blocks are shared): a turn keeps the state before it for Cancel and for answering again, a
// comparison gives every column its own. Engine thread only.
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
  std::vector<std::int64_t> token_ids;    // by original token index; media tokens hold their placeholder's id or their own
  PositionList positions;                 // by original token index; those of a segment from its placing on
  std::int64_t pruned_tokens = 0;         // of the prompts, that never reached the decoder: no token indices, no positions
  std::int64_t next_position = 0;         // rotary position of the next token; never derived from the cache's size
  std::int32_t media_count = 0;           // running number of images and videos
  std::vector<std::string> media_hashes;  // of each of them: name_of_content()
  std::vector<double> frame_s;            // of each of them: FrameSeconds
  std::vector<MediaKind> media_kinds;     // of each of them
  std::vector<std::int32_t> pinned;       // original indices of tokens that no method may drop, ascending
  std::vector<Pin> pins;                  // that it was made with, of the whole thread
  std::vector<Message> thread;            // what the cache holds; ends with the assistant's answer
  PromptSettings settings;                // that the template was given for the last of it
  CacheMakers makers;                     // which recipes made it what it is
  std::vector<std::int64_t> answer_ids;   // of the last answer, the token that ended it included
  bool answer_open = false;               // its last token was not read: it was as long as it was allowed to be
  ClonePtr<DecodePolicy> decode_policy;   // none: the answer only appends
  MergeState merge_state;
  bool compressed = false;  // an event with visual tokens has happened

  std::int32_t next_original() const { return static_cast<std::int32_t>(origins.size()); }
  // What an uncompressed cache would hold.
  std::int64_t full_tokens() const { return next_original() + pruned_tokens; }

  Conversation fork() const { return *this; }

 private:
  Conversation(const Conversation&) = default;  // by its name only: a copy should be meant
};

}  // namespace winnow
