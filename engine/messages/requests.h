// The requests to the engine: plain values, no torch, no Qt, no pointers to shared state.
//
// Written by app/engine/host and the terminal program, read by engine/api/engine.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/media/frame_source.h"
#include "engine/messages/cache_maker.h"
#include "engine/models/load_settings.h"
#include "engine/recipes/recipe_spec.h"
#include "engine/sampling/sampling.h"

namespace winnow {

using RequestId = std::uint64_t;
using ConversationId = std::uint64_t;
// A new chat before its first question. Media prepared for it go to the conversation whose first turn matches them.
inline constexpr ConversationId kDraftConversation = 0;

enum class Role : int { kSystem = 1, kUser = 2, kAssistant = 3 };

struct TextItem {
  std::string text;  // UTF-8
};
struct MediaItem {
  MediaRequest media;
};
using Item = std::variant<TextItem, MediaItem>;

struct Message {
  Role role = Role::kUser;
  std::vector<Item> items;  // in prompt order; media before text is usual
  // For an answer: the model's reasoning before it, without its markers. The chat template decides what later turns see of it.
  std::string thought{};
};

// Says if a model thinks before it answers, if its chat template has a switch for it.
enum class Thinking : int { kAsTheTemplateHasIt = 1, kOn = 2, kOff = 3 };

// Without the chat template, a thread is one message of text: the prompt, with its special tokens. What follows it is not split into
// reasoning and answer.
enum class PromptForm : int {
  kChatTemplate = 1,
  kPlainText = 2,  // behind what the tokenizer puts before every text
  kBareText = 3,   // behind nothing
};

// How a thread becomes a prompt: what the chat template is given beside the messages.
struct PromptSettings {
  Thinking thinking = Thinking::kAsTheTemplateHasIt;
  std::string day{};  // the conversation's first day, "2026-11-27", for templates that write a date; empty: none
  PromptForm form = PromptForm::kChatTemplate;

  friend bool operator==(const PromptSettings&, const PromptSettings&) = default;
};

struct LoadModel {
  std::string folder;  // or a GGUF file, or where a server's model is (app/engine/remote/server_address.h)
  Device device = Device::kAuto;
  WeightFormat format = WeightFormat::kAuto;
  VisionFormat vision = VisionFormat::kAuto;
  std::string projector{};  // of a GGUF model: its mmproj file; empty: the one beside it, if any
};

// Decides what a new question sees of the tokens that compression dropped for earlier questions.
enum class Guard : int {
  kKeep = 1,     // nothing: it continues from the compressed cache
  kPrefill = 2,  // everything: the whole thread is prefilled again and compressed for the new question
  kRam = 3,      // everything: the full cache stays in host memory and is compressed anew for the new question
  kAlone = 4,    // the media alone, as if it were the first question: free if the recipe compresses before the question, else a prefill
};

// Content that no method may drop: an image, a document, or the frames of a video with presentation times in [from_s, to_s].
struct Pin {
  std::int32_t media = 0;  // index among the thread's attachments, from 0 in prompt order
  double from_s = 0.0;     // compared with SampledFrame::actual_s, both ends included; ignored unless a video
  double to_s = std::numeric_limits<double>::infinity();

  friend bool operator==(const Pin&, const Pin&) = default;
};

// The chat template's setting for a limit on reasoning tokens.
inline Thinking thinking_of(const Sampling& sampling) {
  if (sampling.thought_tokens == Sampling::kAsManyThoughtsAsTheModel) return Thinking::kAsTheTemplateHasIt;
  return sampling.thought_tokens == 0 ? Thinking::kOff : Thinking::kOn;
}

// One question. `messages` is the whole thread, ending with the user's message. The engine continues from its cache if the earlier
// messages and their media's pins are the cached ones; otherwise it prefills the whole thread.
struct Turn {
  ConversationId conversation = 0;
  std::vector<Message> messages{};
  Sampling sampling{};
  RecipeSpec recipe{};
  Guard guard = Guard::kKeep;
  std::vector<Pin> pins{};  // of the whole thread
  // The beginning of the answer: an interrupted answer to this question, to be continued. The engine continues from that answer's cache if
  // it still exists; otherwise it prefills the question and this text. Empty: a new answer.
  std::string answer_begun{};
  PromptSettings prompt{};
  // The makers of the cache that wrote the thread's last answer, from its CacheReport. The engine continues from no other cache of the same
  // text; if that one is gone, it prefills the whole thread. Empty: any cache.
  CacheMakers goes_on_from{};
  // When the user asked: TTFT counts from here (AskedClock). Epoch: when the engine begins.
  std::chrono::steady_clock::time_point asked{};
  // The reasoning before answer_begun. If answer_begun is empty, the reasoning itself continues.
  std::string thought_begun{};
};
inline bool begins_anew(const Turn& turn) { return turn.answer_begun.empty() && turn.thought_begun.empty(); }

// Estimates a turn without running it: answered by Planned. Media are opened and probed, not decoded.
struct Plan {
  Turn turn;
};

// Prefills and compresses the media of the turn's last message as far as the recipe can without a question. Any number of Turns with the
// same earlier messages, media, recipe and pins continue from there. The message's text is ignored.
struct Prepare {
  Turn turn;
};

// The next frames of a running source. The turn is as for Prepare: the only medium of its last message names the source (path: any text;
// kind video; plan: every_s). Its recipe compresses the cache to a number of slots after every clip. A Turn with the same earlier
// messages, source, recipe and pins is then answered about all frames so far, as about a prepared video; more clips may follow. Answered
// by Watched. An interrupted clip changes nothing.
struct WatchClip {
  Turn turn;
  bool begins = false;                 // a new stream; false: these follow the source's earlier clips
  std::vector<SampledFrame> frames{};  // at least one; asked_s ascends over all clips in steps of plan.every_s; sizes may differ
};

enum class ExportLogits : int { kLastPosition = 1, kAllPositions = 2 };

// Runs the turn and writes its inputs and outputs as a safetensors file for checks in Python: input_ids, position_ids,
// pixel_values / pixel_values_videos, visual_features, logits, generated, kept.<layer>.<kv head>.
struct ExportTurn {
  Turn turn;
  std::string path{};
  ExportLogits logits = ExportLogits::kLastPosition;
};

// Says if a comparison's answers are scored against the full cache: two more passes over each answer.
enum class ColumnScores : int { kNone = 1, kAll = 2 };

// Columns are decoded one after the other, each at its true speed, or one token each in turn, to watch them side by side.
enum class ColumnOrder : int { kOneAfterAnother = 1, kInterleaved = 2 };

// One question answered under several recipes from one vision pass and one prefill. The whole thread is prefilled anew as one segment, so
// that every recipe compresses all of it. Recipes that cannot share a prefill run alone, from the prepared media of a first question. The
// conversation is unchanged; a Turn after one of the answers continues from that column's cache.
struct Compare {
  static constexpr std::size_t kMostRecipes = 8;

  ConversationId conversation = 0;
  std::vector<Message> messages{};  // as in Turn
  Sampling sampling{};
  std::vector<RecipeSpec> recipes{};  // 1 to kMostRecipes
  ColumnScores scores = ColumnScores::kAll;
  ColumnOrder order = ColumnOrder::kOneAfterAnother;
  std::vector<Pin> pins{};  // as in Turn
  PromptSettings prompt{};  // as in Turn
};

enum class StopReason : int { kStopToken = 1, kLength = 2, kStopString = 3, kInterrupted = 4 };

// Scores the answer to `turn` (or any other text) against the full cache of the whole thread, which is prefilled anew: a teacher-forced
// pass. The conversation is unchanged.
struct Score {
  Turn turn;              // ends with the question; of an answer: with the recipe, guard and sampling that it was written under
  std::string answer{};   // an answer that a cache in memory ends with is scored by its own tokens; any other text is encoded
  std::string thought{};  // before it
  // How the model ended the answer. Absent: a text that the model did not write; then both caches' choices are compared, not its tokens.
  std::optional<StopReason> ended{};
};

// Writes a conversation's caches to a file, from which a later run of the program continues. Answered by Saved.
struct SaveConversation {
  ConversationId conversation = 0;
  std::string path;
  std::string model;                                                   // any text that names the loaded model
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();  // of K and V; a larger cache is not written
};

// Replaces a conversation's caches by such a file. Answered by Restored. Failed with kCacheOutdated if the file is of another model or its
// media have changed since; the conversation is then unchanged.
struct LoadConversation {
  ConversationId conversation = 0;
  std::string path;
  std::string model;
};

// Frees the caches of a conversation.
struct ForgetConversation {
  ConversationId conversation = 0;
};

// The tokens of a prompt without attachments. Answered by Tokenized.
struct Tokenize {
  std::vector<Message> messages;
  PromptSettings prompt{};
};

// The text of tokens. Answered by Tokenized. Failed with kInvalidArgument if the vocabulary has no such token.
struct Detokenize {
  std::vector<std::int64_t> tokens;
};

// The words of a sound, as lines with times. Answered by LinesHeard as it goes on, then by Transcribed. The speech model is loaded beside
// the other one and kept until another is asked for or a LoadModel comes. Stop keeps the lines so far.
struct Transcribe {
  std::string path{};      // a video, or a file of sound alone
  std::string content{};   // as MediaRequest::content
  std::string model;       // a speech model's folder
  std::string voice{};     // the file of the voice activity detector's weights; empty: all of the sound is decoded
  std::string language{};  // "en"; empty: the sound's own
  Device device = Device::kAuto;
  WeightFormat format = WeightFormat::kAuto;  // auto: as stored, in fp32 arithmetic on a CPU
  double heard_s = 0.0;                       // LinesHeard::heard_s of a request that was broken off; it goes on there
  std::vector<TimedLine> lines{};             // that it had told
};

using RequestBody = std::variant<LoadModel, Turn, ExportTurn, Compare, Score, Plan, Prepare, WatchClip, SaveConversation, LoadConversation,
                                 ForgetConversation, Tokenize, Detokenize, Transcribe>;

// The conversation whose state a request uses, replaces or frees. A new kind of request does not compile without its line here.
struct ConversationOf {
  ConversationId operator()(const LoadModel& /*load*/) const { return 0; }
  ConversationId operator()(const Turn& turn) const { return turn.conversation; }
  ConversationId operator()(const ExportTurn& /*traced*/) const { return 0; }  // uses and leaves no state
  ConversationId operator()(const Compare& compare) const { return compare.conversation; }
  ConversationId operator()(const Score& score) const { return score.turn.conversation; }
  ConversationId operator()(const Plan& plan) const { return plan.turn.conversation; }
  ConversationId operator()(const Prepare& prepare) const { return prepare.turn.conversation; }
  ConversationId operator()(const WatchClip& clip) const { return clip.turn.conversation; }
  ConversationId operator()(const SaveConversation& save) const { return save.conversation; }
  ConversationId operator()(const LoadConversation& load) const { return load.conversation; }
  ConversationId operator()(const ForgetConversation& forget) const { return forget.conversation; }
  ConversationId operator()(const Tokenize& /*tokenize*/) const { return 0; }
  ConversationId operator()(const Detokenize& /*detokenize*/) const { return 0; }
  ConversationId operator()(const Transcribe& /*transcribe*/) const { return 0; }
};
// 0: none, or the draft.
inline ConversationId conversation_of(const RequestBody& body) { return std::visit(ConversationOf{}, body); }

struct Request {
  RequestId id = 0;
  RequestBody body;
};

}  // namespace winnow
