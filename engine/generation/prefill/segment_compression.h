// One recipe's compression event over one prefilled segment: watches, compacts, reports.
//
// Used by TurnRunner (compacts while the prefill goes on) and ComparisonRunner (several events watch one prefill, each then compacts its
// own fork). Engine thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compression/segment_compressor.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/messages/events.h"
#include "engine/models/model_info.h"
#include "engine/recipes/recipe.h"

namespace winnow {

class SegmentCompression {
 public:
  // recipe and what `about` borrows must outlive it.
  SegmentCompression(const Recipe& recipe, const SegmentInfo& about);

  SegmentCompressor& compressor() { return compressor_; }
  // Compacts those of the first `prefilled_layers` layers whose plan is ready and has not been applied yet.
  void compact_ready(Conversation& working, std::int64_t prefilled_layers);
  // After the prefill: compacts what is left and gives the conversation the policy for its answer. Emits the progress of the phase.
  void finish(Conversation& working, const EmitEvent& emit);
  // What the cache holds after finish().
  CacheReport report(const Conversation& working, const ModelInfo& model) const;

  double statistics_ms() const { return compressor_.statistics_ms(); }
  double compress_ms() const { return compress_ms_; }

 private:
  const Recipe& recipe_;
  SegmentCompressor compressor_;
  bool has_visual_ = false;
  std::vector<bool> compacted_;  // per layer
  double compress_ms_ = 0.0;
};

// Indices and accumulators beside the slots.
std::int64_t metadata_bytes(const Conversation& conversation);

// The request's recipe with the shares of layers that were measured for this model, unless the request brings its own. Errors:
// kIllegalRecipe.
Recipe recipe_for(RecipeSpec spec, const ModelInfo& model);

}  // namespace winnow
