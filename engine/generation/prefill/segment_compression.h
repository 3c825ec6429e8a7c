// One recipe over one segment: observes its prefill, prunes or compacts, reports. Can also predict its slots without a prefill.
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

// The slots that a segment appends to every layer, and those kept after the event.
struct LayerSlots {
  PerLayer<std::int64_t> appended;           // without tokens outside a layer's sliding window at the end
  std::int32_t end = 0;                      // original index of the token after the segment
  PerLayer<std::vector<std::int64_t>> kept;  // per kv head, of the candidates
  bool whole_cache = false;                  // candidates are all slots, not only the segment's
  bool after_first_token = false;            // the event follows the first answer token, which `appended` includes
  bool layer_by_layer = false;               // a layer may be compacted before the next begins
  bool by_second_pass = false;               // the same, but only in a second pass
  std::int64_t after_event = 0;              // tokens prefilled after the event, per layer
  PerLayer<std::vector<std::int64_t>>
      seen;  // of `kept`, slots then still inside a layer's window; an upper bound where it depends on the choice
};

// An event's results for a report, beyond the cache's own figures.
struct EventOutcome {
  std::vector<std::int64_t> budgets;                             // per layer; empty without an event
  std::vector<std::vector<std::pair<std::string, double>>> why;  // per layer: LayerFigures::why
  std::vector<std::vector<double>> best_scores;                  // per layer: LayerFigures::best_scores
  std::vector<RetainedMass> retained_mass;
  std::vector<CompressionNote> notes;
};

// The report of a conversation's last event.
CacheReport cache_report(const EventOutcome& outcome, const Conversation& conversation);

class SegmentCompression {
 public:
  // working: its origins and ids include the segment's tokens, its cache does not. Under turn policy whole the cache's slots are sorted by
  // token. recipe and segment must outlive it.
  SegmentCompression(const Recipe& recipe, const SegmentTokens& segment, const ModelInfo& model, Conversation& working);
  SegmentCompression(const SegmentCompression&) = delete;
  SegmentCompression& operator=(const SegmentCompression&) = delete;

  SegmentCompressor& compressor() { return compressor_; }
  TokenPruner* pruner() { return pruner_ ? &*pruner_ : nullptr; }  // null: every token goes through all layers

  // Before the prefill: whether its plans are ready only after the last layer, so that a second pass would know them from the start. False
  // if the event follows the first answer token, which attends to the whole cache.
  bool gains_by_second_pass() const;
  // The same, and the recipe asks for two passes.
  bool reads_twice() const { return recipe_.reads_twice() && gains_by_second_pass(); }

  // Compacts those of the first `prefilled_layers` layers whose plan is ready and has not been applied yet.
  void compact_ready(Conversation& working, std::int64_t prefilled_layers);
  // Compacts all layers whose plans are ready. Emits the progress of the phase.
  void compact_all(Conversation& working, const EmitEvent& emit);
  // After the prefill: compacts the remaining layers and sets the conversation's decode policy. Emits the progress of the phase.
  void finish(Conversation& working, const EmitEvent& emit);
  // After finish().
  EventOutcome outcome() const;

  // For recipes with a probe: the time that its votes took.
  void add_probe_ms(double ms) { probe_ms_ += ms; }

  double statistics_ms() const { return compressor_.statistics_ms() + (pruner_ ? pruner_->statistics_ms() : 0.0) + probe_ms_; }
  double compress_ms() const { return compress_ms_; }

  // Instead of a prefill. reads_first_token: an answer of more than one token is expected, for events that follow the first.
  // after_event: LayerSlots'.
  LayerSlots foreseen_slots(bool reads_first_token, std::int64_t after_event);

 private:
  const Recipe& recipe_;
  RetainedSlots retained_;
  SegmentInfo about_;
  SegmentCompressor compressor_;
  std::optional<TokenPruner> pruner_;
  bool short_text_ = false;  // kept whole by a method that compresses text, because it is short
  PerLayer<bool> compacted_;
  bool event_over_ = false;
  double compress_ms_ = 0.0;
  double probe_ms_ = 0.0;
};

// The part of a segment that the recipe's event compresses: all of it, or up to the last visual token if the event precedes the question.
SegmentTokens judged_tokens(const Recipe& recipe, const SegmentTokens& segment);

// Bytes of indices and accumulators beside K and V.
std::int64_t metadata_bytes(const Conversation& conversation);

// The request's recipe, completed with this model's measured options unless the request has its own. Errors: kIllegalRecipe, also for
// methods that this model does not support.
Recipe recipe_for(RecipeSpec spec, const ModelInfo& model);

}  // namespace winnow
