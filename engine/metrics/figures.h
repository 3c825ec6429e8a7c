// Timing and memory figures of a turn as plain data, every number from the engine's own counters. Used in events and saved with answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/metrics/fields_of.h"

namespace winnow {

// Slots in use per kv head (the mean where heads differ) by what they hold.
struct SlotCounts {
  double visual = 0.0;
  double text = 0.0;       // of prompts and of earlier answers
  double generated = 0.0;  // of the answer being written
  double image = 0.0;      // of `visual`: in still images; the rest is video

  double total() const { return visual + text + generated; }
  friend bool operator==(const SlotCounts&, const SlotCounts&) = default;
};
WINNOW_FIELDS(SlotCounts, visual, text, generated, image)

struct LayerFigures {
  std::int64_t budget = 0;  // slots per kv head that the allocator granted to this segment
  double kept = 0.0;        // slots in use per kv head, the mean where heads differ
  double kept_visual = 0.0;
  double kept_text = 0.0;
  std::vector<std::int64_t> kept_per_head{};
  std::int64_t bytes = 0;                             // K and V of the slots in use
  std::vector<std::pair<std::string, double>> why{};  // the allocator's own numbers by name; empty for budgets that need none
  std::vector<double> best_scores{};                  // per kv head, where heads compete for slots: the best score of any
  SlotCounts end{};                                   // when the answer ended; zeros while it is being written
};
WINNOW_FIELDS(LayerFigures, budget, kept, kept_visual, kept_text, kept_per_head, bytes, why, best_scores, end)

struct KvBytes {
  std::int64_t full = 0;         // formula: what the same tokens take uncompressed, at the time of the event
  std::int64_t after_event = 0;  // slots in use right after the compression event
  std::int64_t end = 0;          // slots in use now
  std::int64_t peak = 0;         // allocator's highest
  std::int64_t allocated = 0;    // allocator's now
  std::int64_t metadata = 0;     // indices, positions, accumulators
  std::int64_t full_end = 0;     // formula: what the same tokens and the answer's take uncompressed; 0 before
  std::int64_t states = 0;       // beside all of these: layers without slots, 16-bit ends of a cache of codes; no method makes them smaller
};
WINNOW_FIELDS(KvBytes, full, after_event, end, peak, allocated, metadata, full_end, states)

// Bytes in the cache now (for a finished answer: at its end), and those of the same tokens uncompressed.
inline std::int64_t bytes_now(const KvBytes& kv) { return kv.end > 0 ? kv.end : kv.after_event; }
inline std::int64_t full_bytes_now(const KvBytes& kv) { return kv.full_end > 0 ? kv.full_end : kv.full; }
// The highest so far, the present included: the allocator's highest is as old as its last report.
inline std::int64_t peak_bytes(const KvBytes& kv) { return std::max({kv.peak, kv.after_event, kv.end}); }

struct TokenCounts {
  std::int64_t prompt = 0;  // of this turn's segment
  std::int64_t visual = 0;
  std::int64_t text = 0;
  std::int64_t generated = 0;
  std::int64_t thread_visual = 0;  // of the whole thread, which the cache stands for; those that left before the decoder, too
  std::int64_t thread_text = 0;
  std::int64_t unread = 0;   // of thread_visual: left before the decoder, so that no cache ever held them
  std::int64_t pinned = 0;   // of the whole thread: no layer may drop them
  std::int64_t thought = 0;  // of `generated`: before the answer, with what marks it
  std::int64_t drafted = 0;  // of `generated`: read as a draft (generation/answer/prompt_lookup.h) and kept
};
WINNOW_FIELDS(TokenCounts, prompt, visual, text, generated, thread_visual, thread_text, unread, pinned, thought, drafted)

// ttft: from when the question was asked (Turn::asked) to its first token. waited: of it, before the engine began: what was being prepared,
// or another answer. media: files opened, named by their bytes, and frames waited for; those of the next batch are decoded while the tower
// works. All but ttft and decode_total are parts of ttft; what they lack of it is the prompt's text and the choice of the first token.
struct TimingsMs {
  double media = 0, preprocess = 0, vision = 0, prefill = 0, statistics = 0, compress = 0, ttft = 0, decode_total = 0, waited = 0;
  double thought = 0;  // of decode_total, about: from the first token to the end of the thought
};
WINNOW_FIELDS(TimingsMs, media, preprocess, vision, prefill, statistics, compress, ttft, decode_total, waited, thought)

// A way in which a turn differed from what was asked: in its compression event, or its prompt. Codes are stored: never renumbered.
enum class CompressionNote : int {
  kFallbackRows = 1,         // no row after the last visual token: the last rows judged instead
  kRaisedToFloor = 2,        // protected slots need more than was asked for
  kNonFinite = 3,            // statistics that were NaN or infinite were replaced
  kPinsAboveBudget = 4,      // the user's pins alone need more than was asked for
  kShortText = 5,            // text alone, of fewer tokens than RecipeSpec::min_event_tokens: nothing was compressed
  kThreadReadAgain = 6,      // the template writes earlier answers otherwise than they were given: what was said is read again
  kSystemJoinsQuestion = 7,  // the template has no system prompt: it stands before the first question's words
};

// True if the note is made once a conversation, not at every turn that it holds for.
constexpr bool is_said_once(CompressionNote note) {
  return note == CompressionNote::kThreadReadAgain || note == CompressionNote::kSystemJoinsQuestion;
}

struct TurnFigures {
  std::string method{};
  double retention = 1.0;
  std::uint64_t seed = 0;
  TokenCounts tokens{};
  KvBytes kv_bytes{};
  std::vector<LayerFigures> layers{};
  TimingsMs timings_ms{};
  double tokens_per_s = 0.0;  // decode only, median step
  double achieved_retention = 1.0;
  std::vector<CompressionNote> notes{};  // ascending, each at most once
};

}  // namespace winnow
