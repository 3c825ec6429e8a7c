// A method as a composition of parts: allocator + scorer + reducer, with scope, granularity, protected slots and phase.
//
// Made by the files in methods/, owned by Recipe, which refuses what does not fit together. No torch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/method_phase.h"
#include "engine/recipes/reducers/reducer.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

// Which tokens are candidates. The others always stay, outside the budget. Context: from the first visual token to the last, with the text
// between them.
enum class Scope : int { kAll = 1, kVisual = 2, kContext = 3 };

// Each kv head keeps its own set of the layer's budget, one set serves all heads of a layer, or heads compete for slots, so that
// each has a budget of its own (scope visual or context).
enum class Granularity : int { kHead = 1, kLayer = 2, kRagged = 3 };

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

inline constexpr std::int64_t kMostNewestFrames = 1024;

// How media that come in clips are held within their slots (phase stream).
struct Streaming {
  std::int64_t clip_frames = 8;    // an image counts as one
  bool stored_maximum = true;      // a slot is judged by its best score of all clips so far; false: by the last clip's alone
  double target = 1.0;             // an event leaves so much of the slots; below 1, it comes when they are full
  std::int64_t newest_frames = 0;  // stay before all that a score asks for, as far as they fit
};

struct Composition {
  std::string method{};
  std::optional<Pruning> pruning{};
  std::unique_ptr<const Allocator> allocator{};  // both null: no event
  std::unique_ptr<const Scorer> scorer{};
  std::shared_ptr<const Reducer> reducer = std::make_shared<DropReducer>();  // never null; shared with decode policies, which outlive it
  Scope scope = Scope::kAll;
  Granularity granularity = Granularity::kHead;
  Protection protection{};
  MethodPhase phase = MethodPhase::kOnce;
  DecodeRule decode{};
  Streaming streaming{};
  std::int64_t media_window = 0;   // retrieve: the last tokens that a token of the media attends to beside what stands before them; 0: all
  double min_fraction = 0.0;       // of the segment, per layer
  double head_floor = 0.0;         // ragged: share of an equal share that every head keeps before heads compete
  bool evenly_spaced = false;      // of b slots, the i-th is candidate floor(i * n / b), whatever the scores (every-k)
  bool faithful_clip = false;      // budgets clipped without redistribution, as the paper prints it; the total may differ from the request
  bool closed_ranks = false;       // keys move so that slots are met at consecutive positions (rope_mode in_cache)
  bool skip_outer_layers = false;  // layers 0, 1 and the last are never compressed (D2O's code)
  // The event waits for the first answer token, whose attention joins the scores and which competes too (MEDA's and D2O's code). Budgets
  // are the prompt's.
  bool event_at_first_decode = false;
};

}  // namespace winnow
