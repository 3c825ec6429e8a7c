#include "engine/generation/prefill/turn_prefill.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"

namespace winnow {

// Shows each layer to every recipe that wants it.
class TurnPrefill::Audience : public PrefillObserver {
 public:
  explicit Audience(std::deque<SegmentCompression>& compressions) : compressions_(compressions) {}
  bool wants_views() const override {
    return std::any_of(compressions_.begin(), compressions_.end(),
                       [](SegmentCompression& each) { return each.compressor().wants_views(); });
  }
  ReceivedNeed wants_received() const override {
    ReceivedNeed most = ReceivedNeed::kNothing;
    for (SegmentCompression& each : compressions_) most = std::max(most, each.compressor().wants_received());
    return most;
  }
  void on_layer(const LayerView& view) override {
    const Stopwatch watch;
    StatisticsMemo memo;
    for (SegmentCompression& each : compressions_) {
      if (!each.compressor().wants_views()) continue;
      if (compressions_.size() == 1) {
        each.compressor().on_layer(view);  // nobody else asks
      } else {
        each.compressor().on_layer(view, memo);
      }
    }
    elapsed_ms_ += watch.elapsed_ms();
  }
  // In all; less than what the recipes took together where they wanted the same.
  double elapsed_ms() const { return elapsed_ms_; }

 private:
  double elapsed_ms_ = 0.0;
  std::deque<SegmentCompression>& compressions_;
};

TurnPrefill::TurnPrefill(const RequestContext& context, BegunTurn begun, const std::vector<const Recipe*>& recipes, Compaction compaction)
    : context_(context), conversation_(std::move(begun.conversation)), segment_(std::move(begun.segment)) {
  require(
      recipes.size() == 1 || (compaction == Compaction::kAfterTheLast &&
                              std::all_of(recipes.begin(), recipes.end(), [](const Recipe* recipe) { return recipe->shares_prefill(); })),
      "TurnPrefill: recipes that cannot share a prefill");
  const Stopwatch watch;
  timings_ = segment_.timings;
  for (const Recipe* recipe : recipes) {
    compressions_.emplace_back(*recipe, segment_.tokens, context_.network().info(), conversation_);
    require(!recipe->context_event() || !compressions_.back().compressor().will_compress(), "TurnPrefill: an event before the question");
  }
  const double recipes_ms = run_layers(compaction);
  shared_ms_ = begun.elapsed_ms + watch.elapsed_ms() - recipes_ms;
}

double TurnPrefill::first_pass(PrefillHooks hooks) {
  const KvCache before = conversation_.cache.fork();
  const std::int64_t position = conversation_.next_position;
  const at::Tensor embeddings = segment_.hidden.clone();  // layers write into the segment's own
  hooks.after_layer = [&](std::int64_t layers_done) { WholeLayer::restore(conversation_.cache, LayerId(layers_done - 1), before); };
  const SegmentPrefill pass = prefill_segment(context_, segment_, conversation_, hooks, LogitRows::kNone);
  conversation_.next_position = position;
  segment_.hidden = embeddings;
  return pass.elapsed_ms;
}

double TurnPrefill::run_layers(Compaction compaction) {
  TurnTrace* const trace = context_.trace;
  const at::Tensor positions = segment_.positions;  // of all tokens, before any is pruned
  Audience audience(compressions_);
  PrefillHooks hooks{.observer = &audience};
  if (compressions_.size() == 1) hooks.pruner = compressions_.front().pruner();
  if (compaction == Compaction::kLayerByLayer) {
    hooks.after_layer = [this](std::int64_t layers_done) { compressions_.front().compact_ready(conversation_, layers_done); };
  }
  conversation_.cache.reset_peak();
  double first_pass_ms = 0.0;
  if (compaction == Compaction::kLayerByLayer && compressions_.front().reads_twice()) {
    hooks.passes = segment_.work.prefill_passes = 2;
    first_pass_ms = first_pass(hooks);
    hooks.pass = 1;
    hooks.observer = nullptr;
  }
  const bool all_rows = trace != nullptr && trace->wanted == TraceLogits::kAllPositions;
  const LogitRows rows = all_rows ? LogitRows::kAll : LogitRows::kLast;
  const SegmentPrefill prefill = prefill_segment(context_, segment_, conversation_, hooks, rows);
  logits_ = prefill.last_logits();
  double recipes_ms = audience.elapsed_ms();
  if (hooks.pruner != nullptr) recipes_ms += hooks.pruner->statistics_ms();
  for (const SegmentCompression& each : compressions_) recipes_ms += each.compress_ms();
  timings_.prefill = first_pass_ms + prefill.elapsed_ms - recipes_ms;
  if (trace != nullptr) {
    const std::span<const std::int64_t> ids =
        std::span(conversation_.token_ids).subspan(static_cast<std::size_t>(segment_.tokens.first_original));
    trace->input_ids = at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong);
    trace->position_ids = positions.to(at::kCPU).contiguous();
    trace->logits = prefill.logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  }
  return recipes_ms;
}

ReadyTurn TurnPrefill::ready(const ChooseFirst& first) {
  require(compressions_.size() == 1, "TurnPrefill: the conversation itself is for an only recipe");
  return finish(compressions_.front(), std::move(conversation_), first, context_.emit);
}

ReadyTurn TurnPrefill::ready_fork(std::size_t recipe, const ChooseFirst& first, const EmitEvent& emit) {
  Conversation working = conversation_.fork();
  working.cache.reset_peak();
  return finish(compressions_.at(recipe), std::move(working), first, emit);
}

ReadyTurn TurnPrefill::finish(SegmentCompression& compression, Conversation working, const ChooseFirst& first, const EmitEvent& emit) {
  const VisionLanguageModel& network = context_.network();
  std::optional<FirstStep> first_step = read_first_token(network, compression.compressor(), first, logits_, working);
  compression.finish(working, emit);
  ReadyTurn ready{{std::move(working), logits_, std::move(first_step)}, {}, segment_.tokens.counts(), timings_, segment_.work};
  ready.timings.statistics = compression.statistics_ms();
  ready.timings.compress = compression.compress_ms();
  ready.report = cache_report(compression.outcome(), ready.start.state);
  const TokenPruner* const pruner = compression.pruner();
  if (segment_.pins_above_budget || (pruner != nullptr && pruner->pins_above_budget())) {
    ready.report.notes.push_back(CompressionNote::kPinsAboveBudget);
  }
  if (context_.trace != nullptr) context_.trace->kept = ready.report.kept;
  return ready;
}

}  // namespace winnow
