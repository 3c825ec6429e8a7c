// A method as a composition of parts: allocator + scorer + reducer, with scope, granularity, protected slots and phase.
//
// Made by the files in methods/, owned by Recipe, which refuses what does not fit together. No torch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/kv_cache/shared_entries.h"
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

enum class MethodPhase : int {
  kOnce = 1,         // one event after the prefill; decoding only appends
  kDecode = 2,       // as once, and one slot leaves per decoded token so that the budget holds
  kRatioDecode = 3,  // as once, and a slot leaves whenever the layer holds a whole slot more than its share of all tokens seen
  kPrefill = 4,      // no event: visual tokens leave the network while it reads the prompt
};

// Which tokens are candidates. The others always stay, outside the budget.
enum class Scope : int { kAll = 1, kVisual = 2 };

// Whether each kv head keeps its own set, or one set serves all heads of a layer.
enum class Granularity : int { kHead = 1, kLayer = 2 };

// What happens to the slots outside the kept set.
struct Reduction {
  enum class Kind : int {
    kDrop = 1,           // discarded
    kAverage = 2,        // mean with the nearest kept slot by key cosine (MEDA)
    kPivot = 3,          // each first averaged with its target, then the mean (LOOK-M)
    kWeighted = 4,       // scaled by the cosine, then the mean (LOOK-M)
    kGated = 5,          // cosine gate with a moving threshold, exponential weights (D2O)
    kNearestIndex = 6,   // mean with the nearest kept slot by token index (Elastic Cache)
    kValuePush = 7,      // values only, into the following kept slots, with a probability (CaM)
    kSharedEntries = 8,  // similar tokens share a kept slot and are told apart by a look-up table, the least are discarded (EMS)
  };
  enum class ThresholdScope : int { kHead = 1, kLayer = 2 };
  enum class PushReference : int { kMean = 1, kMaximum = 2 };

  Kind kind = Kind::kDrop;
  bool mean_gate = false;       // kWeighted: only slots whose cosine is at least the mean take part
  double merge_fraction = 1.0;  // kAverage: share of the dropped slots, most similar first, that is merged
  // kGated
  double threshold_decay = 0.7;  // weight of the current mean cosine in the moving threshold
  ThresholdScope threshold_scope = ThresholdScope::kHead;
  bool gated_as_weighted = false;  // the released code's weights
  // kNearestIndex
  std::int64_t fixed_first = 1;  // first slots that are no anchors
  // kValuePush
  std::int64_t push_window = 16;                        // slots that receive a value
  bool push_expected = false;                           // always, scaled by the probability
  PushReference push_reference = PushReference::kMean;  // of the receivers; kMaximum: of all slots that stay
  std::uint64_t seed = 0;
  // kSharedEntries
  double magnification = 4.0;     // tokens per stored slot, window aside (gamma_m)
  double least_similarity = 0.6;  // product of key and value cosine for sharing (tau)
  SharedEntries::Rotation rotation = SharedEntries::Rotation::kStored;
  bool zero_counts = false;
};

// Slots that stay whatever their score, inside the budget. The last token of a segment always does (scope all).
struct Protection {
  std::int64_t sinks = 0;     // first tokens of the conversation
  std::int64_t window = 0;    // last tokens of the segment, by number
  double recent_share = 0.0;  // last tokens of the segment, as a share of the layer's budget (at least 1 if positive)
  bool all_text = false;      // every text token stays, whatever the budget says (LOOK-M's and MEDA's code)
  // Sinks and window are cut to what fits, and completed by the scorer's protection score to this share of the budget beside the sinks
  // (RoCo); 0: sinks and window are a floor under the budget.
  double completed_share = 0.0;
};

// How a slot is chosen while decoding, and what is kept up to date for it.
struct DecodeRule {
  enum class Victim : int {
    kOldest = 1,          // the oldest slot that is no sink
    kLeastAttention = 2,  // the least accumulated attention outside sinks and recent slots
    kLeastMean = 3,       // the least mean attention among the steadiest slots (RoCo)
    kFixedDistance = 4,   // the slot a fixed distance before the event's end (Elastic Cache)
  };
  Victim victim = Victim::kOldest;
  bool accumulates = false;     // decode rows' probabilities are needed (kLeast..., value push, shared entries)
  std::int64_t local_rows = 0;  // accumulated apart over the last so many rows (shared entries); 0: not needed
  std::int64_t distance = -25;  // kFixedDistance
};

// Which visual tokens leave the network, who judges them, and where (phase kPrefill). The recipe's retention is the share of visual tokens
// that the last layers still see.
struct Pruning {
  enum class Judge : int {
    kLastRow = 1,   // attention of the prompt's last token in the layer before (FastV's code)
    kReceived = 2,  // mean attention of all rows in the layer before (FastV's text)
    kVision = 3,    // attention of the vision tower's last layer; before the decoder (FasterVLM)
    kRollout = 4,   // attention rollout: in the vision tower before the decoder, then in the layers before (IVTP, approximated)
  };
  Judge judge = Judge::kLastRow;
  std::int64_t layer = 2;  // at the input of this decoder layer; kVision: 0

  // Share of visual tokens kept before the decoder and, of those, at the layer; 1: this stage does not take place.
  double before_decoder(double retention) const;
  double at_layer(double retention) const;
};

struct Composition {
  std::string method;
  std::optional<Pruning> pruning;
  std::unique_ptr<const Allocator> allocator;  // both null: no event
  std::unique_ptr<const Scorer> scorer;
  Reduction reduction;
  Scope scope = Scope::kAll;
  Granularity granularity = Granularity::kHead;
  Protection protection;
  MethodPhase phase = MethodPhase::kOnce;
  DecodeRule decode;
  double min_fraction = 0.0;       // of the segment, per layer
  bool faithful_clip = false;      // budgets clipped without redistribution, as the paper prints it; the total may differ from the request
  bool closed_ranks = false;       // keys move so that slots are met at consecutive positions (rope_mode in_cache)
  bool skip_outer_layers = false;  // layers 0, 1 and the last are never compressed (D2O's code)
  // The event waits for the first answer token, whose attention joins the scores and which competes too (MEDA's and D2O's code). Budgets
  // are the prompt's.
  bool event_at_first_decode = false;
};

}  // namespace winnow
