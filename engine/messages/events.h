// The engine's reports while it works: plain values with units in their names.
//
// Every event carries the id of its request; the receiver drops stale ids. Every figure is the engine's own counter. Order of events:
//   Turn:      Progress* MediaSampled* Progress* CacheReport (TokenSampled | TextDelta | DecodeSample)*, then one of Finished, Failed.
//   Compare:   Progress* MediaSampled* Progress*; per column, with its number: ColumnStarted, the events of a Turn up to its Finished,
//              Scored; at the end, without a number, Compared. Interleaved columns: all reports first, then tokens in turn, scores last.
//   Score:     Progress* MediaSampled* Progress*, then Scored.
//   Plan:      MediaSampled* (without actual_s, since nothing is decoded), then Planned.
//   Tokenize, Detokenize: Tokenized.
//   Prepare:   as a Turn up to its CacheReport, then Prepared.
//   WatchClip: Progress*, then Watched.
//   Transcribe: Progress* LinesHeard*, then Transcribed.
// All but Turn may instead end with Failed, or with a Finished without a column: interrupted, and everything restored.
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
  kProbe = 7,         // unit: media parts repeated, or tokens of their description
};

struct Progress {
  Phase phase = Phase::kLoadWeights;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
  // The frames done (kEncodeFrames) cover the whole video, and FramePlan::taken of as many needs no more.
  bool part_will_do = false;
};

struct ModelLoaded {
  ModelInfo info;
};

// During a LoadModel: the previous model has been freed, because memory holds one model. A LoadModel that ends without this event has left
// the previous model loaded.
struct ModelUnloaded {};

// The frames that were really sampled, beside what was requested.
struct MediaSampled {
  std::string path;
  MediaKind kind = MediaKind::kImage;
  double duration_s = 0.0;
  std::vector<double> asked_s{};
  std::vector<double> actual_s{};
  FramePlan plan{};             // as requested: with path and kind it names the media item
  int frames_per_position = 1;  // of an endless source: see Watched::frames_per_position
  bool endless = false;         // duration and frames are those so far
  // For a document: tokens read, and tokens in all.
  std::int64_t tokens = 0;
  std::int64_t all_tokens = 0;
  std::int64_t most_tokens = 0;  // as requested
  // For a video: subtitles as requested, and the lines between its frames (TokenOrigin::frame of their tokens counts them from 0).
  std::string subtitles{};
  std::vector<TimedLine> lines{};
  PictureSize picture{};  // of an image or a video, as delivered
  std::vector<MediaNotice> notices{};
  // For a video: the frames' times as written in the prompt (FrameSource::shown_times_s); empty: as requested.
  std::vector<double> told_s{};
  std::string encoding{};                  // of a document or of subtitles: as requested
  MediaDetail detail{};                    // as requested
  int planned_frames = 0;                  // of a video of which FramePlan::taken takes a part: all of its plan; 0: these are all
  std::int64_t visual_tokens = 0;          // of an image or a video, words among them included, before any are dropped; 0: not known yet
  PageRange pages{};                       // as requested
  std::vector<std::int32_t> page_lines{};  // of a document with pages: FrameSource::page_lines()
  // The picture, or each frame, as it was resized to be read, where a model keeps its proportions (DetailChoices::token_px); 0: not known.
  int read_width_px = 0;
  int read_height_px = 0;
};

// kThought: the model's reasoning before its answer.
enum class TextKind : int { kAnswer = 1, kThought = 2 };

struct TextDelta {
  std::string text;  // complete UTF-8 sequences only
  TextKind kind = TextKind::kAnswer;
};

struct TokenProbability {
  std::int64_t token = 0;
  std::string bytes;             // UTF-8 that may begin or end inside a character
  double log_probability = 0.0;  // natural logarithm, of the model's own distribution: before temperature, penalties and cuts
};

// A token of the answer that has text, if Sampling::told_probabilities asks for it: before the TextDelta that its text is in, which comes
// later where the text is held back, and never where it belongs to a stop string.
struct TokenSampled {
  TokenProbability sampled;
  std::vector<TokenProbability> likeliest;  // descending
  TextKind kind = TextKind::kAnswer;
};

// How much of the scores another retention would keep in the same segment.
struct RetainedMass {
  double retention = 0.0;  // share kept
  double mass = 0.0;       // share of the score sum held by the best `retention` of the tokens, mean over layers and heads
};

// The text of one token of a message or document, special tokens included: UTF-8 that may begin or end inside a character.
struct TokenText {
  std::int32_t token = 0;  // original index
  std::string bytes;
};

// A word of the model's own description of the media, made before any question.
struct DescribedWord {
  std::string bytes;        // UTF-8 that may begin or end inside a character
  std::int32_t media = -1;  // the medium with the most attention from this word; -1: none
  std::int32_t frame = -1;  // of a video
};

struct Description {
  std::vector<DescribedWord> words;  // empty: the recipe asks for no description
  bool useful = true;                // false: too short or repeating itself; repetition of the context was scored as well
};

// Once per compression event, also for method full.
struct CacheReport {
  KvBytes kv_bytes{};
  std::vector<LayerFigures> layers{};
  std::vector<TokenOrigin> tokens{};  // by original index
  // kept[layer][kv head]: original indices, ascending.
  std::vector<std::vector<std::vector<std::int32_t>>> kept{};
  // merged[layer][kv head][i]: dropped tokens merged into kept[layer][kv head][i], at this and earlier events. Empty without merges.
  std::vector<std::vector<std::vector<std::int32_t>>> merged{};
  std::vector<std::int32_t> pinned{};         // original indices that the user pinned, ascending
  std::vector<RetainedMass> retained_mass{};  // ascending by retention; empty if the method computes no scores
  std::vector<CompressionNote> notes{};
  std::vector<TokenText> texts{};  // of all tokens that are not visual, ascending
  Description description{};       // of the last media scored by one
  CacheMakers makers{};            // what made this cache, the request's own recipe included
  std::int64_t pruned_tokens = 0;  // attachment tokens pruned before the decoder; not among `tokens`
};

// TokenCounts of the whole thread.
inline TokenCounts thread_tokens(const CacheReport& report) {
  TokenCounts counts;
  for (const TokenOrigin& token : report.tokens) ++(is_attached(token.modality) ? counts.thread_visual : counts.thread_text);
  counts.thread_visual += report.pruned_tokens;
  counts.unread = report.pruned_tokens;
  return counts;
}

// At most ten a second while decoding.
struct DecodeSample {
  std::int64_t generated_tokens = 0;
  double tokens_per_s = 0.0;
  std::int64_t kv_bytes_now = 0;
  std::int64_t kv_bytes_full_now = 0;
  std::vector<SlotCounts> layers{};  // slots in use now, per layer
};

struct Finished {
  StopReason reason = StopReason::kStopToken;
  bool restored = false;  // Cancel: the conversation is as before the request
  std::string answer{};   // the joined deltas of its kind, without Turn::answer_begun
  TurnFigures figures{};
  std::string thought{};  // likewise (Turn::thought_begun)
};

// A column of a comparison begins.
struct ColumnStarted {
  bool shares_prefill = true;  // false: its method works during prefill and needs one of its own
};

// An answer compared with the full cache.
struct Scored {
  Agreement agreement;
  std::optional<SelectionFigures> selection{};  // absent for the full cache itself and where the answer is one token
};

// The end of a comparison. Columns skipped by Stop had no events.
struct Compared {
  std::int64_t prefills = 0;             // one for all sharing columns, one for each other column without prepared media
  std::int64_t shared_prefix_bytes = 0;  // K and V of the shared prefill, stored once
  std::int64_t allocated_bytes = 0;      // K and V blocks of the shared prefill and all columns together, each block counted once
  bool stopped = false;                  // the last column may be cut short
};

// The figures of Planned that depend on RecipeSpec::prefill_passes.
struct PlannedPrefill {
  std::int64_t peak_bytes = 0;
  bool fits_memory = true;
  double expected_ms = 0.0;
};

// The cost of a turn (Plan). Bytes and tokens are those the turn itself would report.
struct Planned {
  TokenCounts tokens;                     // of the segment; generated: the room for the answer
  std::int64_t kv_bytes_full = 0;         // of the whole thread, uncompressed
  std::int64_t kv_bytes_after_event = 0;  // slots in use right after the event
  std::int64_t kv_bytes_per_token = 0;    // in all layers, as the recipe stores it
  std::int64_t peak_bytes = 0;            // peak allocation of K and V
  std::int64_t state_bytes = 0;  // beside them, however many tokens there are: layers without slots, 16-bit ends of a cache of codes
  bool fits_context = true;
  bool fits_memory = true;
  std::int64_t context_tokens = 0;        // the model's limit
  std::int64_t free_bytes = 0;            // memory that the device has left
  double expected_ms = 0.0;               // to the first token, from this machine's measurements; 0: nothing measured yet
  double expected_reading_ms = 0.0;       // of it for opening, decoding and resizing media
  double expected_encoder_ms = 0.0;       // of it in the vision encoder
  double expected_per_token_ms = 0.0;     // 0: nothing measured yet
  std::optional<PlannedPrefill> twice{};  // if two passes would lower the peak and were not requested
  CacheMakers goes_on_from{};             // of the cache that the question is appended to; empty: the whole thread is prefilled
  bool estimated = false;                 // RecipeSpec::before goes by what the pictures show: tokens and bytes are near, and times
};

// The end of a Prepare.
struct Prepared {
  bool compressed = false;  // a question now prefills its own tokens only; false: this recipe only allows encoding the media ahead
  double elapsed_ms = 0.0;
};

// The end of a WatchClip: what the cache keeps of the whole source. Bytes and slots are measured, not estimated.
struct Watched {
  std::int64_t frames = 0;               // seen so far
  double seen_s = 0.0;                   // of the source, to the end of the last frame's interval
  std::int64_t tokens = 0;               // prefilled so far
  std::int64_t most_slots = 0;           // cap per kv head; the mean over heads where heads compete
  std::vector<std::int64_t> slots;       // per layer: over all its kv heads, of the source alone
  std::vector<double> shares;            // per frame: share of its tokens still cached, mean over layers and heads; 0: evicted
  std::int64_t kv_bytes = 0;             // of K and V in use
  std::int64_t kv_bytes_full = 0;        // without compression
  std::int64_t frames_per_position = 1;  // frames that share a position; above 1 once the model's positions would run out
  Description description;               // of what is left, by methods that ask the model for one; without frames
  double elapsed_ms = 0.0;
};

// The end of a SaveConversation.
struct Saved {
  std::int64_t kv_bytes = 0;  // of K and V in the file; 0: nothing to keep, no file written
};

// The end of a LoadConversation.
struct Restored {
  std::int64_t kv_bytes = 0;
  std::vector<Message> thread{};    // cached; empty: only media are prepared
  std::vector<Message> prepared{};  // ends with the prepared media, for a question to follow; empty: none are prepared
  RecipeSpec recipe{};              // of the prepared media
  std::vector<Pin> pins{};          // likewise
  PromptSettings prompt{};          // given to the chat template
};

// Before a request's own events: the stored cache of its conversation cannot be used, and its media are read again.
struct CacheSetAside {
  Error why;
  ConversationId conversation = 0;
};

// The end of a Tokenize or a Detokenize.
struct Tokenized {
  std::vector<std::int64_t> tokens;
  std::vector<std::string> pieces;  // the bytes of each
  std::string text;                 // of all of them, special tokens included
};

// How far a Transcribe has come, and the lines since the last of these events. The sound is read twice: first for its loudness and for
// where somebody speaks.
struct LinesHeard {
  double read_s = 0.0;   // of the sound, the first time
  double heard_s = 0.0;  // decoded
  double sound_s = 0.0;  // of all of it, as its container says until it is read; 0: unknown
  std::vector<TimedLine> lines{};
  std::string language{};  // empty: not known yet
};

// Makes a request that was broken off one that goes on behind what it has told.
inline void go_on_behind(const LinesHeard& told, Transcribe& request) {
  request.heard_s = told.heard_s;
  request.lines.insert(request.lines.end(), told.lines.begin(), told.lines.end());
  if (!told.language.empty()) request.language = told.language;
}

// The end of a Transcribe.
struct Transcribed {
  std::vector<TimedLine> lines{};  // by their beginnings, those of the request included
  std::string language{};          // "en"; empty: nothing is said
  double heard_s = 0.0;            // until where
  double sound_s = 0.0;
  double elapsed_ms = 0.0;          // without loading the model
  std::int64_t repeated_lines = 0;  // the same line again and again, cut
  bool stopped = false;             // Stop: what is behind heard_s is missing
  std::string model{};              // its name and the form of its weights: "whisper-tiny.en, fp32"
};

struct Failed {
  Error error;
};

using EventBody = std::variant<Progress, ModelLoaded, ModelUnloaded, MediaSampled, TextDelta, CacheReport, DecodeSample, Finished, Failed,
                               ColumnStarted, Scored, Compared, Planned, Prepared, Watched, Saved, Restored, CacheSetAside, TokenSampled,
                               Tokenized, LinesHeard, Transcribed>;

struct Event {
  static constexpr std::int32_t kNoColumn = -1;

  RequestId id = 0;
  EventBody body;
  std::int32_t column = kNoColumn;  // of a comparison, from 0: the recipe's index
};

// True for an event that is the last of its request. A new kind of event does not compile without its line here.
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
  bool operator()(const TokenSampled& /*event*/) const { return false; }
  bool operator()(const Tokenized& /*event*/) const { return true; }
  bool operator()(const LinesHeard& /*event*/) const { return false; }
  bool operator()(const Transcribed& /*event*/) const { return true; }
};
// No event of a column ends its comparison.
inline bool ends_request(const Event& event) { return event.column == Event::kNoColumn && std::visit(EndsRequest{}, event.body); }

// Implemented above the engine. Called on the engine's thread, which waits where nobody takes the events; must not call the engine.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(Event event) = 0;
};

// Emits events with the id of their request, for the parts of the engine. Borrows the sink.
class EmitEvent {
 public:
  EmitEvent(EventSink& sink, RequestId id) : sink_(&sink), id_(id) {}
  void operator()(EventBody body) const { sink_->on_event(Event{id_, std::move(body), column_}); }
  // The same for one column of a comparison.
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
