#include "engine/generation/prefill/ready_turn.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/compression/retained_slots.h"
#include "engine/generation/prefill/segment_prefill.h"

namespace winnow {
namespace {

// Shows each layer to every event that wants it.
class Audience : public PrefillObserver {
 public:
  explicit Audience(std::vector<SegmentCompression>& events) : events_(events) {}
  bool wants_views() const override {
    return std::any_of(events_.begin(), events_.end(), [](SegmentCompression& event) { return event.compressor().wants_views(); });
  }
  void on_layer(const LayerView& view) override {
    const Stopwatch watch;
    StatisticsMemo memo;
    for (SegmentCompression& event : events_) {
      if (event.compressor().wants_views()) event.compressor().on_layer(view, memo);
    }
    elapsed_ms_ += watch.elapsed_ms();
  }
  // In all; less than what the events took together where they wanted the same.
  double elapsed_ms() const { return elapsed_ms_; }

 private:
  double elapsed_ms_ = 0.0;
  std::vector<SegmentCompression>& events_;
};

TokenCounts counts_of(const TurnSegment& segment) {
  TokenCounts counts;
  counts.prompt = segment.tokens();
  counts.visual = segment.visual_tokens;
  counts.text = segment.tokens() - segment.visual_tokens;
  return counts;
}

}  // namespace

ReadyTurn prefill_turn(LoadedModel& model, MediaOpener* opener, const Turn& turn, const ChooseFirst& first, Conversation& working,
                       std::optional<Conversation>* full, TurnTrace* trace, const EmitEvent& emit, const InterruptToken& interrupt) {
  const VisionLanguageModel& network = *model.network;
  const Recipe recipe = recipe_for(turn.recipe, network.info());
  ReadyTurn ready;
  TurnSegment segment = prepare_segment(model, opener, turn.messages, turn.pins, turn.sampling.max_new_tokens, &recipe, working,
                                        ready.timings, trace, emit, interrupt);
  ready.tokens = counts_of(segment);
  ready.work = segment.work;

  SegmentInfo about = segment_info(segment.modality, segment.first_original, network.info(), working);
  RetainedSlots retained;
  if (recipe.whole_cache() && !working.thread.empty()) {
    retained = take_retained(working.cache, working.origins, working.decode_policy.get());
    about.retained = &retained;
  }
  SegmentCompression event(recipe, about);
  std::optional<TokenPruner> pruner;
  if (recipe.prunes()) pruner.emplace(recipe, about);
  const at::Tensor positions = segment.positions;  // of all tokens, before any is pruned
  working.cache.reset_peak();
  const bool all_rows = trace != nullptr && trace->wanted == TraceLogits::kAllPositions;
  const auto after_layer = [&](std::int64_t layers_done) {
    if (full == nullptr) event.compact_ready(working, layers_done);
  };
  const SegmentPrefill prefill = prefill_segment(network.text(), segment, working, &event.compressor(), pruner ? &*pruner : nullptr,
                                                 after_layer, all_rows ? LogitRows::kAll : LogitRows::kLast, emit, interrupt);
  ready.timings.statistics = event.statistics_ms() + (pruner ? pruner->statistics_ms() : 0.0);
  ready.timings.prefill = prefill.elapsed_ms - ready.timings.statistics - event.compress_ms();
  if (full != nullptr) {
    *full = working.fork();
    (*full)->thread = turn.messages;
  }
  ready.first_logits = prefill.last_logits();
  ready.first_step = read_first_token(network, event.compressor(), first, ready.first_logits, working);
  event.finish(working, emit);
  working.compressed = working.compressed || (pruner && segment.visual_tokens > 0);
  ready.timings.compress = event.compress_ms();
  ready.report = event.report(working, network.info());
  if (segment.pins_above_budget || (pruner && pruner->pins_above_budget())) ready.report.notes.push_back(CompressionNote::kPinsAboveBudget);
  if (trace != nullptr) {
    trace->input_ids = at::tensor(segment.token_ids, at::kLong);
    trace->position_ids = positions.to(at::kCPU).contiguous();
    trace->logits = prefill.logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
    trace->kept = ready.report.kept;
  }
  return ready;
}

SharedPrefill::SharedPrefill(LoadedModel& model, MediaOpener* opener, std::span<const Message> thread, std::span<const Pin> pins,
                             int max_new_tokens, std::span<const Recipe* const> recipes, const EmitEvent& emit,
                             const InterruptToken& interrupt)
    : network_(*model.network), full_(model.network->text().kv_shape()) {
  const Stopwatch watch;
  segment_ = prepare_segment(model, opener, thread, pins, max_new_tokens, nullptr, full_, timings_, nullptr, emit, interrupt);
  const SegmentInfo about = segment_info(segment_.modality, segment_.first_original, network_.info(), full_);
  for (const Recipe* recipe : recipes) events_.emplace_back(*recipe, about);
  Audience audience(events_);
  const SegmentPrefill prefill =
      prefill_segment(model.network->text(), segment_, full_, &audience, nullptr, {}, LogitRows::kLast, emit, interrupt);
  first_logits_ = prefill.last_logits();
  timings_.prefill = prefill.elapsed_ms - audience.elapsed_ms();
  shared_ms_ = watch.elapsed_ms() - audience.elapsed_ms();
}

ReadyTurn SharedPrefill::compress(std::size_t index, const ChooseFirst& first, Conversation& working, const EmitEvent& emit) {
  SegmentCompression& event = events_.at(index);
  working.cache.reset_peak();
  ReadyTurn ready;
  ready.first_step = read_first_token(network_, event.compressor(), first, first_logits_, working);
  event.finish(working, emit);
  ready.tokens = counts_of(segment_);
  ready.timings = timings_;
  ready.timings.statistics = event.statistics_ms();
  ready.timings.compress = event.compress_ms();
  ready.report = event.report(working, network_.info());
  ready.first_logits = first_logits_;
  return ready;
}

}  // namespace winnow
