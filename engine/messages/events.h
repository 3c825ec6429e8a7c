// What the engine says while it works: plain values with units in their names.
//
// Every event carries the id of the request it belongs to; stale ids are dropped by the receiver. Every figure is the engine's own
// counter. Order for a Turn: Progress* MediaSampled* Progress* CacheReport (TextDelta | DecodeSample)* then exactly one of Finished,
// Failed. For a Compare: Progress* MediaSampled* Progress*, then per column, under its number: ColumnStarted, the events of a Turn to its
// Finished, Scored (interleaved: all to their reports, tokens in turn, scores last); under no number, Compared. For a Score: the same, then
// Scored. Both may end with Failed, or a Finished under no number: restored, interrupted, nothing has changed. For a Plan: MediaSampled*
// (nothing is decoded: no actual_s), then Planned, or these two. For a Prepare: as a Turn up to its CacheReport, then Prepared, or these
// two. For a WatchClip: Progress*, then Watched, or these two.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/token_origin.h"
#include "engine/messages/requests.h"
#include "engine/metrics/agreement.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/selection_figures.h"
#include "engine/models/model_info.h"

namespace winnow {

enum class Phase : int {
  kLoadWeights = 1,   // unit: bytes of weights as stored
  kDecodeMedia = 2,   // unit: frames
  kEncodeFrames = 3,  // unit: frames through the vision tower
  kPrefill = 4,       // unit: layers x tiles
  kCompress = 5,      // unit: layers
  kDecode = 6,        // unit: generated tokens
  kProbe = 7,         // unit: parts of the media that are repeated, or tokens of their description
};

struct Progress {
  Phase phase = Phase::kLoadWeights;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
};

struct ModelLoaded {
  ModelInfo info;
};

// On the way of a LoadModel that did not fail before: the model of before is not there any more, because memory holds one of them. However
// the request ends; a LoadModel that ends without it has left that model as it was.
struct ModelUnloaded {};

// What was really sampled: asked against done.
struct MediaSampled {
  std::string path;
  MediaKind kind = MediaKind::kImage;
  double duration_s = 0.0;
  std::vector<double> asked_s;
  std::vector<double> actual_s;
  FramePlan plan;               // as requested: with path and kind it names the media item
  int frames_per_position = 1;  // of a source without an end: see Watched::frames_per_position
  bool endless = false;         // such a source: duration and frames are those so far
  // Of a document: tokens that were read of it, and that it has.
  std::int64_t tokens = 0;
  std::int64_t all_tokens = 0;
  std::int64_t most_tokens = 0;  // as requested
  // Of a video: as requested, and the lines that stand between its frames (TokenOrigin::frame of their tokens counts them from 0).
  std::string subtitles{};
  std::vector<TimedLine> lines{};
  PictureSize picture{};  // of an image, as delivered
  std::vector<MediaNotice> notices{};
  // Of a video: the frames' times as the prompt says them (FrameSource::shown_times_s); empty: as they were asked for.
  std::vector<double> told_s{};
  std::string encoding{};  // of a document or of subtitles: as requested
};

// What the model says to itself before it answers, and the answer.
enum class TextKind : int { kAnswer = 1, kThought = 2 };

struct TextDelta {
  std::string text;  // complete UTF-8 sequences only
  TextKind kind = TextKind::kAnswer;
};

// What the scorer says to another retention over the same segment.
struct RetainedMass {
  double retention = 0.0;  // share kept
  double mass = 0.0;       // share of the scores' sum that the best so many tokens hold, mean over layers and heads
};

// What a token of text or a document stands for, special tokens included: UTF-8 that may begin or end inside a character.
struct TokenText {
  std::int32_t token = 0;  // original index
  std::string bytes;
};

// A word of what the model told itself about the media before anything was asked.
struct DescribedWord {
  std::string bytes;        // UTF-8 that may begin or end inside a character
  std::int32_t media = -1;  // that the model looked at most to say it; -1: at none
  std::int32_t frame = -1;  // of a video
};

struct Description {
  std::vector<DescribedWord> words;  // empty: the recipe lets nothing be described
  bool useful = true;                // false: next to nothing, or round in circles; repetition has judged beside it
};

// Once per compression event (also for method full, where everything is kept).
struct CacheReport {
  KvBytes kv_bytes;
  std::vector<LayerFigures> layers;
  std::vector<TokenOrigin> tokens;  // by original index
  // kept[layer][kv head]: original indices, ascending.
  std::vector<std::vector<std::vector<std::int32_t>>> kept;
  // merged[layer][kv head][i]: how many dropped tokens were merged into kept[layer][kv head][i], at this event and
  // at earlier ones. Empty if nothing was ever merged.
  std::vector<std::vector<std::vector<std::int32_t>>> merged;
  std::vector<std::int32_t> pinned;         // original indices that the user pinned, ascending
  std::vector<RetainedMass> retained_mass;  // ascending by retention; empty where the method scores nothing
  std::vector<CompressionNote> notes;
  std::vector<TokenText> texts;    // of all tokens that are not visual, ascending
  Description description;         // of the last media that were judged by one
  CacheMakers makers;              // what made this cache; the request's own recipe among them
  std::int64_t pruned_tokens = 0;  // of what is attached: left before the decoder, and are not among `tokens`
};

// Of the whole thread, as TokenCounts has them.
inline TokenCounts thread_tokens(const CacheReport& report) {
  TokenCounts counts;
  for (const TokenOrigin& token : report.tokens) ++(is_attached(token.modality) ? counts.thread_visual : counts.thread_text);
  counts.thread_visual += report.pruned_tokens;
  return counts;
}

// At most ten a second while decoding.
struct DecodeSample {
  std::int64_t generated_tokens = 0;
  double tokens_per_s = 0.0;
  std::int64_t kv_bytes_now = 0;
  std::int64_t kv_bytes_full_now = 0;
  std::vector<SlotCounts> layers;  // slots in use now, per layer
};

enum class StopReason : int { kStopToken = 1, kLength = 2, kStopString = 3, kInterrupted = 4 };

struct Finished {
  StopReason reason = StopReason::kStopToken;
  bool restored = false;  // Cancel: the conversation is as it was before the request
  std::string answer;     // whole text, equal to the deltas of its kind joined; without what it began with (Turn::answer_begun)
  TurnFigures figures;
  std::string thought{};  // likewise (Turn::thought_begun)
};

// A column of a comparison begins.
struct ColumnStarted {
  bool shares_prefill = true;  // false: its method works during the prefill and needs one of its own
};

// An answer against the full cache.
struct Scored {
  Agreement agreement;
  std::optional<SelectionFigures> selection{};  // absent for the full cache itself and where the answer is one token
};

// The end of a comparison. Columns that Stop has left out had no events.
struct Compared {
  std::int64_t prefills = 0;             // one for all that share it, one for each that does not and has nothing prepared
  std::int64_t shared_prefix_bytes = 0;  // K and V of the shared prefill, stored once
  std::int64_t allocated_bytes = 0;      // K and V blocks of the shared prefill and all columns together, each block counted once
  bool stopped = false;                  // the last column may be cut short
};

// What depends on how often the prompt is read (RecipeSpec::prefill_passes). As in Planned.
struct PlannedPrefill {
  std::int64_t peak_bytes = 0;
  bool fits_memory = true;
  double expected_ms = 0.0;
};

// What a turn would take (Plan). Bytes and tokens as the turn's own figures would say them.
struct Planned {
  TokenCounts tokens;                     // of the segment; generated: the most that the sampling allows
  std::int64_t kv_bytes_full = 0;         // of the whole thread, uncompressed
  std::int64_t kv_bytes_after_event = 0;  // slots in use right after the event
  std::int64_t kv_bytes_per_token = 0;    // in all layers, as the recipe stores it
  std::int64_t peak_bytes = 0;            // highest allocation of K and V on the way
  bool fits_context = true;
  bool fits_memory = true;
  std::int64_t context_tokens = 0;        // the model's limit
  std::int64_t free_bytes = 0;            // memory that the device has left
  double expected_ms = 0.0;               // to the first token, by what this machine has measured; 0: nothing measured yet
  double expected_per_token_ms = 0.0;     // 0: nothing measured yet
  std::optional<PlannedPrefill> twice{};  // where reading it twice lowers the peak and is not what was asked for
  CacheMakers goes_on_from{};             // of the cache that the question is read behind; empty: all of the thread is read
};

// The end of a Prepare.
struct Prepared {
  bool compressed = false;  // a question now waits for its own tokens only; false: the media are encoded, which is all this recipe allows
  double elapsed_ms = 0.0;
};

// The end of a WatchClip: what is left of all that was seen. Bytes and slots are those of the cache, not estimates.
struct Watched {
  std::int64_t frames = 0;               // seen so far
  double seen_s = 0.0;                   // of the source, to the end of the last frame's interval
  std::int64_t tokens = 0;               // that were read of it
  std::int64_t most_slots = 0;           // cap: of a kv head, the mean over heads where they compete
  std::vector<std::int64_t> slots;       // per layer: of all its kv heads together, of the source alone
  std::vector<double> shares;            // per frame: of its tokens, the share that is left, mean over layers and heads; 0: forgotten
  std::int64_t kv_bytes = 0;             // of K and V in use
  std::int64_t kv_bytes_full = 0;        // had nothing been dropped
  std::int64_t frames_per_position = 1;  // so many frames stand at one place of the model's positions, which would not have sufficed
  Description description;               // of what is left, by methods that let the model tell it; no frames
  double elapsed_ms = 0.0;
};

// The end of a SaveConversation.
struct Saved {
  std::int64_t kv_bytes = 0;  // of K and V in the file; 0: nothing can be kept, and there is no file
};

// The end of a LoadConversation.
struct Restored {
  std::int64_t kv_bytes = 0;
  std::vector<Message> thread;  // that the present state holds; empty: only media are prepared
  std::vector<Message>
      prepared;           // the thread that a question about prepared media goes on, its last message being the media; empty: none are
  RecipeSpec recipe;      // that they are prepared for
  std::vector<Pin> pins;  // that they were prepared with
  PromptSettings prompt;  // that the chat template was given
};

// Before a request's own events: what was kept of its conversation does not fit any more, and its media are read again.
struct CacheSetAside {
  Error why;
  ConversationId conversation = 0;
};

struct Failed {
  Error error;
};

using EventBody = std::variant<Progress, ModelLoaded, ModelUnloaded, MediaSampled, TextDelta, CacheReport, DecodeSample, Finished, Failed,
                               ColumnStarted, Scored, Compared, Planned, Prepared, Watched, Saved, Restored, CacheSetAside>;

struct Event {
  static constexpr std::int32_t kNoColumn = -1;

  RequestId id = 0;
  EventBody body;
  std::int32_t column = kNoColumn;  // of a comparison, from 0: the recipe's index
};

// Whether it is the last that its request says. A new kind of event does not compile without its line here.
struct EndsRequest {
  bool operator()(const Progress& /*event*/) const { return false; }
  bool operator()(const ModelLoaded& /*event*/) const { return true; }
  bool operator()(const ModelUnloaded& /*event*/) const { return false; }  // Failed follows
  bool operator()(const MediaSampled& /*event*/) const { return false; }
  bool operator()(const TextDelta& /*event*/) const { return false; }
  bool operator()(const CacheReport& /*event*/) const { return false; }
  bool operator()(const DecodeSample& /*event*/) const { return false; }
  bool operator()(const Finished& /*event*/) const { return true; }
  bool operator()(const Failed& /*event*/) const { return true; }
  bool operator()(const ColumnStarted& /*event*/) const { return false; }
  bool operator()(const Scored& /*event*/) const { return true; }
  bool operator()(const Compared& /*event*/) const { return true; }
  bool operator()(const Planned& /*event*/) const { return true; }
  bool operator()(const Prepared& /*event*/) const { return true; }
  bool operator()(const Watched& /*event*/) const { return true; }
  bool operator()(const Saved& /*event*/) const { return true; }
  bool operator()(const Restored& /*event*/) const { return true; }
  bool operator()(const CacheSetAside& /*event*/) const { return false; }
};
// Of a comparison's columns nothing ends it.
inline bool ends_request(const Event& event) { return event.column == Event::kNoColumn && std::visit(EndsRequest{}, event.body); }

// Implemented above the engine. Called on the engine's thread; must not block and must not call the engine.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(Event event) = 0;
};

// How the parts of the engine speak: says each event under the request it belongs to. Borrows the sink.
class EmitEvent {
 public:
  EmitEvent(EventSink& sink, RequestId id) : sink_(&sink), id_(id) {}
  void operator()(EventBody body) const { sink_->on_event(Event{id_, std::move(body), column_}); }
  // The same under a column's number.
  EmitEvent for_column(std::int32_t column) const {
    EmitEvent emit = *this;
    emit.column_ = column;
    return emit;
  }

 private:
  EventSink* sink_;
  RequestId id_;
  std::int32_t column_ = Event::kNoColumn;
};

}  // namespace winnow
