// What may be asked of the engine: plain values, no torch, no Qt, no pointers to shared state.
//
// Written by app/engine_host and the terminal program, read by engine/api/engine.h. The same messages are meant to cross a pipe later.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "engine/media/frame_source.h"
#include "engine/messages/cache_maker.h"
#include "engine/recipes/recipe_spec.h"
#include "engine/sampling/sampling.h"

namespace winnow {

using RequestId = std::uint64_t;
using ConversationId = std::uint64_t;
// Of a thread that is still being written for the first time: what is prepared for it goes to the conversation whose first turn fits it.
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
  // Of an answer: what the model thought before it, without the marks around it. The chat template decides what later turns see of it.
  std::string thought{};
};

// Whether a model thinks before it answers, where its chat template has a switch for it.
enum class Thinking : int { kAsTheTemplateHasIt = 1, kOn = 2, kOff = 3 };

// What a conversation tells its model's chat template beside its messages.
struct PromptSettings {
  Thinking thinking = Thinking::kAsTheTemplateHasIt;
  std::string day{};  // the day it began, "2026-11-27", for templates that write a date; empty: they are given none

  friend bool operator==(const PromptSettings&, const PromptSettings&) = default;
};

enum class Device : int { kAuto = 1, kCpu = 2, kCuda = 3 };
// auto: as stored on a GPU; bf16 on a CPU that has it, else fp32; blocks of few bits as they are stored. int8, int4: as auto, and the
// decoder's matrices that are stored as numbers are rounded to so many bits.
enum class WeightFormat : int { kAuto = 1, kFp32 = 2, kBf16 = 3, kInt8 = 4, kInt4 = 5 };

struct LoadModel {
  std::string folder;
  Device device = Device::kAuto;
  WeightFormat format = WeightFormat::kAuto;
  std::string projector;  // of a GGUF file: the file of its eyes; empty: the one beside it, if there is one
};

// What a new question may see of what earlier questions made compression drop.
enum class Guard : int {
  kKeep = 1,     // what was kept then
  kPrefill = 2,  // everything: the whole thread is read again and compressed for the new question; costs a prefill per turn
  kRam = 3,      // everything: the full cache stays in host memory beside the compressed one and is compressed anew for the new question
  kAlone = 4,  // the media alone, as if nothing had been asked before: free where the recipe compresses before the question, else a prefill
};

// What no method may drop: an image, a document, or the frames of a video whose presentation times lie in [from_s, to_s].
struct Pin {
  std::int32_t media = 0;  // of what is attached in the thread, from 0 in prompt order
  double from_s = 0.0;     // of the frame delivered (SampledFrame::actual_s), both ends included; read for a video only
  double to_s = std::numeric_limits<double>::infinity();

  friend bool operator==(const Pin&, const Pin&) = default;
};

// What somebody chose of thoughts, for the chat template.
inline Thinking thinking_of(const Sampling& sampling) {
  if (sampling.thought_tokens == Sampling::kAsManyThoughtsAsTheModel) return Thinking::kAsTheTemplateHasIt;
  return sampling.thought_tokens == 0 ? Thinking::kOff : Thinking::kOn;
}

// One question. `messages` is the whole thread, ending with the user's message. The engine continues from its cache if the earlier
// messages and the pins of their media are those it has seen in this conversation; otherwise it prefills the thread anew.
struct Turn {
  ConversationId conversation = 0;
  std::vector<Message> messages;
  Sampling sampling;
  RecipeSpec recipe;
  Guard guard = Guard::kKeep;
  std::vector<Pin> pins;  // of the whole thread
  // What the answer begins with: the text of an answer to this question that did not come to its end. It goes on from there, from
  // the cache that answer left where it is still there, else behind the question and that text, read again. Empty: it begins anew.
  std::string answer_begun{};
  PromptSettings prompt{};
  // Of the cache that wrote the thread's last answer, as its CacheReport told: no other cache of the same words is gone on from; where that
  // one is not there any more, everything is read again. Empty: any.
  CacheMakers goes_on_from{};
  // When the user asked: the time to the first word counts from here (AskedClock). Epoch: when the engine begins.
  std::chrono::steady_clock::time_point asked{};
  // What had been thought before answer_begun; where that is empty, the thought goes on.
  std::string thought_begun{};
};
inline bool begins_anew(const Turn& turn) { return turn.answer_begun.empty() && turn.thought_begun.empty(); }

// What a turn would take, without running it: answered by Planned. Media are opened and probed, nothing is decoded.
struct Plan {
  Turn turn;
};

// Reads and compresses the media of the turn's last message as far as the recipe can without a question, so that a Turn with the same
// earlier messages, media, recipe and pins goes on from there, however often. What the message says besides does not matter.
struct Prepare {
  Turn turn;
};

// The next frames of a source that is still running. The turn is as for Prepare: the only medium of its last message names the source
// (path: any text; kind video; plan: every_s), its recipe brings what was seen back to a number of slots after every clip. A Turn with the
// same earlier messages, source, recipe and pins is then answered about all frames so far, as about a prepared video; more may follow.
// Answered by Watched. Interrupted: as if this clip had not come.
struct WatchClip {
  Turn turn;
  bool begins = false;               // a stream anew; else these follow what the conversation has seen of this source
  std::vector<SampledFrame> frames;  // at least one; asked_s rises over all clips, in steps of plan.every_s; sizes may differ
};

enum class ExportLogits : int { kLastPosition = 1, kAllPositions = 2 };

// Runs the turn and writes what went in and came out as a safetensors file, so that anyone can check it with Python: input_ids,
// position_ids, pixel_values / pixel_values_videos, visual_features, logits, generated, kept.<layer>.<kv head>.
struct ExportTurn {
  Turn turn;
  std::string path;
  ExportLogits logits = ExportLogits::kLastPosition;
};

// Whether a comparison's answers are checked against the full cache: two more passes over each of them.
enum class ColumnScores : int { kNone = 1, kAll = 2 };

// Whether columns are written one after the other, each at its true speed, or a token each in turn, to watch them side by side.
enum class ColumnOrder : int { kOneAfterAnother = 1, kInterleaved = 2 };

// One question answered under several recipes from one vision pass and one prefill: the whole thread anew, as one segment, so that every
// recipe has all of it to compress. Recipes that do not share a prefill run alone, on what Prepare left of a first question's media. The
// conversation stays as it is; a Turn that goes on from one of the answers continues that column's cache.
struct Compare {
  static constexpr std::size_t kMostRecipes = 8;

  ConversationId conversation = 0;
  std::vector<Message> messages;  // as in Turn
  Sampling sampling;
  std::vector<RecipeSpec> recipes;  // 1 to kMostRecipes
  ColumnScores scores = ColumnScores::kAll;
  ColumnOrder order = ColumnOrder::kOneAfterAnother;
  std::vector<Pin> pins;    // as in Turn
  PromptSettings prompt{};  // as in Turn
};

// What the full cache says to an answer that `turn` got (or to any other text): a teacher-forced pass over the cache as it was before the
// answer and over the full cache of the thread. The conversation stays as it is.
struct Score {
  Turn turn;              // the thread ends with the question
  std::string answer;     // of the last turn: its very tokens are used; any other text is encoded, without an end
  std::string thought{};  // before it
};

// Writes what the engine holds of a conversation as a file that a later run of the program goes on from. Answered by Saved.
struct SaveConversation {
  ConversationId conversation = 0;
  std::string path;
  std::string model;                                                   // any text that names the loaded model
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();  // of K and V; more is not written
};

// Puts such a file in the place of what the engine holds of the conversation. Answered by Restored. Failed with kCacheOutdated: it is of
// another model, or of media that have changed since; the conversation is as it was then.
struct LoadConversation {
  ConversationId conversation = 0;
  std::string path;
  std::string model;
};

// Frees the caches of a conversation.
struct ForgetConversation {
  ConversationId conversation = 0;
};

using RequestBody = std::variant<LoadModel, Turn, ExportTurn, Compare, Score, Plan, Prepare, WatchClip, SaveConversation, LoadConversation,
                                 ForgetConversation>;

// The conversation whose state a request goes on from, replaces or lets go. A new kind of request does not compile without its line here.
struct ConversationOf {
  ConversationId operator()(const LoadModel& /*load*/) const { return 0; }
  ConversationId operator()(const Turn& turn) const { return turn.conversation; }
  ConversationId operator()(const ExportTurn& /*traced*/) const { return 0; }  // starts from nothing and leaves nothing
  ConversationId operator()(const Compare& compare) const { return compare.conversation; }
  ConversationId operator()(const Score& score) const { return score.turn.conversation; }
  ConversationId operator()(const Plan& plan) const { return plan.turn.conversation; }
  ConversationId operator()(const Prepare& prepare) const { return prepare.turn.conversation; }
  ConversationId operator()(const WatchClip& clip) const { return clip.turn.conversation; }
  ConversationId operator()(const SaveConversation& save) const { return save.conversation; }
  ConversationId operator()(const LoadConversation& load) const { return load.conversation; }
  ConversationId operator()(const ForgetConversation& forget) const { return forget.conversation; }
};
// 0: none, or the draft.
inline ConversationId conversation_of(const RequestBody& body) { return std::visit(ConversationOf{}, body); }

struct Request {
  RequestId id = 0;
  RequestBody body;
};

}  // namespace winnow
