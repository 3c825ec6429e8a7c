#include "engine/generation/prefill/segment_compression.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/compression_event.h"
#include "engine/compression/next_decode_policy.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/conversation/cache_figures.h"
#include "engine/generation/prefill/retained_mass.h"
#include "engine/recipes/method_info.h"

namespace winnow {
namespace {

std::vector<CompressionNote> codes_of(const SegmentCompressor::Notes& notes) {
  std::vector<CompressionNote> codes;
  if (notes.fallback_rows) codes.push_back(CompressionNote::kFallbackRows);
  if (notes.raised_to_floor) codes.push_back(CompressionNote::kRaisedToFloor);
  if (notes.non_finite > 0) codes.push_back(CompressionNote::kNonFinite);
  if (notes.pins_above_budget) codes.push_back(CompressionNote::kPinsAboveBudget);
  return codes;
}

RetainedSlots retained_for(const Recipe& recipe, Conversation& working) {
  if (!recipe.whole_cache() || working.thread.empty()) return {};
  return take_retained(working.cache, working.origins, working.decode_policy.get());
}

// Describes the segment as compression sees it. Borrows all but the model.
SegmentInfo info_of(const SegmentTokens& segment, const RetainedSlots& retained, const ModelInfo& model, const Conversation& working) {
  SegmentInfo about;
  about.tokens = segment.size();
  about.modality = segment.modality;
  about.first_original = segment.first_original;
  about.layers = working.cache.shape().layers;
  about.kv_heads = model.kv_heads;
  about.heads = model.heads;
  about.compressed_before = working.compressed;
  about.pinned = segment.pinned;
  // Layers with a window that have slots of their own alone heed them; methods judge the others.
  if (working.cache.shape().sliding == nullptr) about.bidirectional = segment.bidirectional;
  about.windows = &working.cache.shape().windows;
  if (!retained.heads.empty()) about.retained = &retained;
  return about;
}

}  // namespace

CacheReport cache_report(const EventOutcome& outcome, const Conversation& conversation) {
  const KvCache& cache = conversation.cache;
  CacheReport report;
  report.kv_bytes.full = cache.shape().full_bytes(conversation.full_tokens());
  report.kv_bytes.after_event = cache.bytes_in_use();
  report.kv_bytes.end = report.kv_bytes.after_event;
  report.kv_bytes.peak = cache.bytes_peak();
  report.kv_bytes.allocated = cache.bytes_allocated();
  report.kv_bytes.metadata = metadata_bytes(conversation);
  report.kv_bytes.states = bytes_beside(cache);
  report.layers = layer_figures(cache, conversation.origins, outcome.budgets);
  for (std::size_t layer = 0; layer < std::min(report.layers.size(), outcome.why.size()); ++layer) {
    report.layers[layer].why = outcome.why[layer];
    report.layers[layer].best_scores = outcome.best_scores[layer];
  }
  report.tokens = conversation.origins;
  report.kept = kept_original(cache);
  report.merged = merged_counts(conversation.merge_state, report.kept);
  report.pinned = conversation.pinned;
  report.retained_mass = outcome.retained_mass;
  report.notes = outcome.notes;
  report.makers = conversation.makers;
  report.pruned_tokens = conversation.pruned_tokens;
  return report;
}

SegmentCompression::SegmentCompression(const Recipe& recipe, const SegmentTokens& segment, const ModelInfo& model, Conversation& working)
    : recipe_(recipe),
      retained_(retained_for(recipe, working)),
      about_(info_of(segment, retained_, model, working)),
      compressor_(recipe, about_),
      short_text_(recipe.compresses() && recipe.composition().scope != Scope::kContext && !compressor_.will_compress() &&
                  about_.last_visual() < 0 && about_.tokens < recipe.min_event_tokens()),
      compacted_(PerLayer<bool>::of(about_.layers)) {
  if (recipe.prunes()) pruner_.emplace(recipe, about_);
}

bool SegmentCompression::gains_by_second_pass() const {
  const bool decided_by_the_prefill = !recipe_.static_budgets() && !compressor_.plan_ready(LayerId(0));
  return compressor_.will_compress() && decided_by_the_prefill && !recipe_.context_event() && !compressor_.awaits_first_token();
}

void SegmentCompression::compact_ready(Conversation& working, std::int64_t prefilled_layers) {
  if (!compressor_.will_compress()) return;
  synchronize_device();  // the layer's own work is prefill, not compression
  const Stopwatch watch;
  for (LayerId layer{0}; layer < prefilled_layers; ++layer) {
    if (compacted_[layer] || !compressor_.plan_ready(layer)) continue;
    apply_plan(working.cache, compressor_, layer, working.merge_state);
    compacted_[layer] = true;
  }
  synchronize_device();
  compress_ms_ += watch.elapsed_ms();
}

void SegmentCompression::compact_all(Conversation& working, const EmitEvent& emit) {
  const auto layers = static_cast<std::uint64_t>(compacted_.layers());
  emit(Progress{Phase::kCompress, 0, layers});
  compact_ready(working, static_cast<std::int64_t>(layers));
  emit(Progress{Phase::kCompress, layers, layers});
  event_over_ = true;
}

void SegmentCompression::finish(Conversation& working, const EmitEvent& emit) {
  if (compressor_.will_compress() && !event_over_) compact_all(working, emit);
  working.compressed = working.compressed || ((compressor_.will_compress() || pruner_) && about_.last_visual() >= 0);
  working.decode_policy = next_decode_policy(working.decode_policy.get(), recipe_, compressor_, working.cache);
}

EventOutcome SegmentCompression::outcome() const {
  EventOutcome outcome;
  if (compressor_.will_compress()) outcome.budgets = compressor_.budgets();
  for (LayerId layer{0}; layer < about_.layers; ++layer) {
    outcome.why.push_back(compressor_.reasons(layer));
    outcome.best_scores.push_back(compressor_.best_scores(layer));
  }
  outcome.retained_mass = retained_mass(compressor_);
  outcome.notes = codes_of(compressor_.notes());
  if (short_text_) outcome.notes.push_back(CompressionNote::kShortText);
  return outcome;
}

LayerSlots SegmentCompression::foreseen_slots(bool reads_first_token, std::int64_t after_event) {
  LayerSlots slots;
  slots.after_event = after_event;
  slots.end = about_.first_original + static_cast<std::int32_t>(about_.tokens);
  slots.appended = PerLayer<std::int64_t>::of(about_.layers, about_.tokens);
  if (pruner_) {
    for (LayerId layer{pruner_->layer()}; layer < about_.layers; ++layer) slots.appended[layer] = pruner_->kept_count();
  }
  for (LayerId layer{0}; layer < about_.layers; ++layer) {
    if (about_.window(layer) > 0) slots.appended[layer] = std::min(slots.appended[layer], about_.window(layer) - 1);
  }
  if (pruner_) {
    for (const std::int64_t appended : slots.appended)
      slots.kept.push_back(std::vector<std::int64_t>(static_cast<std::size_t>(about_.kv_heads), appended));
    return slots;
  }
  slots.by_second_pass = gains_by_second_pass();
  slots.after_first_token = compressor_.awaits_first_token() && reads_first_token;
  if (slots.after_first_token) {
    compressor_.add_first_token();
    for (std::int64_t& appended : slots.appended) ++appended;
  }
  slots.kept = compressor_.foreseen_slots();
  if (after_event > 0) slots.seen = compressor_.foreseen_slots(after_event);
  slots.whole_cache = about_.retained != nullptr;
  slots.layer_by_layer = recipe_.static_budgets() && !slots.after_first_token && !recipe_.context_event();
  return slots;
}

SegmentTokens judged_tokens(const Recipe& recipe, const SegmentTokens& segment) {
  return recipe.context_event() && segment.visual > 0 ? segment.first(segment.context_end()) : segment;
}

std::int64_t metadata_bytes(const Conversation& conversation) {
  return conversation.cache.bytes_metadata() + (conversation.decode_policy ? conversation.decode_policy->bytes_metadata() : 0);
}

Recipe recipe_for(RecipeSpec spec, const ModelInfo& model) {
  Recipe recipe = Recipe::from_spec(with_measured_options(std::move(spec), model.traits.measured));
  if (const std::optional<Error> misfit = recipe.misfit(model.traits)) throw Exception(*misfit);
  return recipe;
}

}  // namespace winnow
