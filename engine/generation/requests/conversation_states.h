// What the engine keeps per conversation, and from which of it a request goes on.
//
// Used by engine/generation/requests and engine/api. Engine thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
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

// A source that is still running. What was seen of it is ConversationStates::prepared.
struct WatchedSource {
  ClipStream clips;
  std::int64_t frames = 0;  // seen so far
  StreamPositions stream;
};

struct ConversationStates {
  std::optional<Conversation> current;
  std::optional<Conversation> before_last;  // before the last question, for answering it again
  std::vector<ComparedColumn> columns;      // until the next turn
  // Guard ram: uncompressed, in host memory, each up to and with a question, without its answer: the last question and the one before.
  std::vector<Conversation> full;
  std::optional<PreparedContext> prepared;  // the last media that were compressed before a question; any number of questions go on from it
  std::optional<WatchedSource> watched;     // goes on while `prepared` is about it
  std::vector<CompressionNote> told;        // of those that are said once
};

struct TurnStart {
  enum class From : int { kNothing = 1, kCurrent = 2, kBeforeLast = 3, kColumn = 4, kFull = 5, kPrepared = 6 };
  From from = From::kNothing;
  std::size_t at = 0;  // of columns, or of full
  // A state holds what comes before the question, and the template writes that otherwise now: it is read again.
  bool rewritten = false;
};

// The state that holds all of the turn's thread but its last message, as its guard has it: nothing under guard prefill, the full cache
// (without the last answer) under guard ram. Made with the same pins: compression has dropped what was not pinned then, so other pins of
// earlier media need everything to be read again. Stored as the turn's recipe says for this network (storage_of()), or everything is read
// again, too. Of states with the same words, the one that Turn::goes_on_from names, or none; where it names none, of columns the recipe's
// own. Media that are prepared for the turn's recipe come first; under guards prefill and ram only for the thread's first question. A state
// whose beginning the chat template writes otherwise once the thread goes on (thread_text.h) is none to go on from; where the thread's only
// media were prepared, they still are: all text since is read again.
TurnStart start_of(const ConversationStates& states, const Turn& turn, const LoadedModel& model);
TurnStart start_without_prepared(const ConversationStates& states, const Turn& turn, const LoadedModel& model);
// A fork of it, or an empty conversation, for a new question. The last token of an answer that was cut at its length is read here: nobody
// has yet. A full cache still lies in host memory. Of prepared media: a fork of what comes before a question about them.
// recipe: how the new question's cache is stored.
Conversation fork_start(const ConversationStates& states, const TurnStart& start, const VisionLanguageModel& network,
                        const RecipeSpec& recipe);
// The same to be counted, and not to be read behind: that token takes its place without the network (count_step()).
Conversation foreseen_start(const ConversationStates& states, const TurnStart& start, const VisionLanguageModel& network,
                            const RecipeSpec& recipe);
// `answered` went well: it is the present state now, and where it started is what the question can be asked again from.
void keep_turn(ConversationStates& states, const TurnStart& start, Conversation answered);

// Moves `full` to host memory and keeps it and what came before it in the same thread.
void keep_full(ConversationStates& states, Conversation full);

// The state that holds the turn's thread and the cut answer that it goes on from (Turn::answer_begun), made with the same pins and stored
// as its recipe says: its cache wants that answer's last token only. Null: there is none.
const Conversation* cut_answer_of(const ConversationStates& states, const Turn& turn, const VisionLanguageModel& network);

// The conversation holds exactly this thread and then this answer.
bool holds_answer(const Conversation& conversation, std::span<const Message> thread, const Message& answer);

}  // namespace winnow
