// One recipe over one segment: watches its prefill, prunes or compacts, reports. What it will take can be asked without any of it.
//
// Used by TurnPrefill (one compacts while the prefill goes on; several watch one prefill, each then compacts a fork of its own) and by
// plan_turn(). Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/per_layer.h"
#include "engine/compression/retained_slots.h"
#include "engine/compression/segment_compressor.h"
#include "engine/compression/token_pruner.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/generation/segment/segment_tokens.h"
#include "engine/messages/events.h"
#include "engine/models/model_info.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// What every layer reads of a segment, and what stays after the event.
struct LayerSlots {
  PerLayer<std::int64_t> appended;           // without what a layer's window has passed by at the end
  std::int32_t end = 0;                      // original index of the token after it
  PerLayer<std::vector<std::int64_t>> kept;  // per kv head, of the candidates
  bool whole_cache = false;                  // candidates are all slots, not only the segment's
  bool after_first_token = false;            // which is among what is appended
  bool layer_by_layer = false;               // a layer may be compacted before the next begins
  bool by_second_pass = false;               // the same of a second pass, and of the first not
  std::int64_t after_event = 0;              // tokens that are read after the event, by every layer
  PerLayer<std::vector<std::int64_t>> seen;  // of `kept`, those that a layer still holds then; the most where that depends on which stay
};

// What there is to say of an event beside what the cache itself shows.
struct EventOutcome {
  std::vector<std::int64_t> budgets;                             // per layer; empty where no event took place
  std::vector<std::vector<std::pair<std::string, double>>> why;  // per layer: LayerFigures::why
  std::vector<std::vector<double>> best_scores;                  // as many: LayerFigures::best_scores
  std::vector<RetainedMass> retained_mass;
  std::vector<CompressionNote> notes;
};

// Of a conversation whose last event this was.
CacheReport cache_report(const EventOutcome& outcome, const Conversation& conversation);

class SegmentCompression {
 public:
  // working: holds the segment's tokens by name and nothing of them in its cache. Under turn policy whole the slots of the cache are put
  // into the order of their tokens. recipe and segment must outlive it.
  SegmentCompression(const Recipe& recipe, const SegmentTokens& segment, const ModelInfo& model, Conversation& working);
  SegmentCompression(const SegmentCompression&) = delete;
  SegmentCompression& operator=(const SegmentCompression&) = delete;

  SegmentCompressor& compressor() { return compressor_; }
  TokenPruner* pruner() { return pruner_ ? &*pruner_ : nullptr; }  // null: every token goes through all layers

  // Before the prefill: its plans are ready after the last layer and not before, so that a second pass would know them from the start. Not
  // where the event comes after the first answer token, whose attention is of the whole cache.
  bool gains_by_second_pass() const;
  // And it is asked for.
  bool reads_twice() const { return recipe_.reads_twice() && gains_by_second_pass(); }

  // Compacts those of the first `prefilled_layers` layers whose plan is ready and has not been applied yet.
  void compact_ready(Conversation& working, std::int64_t prefilled_layers);
  // Compacts all layers whose plans are ready. Emits the progress of the phase.
  void compact_all(Conversation& working, const EmitEvent& emit);
  // After the prefill: compacts what is left and gives the conversation the policy for its answer. Emits the progress of the phase.
  void finish(Conversation& working, const EmitEvent& emit);
  // After finish().
  EventOutcome outcome() const;

  // Where a probe judges: its votes are on their way to the compressor, and took this long.
  void add_probe_ms(double ms) { probe_ms_ += ms; }

  double statistics_ms() const { return compressor_.statistics_ms() + (pruner_ ? pruner_->statistics_ms() : 0.0) + probe_ms_; }
  double compress_ms() const { return compress_ms_; }

  // In place of a prefill. reads_first_token: an answer of more than one token is expected, for events that come after the first.
  // after_event: LayerSlots'.
  LayerSlots foreseen_slots(bool reads_first_token, std::int64_t after_event);

 private:
  const Recipe& recipe_;
  RetainedSlots retained_;
  SegmentInfo about_;
  SegmentCompressor compressor_;
  std::optional<TokenPruner> pruner_;
  bool short_text_ = false;  // kept whole, because it is, by a method that compresses text
  PerLayer<bool> compacted_;
  bool event_over_ = false;
  double compress_ms_ = 0.0;
  double probe_ms_ = 0.0;
};

// Of a segment, what the recipe's event is about: all of it, or up to the last visual token where the event comes before the question.
SegmentTokens judged_tokens(const Recipe& recipe, const SegmentTokens& segment);

// Indices and accumulators beside the slots.
std::int64_t metadata_bytes(const Conversation& conversation);

// The request's recipe with what was measured for this model, unless the request brings its own. Errors:
// kIllegalRecipe, also for what this model cannot do.
Recipe recipe_for(RecipeSpec spec, const ModelInfo& model);

}  // namespace winnow
