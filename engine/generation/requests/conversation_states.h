// The states that the engine keeps per conversation, and the choice of the state from which a request continues.
//
// Used by engine/generation/requests and engine/api. Engine thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/generation/context/loaded_model.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/reading/clip_stream.h"
#include "engine/generation/reading/prepared_context.h"
#include "engine/messages/requests.h"
#include "engine/metrics/figures.h"

namespace winnow {

// One answer of the last comparison.
struct ComparedColumn {
  RecipeSpec recipe;
  Conversation state;
};

// A running source. Its cached frames are ConversationStates::prepared.
struct WatchedSource {
  ClipStream clips;
  std::int64_t frames = 0;  // seen so far
  StreamPositions stream;
};

struct ConversationStates {
  std::optional<Conversation> current;
  std::optional<Conversation> before_last;  // before the last question, for answering it again
  std::vector<ComparedColumn> columns;      // until the next turn
  // Guard ram: uncompressed, in host memory; up to and including the last question, and the one before.
  std::vector<Conversation> full;
  std::optional<PreparedContext> prepared;  // the last prepared media; any number of questions continue from them
  std::optional<WatchedSource> watched;     // valid while `prepared` is of this source
  std::vector<CompressionNote> told;        // notes given once per conversation, already given
};

// A turn goes on from one of these. rewritten: a state holds the earlier messages, but the template now renders them differently: they, or
// all text behind the prepared media, are prefilled again.
struct FromNothing {
  bool rewritten = false;
};
struct FromCut {
  const Conversation* state = nullptr;  // ends with the answer that is continued, but for its last token
};
struct FromCurrent {};
struct FromBeforeLast {};
struct FromColumn {
  std::size_t at = 0;
};
struct FromFull {
  std::size_t at = 0;
};
struct FromPrepared {
  bool rewritten = false;
};
using TurnStart = std::variant<FromNothing, FromCut, FromCurrent, FromBeforeLast, FromColumn, FromFull, FromPrepared>;
bool is_rewritten(const TurnStart& start);

// Finds what a turn (as_run()) goes on from, the same for its plan, its run and its score. A turn that continues an answer: the state that
// ends with it, of the same recipe. Any other: the state that holds the thread without its last message. Guard prefill selects none, guard
// ram the full cache (without the last answer). A state must have been made with the same pins, because compression has dropped what was
// not pinned then, and with the recipe's KV cache dtype (storage_of()). Among states with equal text it must be the one that
// Turn::goes_on_from names; if that is empty, the recipe's own column is preferred. Media prepared for the turn's recipe come first, if its
// prompt begins with what was read of them; under guards prefill and ram only for the thread's first question. A state cannot be continued
// if the chat template now renders its beginning differently (thread_text.h). If the thread's only media were prepared, they are still
// used, and all later text is prefilled again. Errors: Exception (a template that fails).
TurnStart start_of(const ConversationStates& states, const Turn& turn, const LoadedModel& model);
// The same of a turn whose last media are to be read anew.
TurnStart start_without_prepared(const ConversationStates& states, const Turn& turn, const LoadedModel& model);
// True if more frames of the turn's source can be read after those so far.
bool follows_watched(const ConversationStates& states, const Turn& turn, const LoadedModel& model);

// Says what becomes of the last token of an answer that reached its length, which is not cached.
enum class UnreadToken : int { kDecoded = 1, kCounted = 2 };  // counted: for a plan (count_step())

// A fork of it, or an empty conversation, for a new question. A full cache stays in host memory. For prepared media: a fork of their state.
// recipe: of the new question, for its KV cache dtype.
Conversation fork_start(const ConversationStates& states, const TurnStart& start, const VisionLanguageModel& network,
                        const RecipeSpec& recipe, UnreadToken unread = UnreadToken::kDecoded);
// Makes `answered` the current state, and keeps its start for answering the question again.
void keep_turn(ConversationStates& states, const TurnStart& start, Conversation answered);

// Moves `full` to host memory and keeps it, and its predecessor of the same thread.
void keep_full(ConversationStates& states, Conversation full);

// True if the conversation holds exactly this thread, then this answer.
bool holds_answer(const Conversation& conversation, std::span<const Message> thread, const Message& answer);

}  // namespace winnow
