#include "engine/generation/prefill/turn_prefill.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/prefill/context_probe.h"

namespace winnow {

// Shows each layer to every recipe that wants it.
class TurnPrefill::Audience : public PrefillObserver {
 public:
  explicit Audience(std::deque<SegmentCompression>& compressions) : compressions_(compressions) {}
  bool wants_views() const override {
    return std::any_of(compressions_.begin(), compressions_.end(),
                       [](SegmentCompression& each) { return each.compressor().wants_views(); });
  }
  void on_layer(const LayerView& view) override {
    const Stopwatch watch;
    StatisticsMemo memo;
    for (SegmentCompression& each : compressions_) {
      if (each.compressor().wants_views()) each.compressor().on_layer(view, memo);
    }
    elapsed_ms_ += watch.elapsed_ms();
  }
  // In all; less than what the recipes took together where they wanted the same.
  double elapsed_ms() const { return elapsed_ms_; }

 private:
  double elapsed_ms_ = 0.0;
  std::deque<SegmentCompression>& compressions_;
};

namespace {

// The same votes with `rows` that got none before them.
HeadScores with_rows_before(const HeadScores& votes, std::int64_t rows) {
  HeadScores all{votes.heads, rows + votes.columns, {}};
  all.values.reserve(static_cast<std::size_t>(all.heads * all.columns));
  for (std::int64_t head = 0; head < votes.heads; ++head) {
    all.values.insert(all.values.end(), static_cast<std::size_t>(rows), 0.0F);
    const std::span<const float> row = votes.row(head);
    all.values.insert(all.values.end(), row.begin(), row.end());
  }
  return all;
}

// Rows [first, first + count) as a segment of their own.
TurnSegment part_of(const TurnSegment& segment, std::int64_t first, std::int64_t count) {
  TurnSegment part;
  part.hidden = segment.hidden.narrow(0, first, count).clone();
  part.positions = segment.positions.narrow(1, first, count);
  const auto begin = segment.originals.begin() + static_cast<std::ptrdiff_t>(first);
  part.originals.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return part;
}

}  // namespace

TurnPrefill::TurnPrefill(const RequestContext& context, const Turn& turn, Conversation start, const std::vector<const Recipe*>& recipes,
                         Compaction compaction)
    : context_(context), conversation_(std::move(start)) {
  const bool alone = recipes.size() == 1;
  require(alone || (compaction == Compaction::kAfterTheLast &&
                    std::all_of(recipes.begin(), recipes.end(), [](const Recipe* recipe) { return recipe->shares_prefill(); })),
          "TurnPrefill: recipes that cannot share a prefill");
  const at::Device device = context_.network().text().kv_shape().device;
  if (conversation_.cache.shape().device != device) conversation_.cache = conversation_.cache.on_device(device);
  const Stopwatch watch;
  segment_ = prepare_segment(context_, turn, alone ? recipes.front() : nullptr, conversation_);
  timings_ = segment_.timings;
  judged_ = alone ? judged_tokens(*recipes.front(), segment_.tokens) : segment_.tokens;
  for (const Recipe* recipe : recipes) {
    compressions_.emplace_back(*recipe, judged_, context_.network().info(), conversation_);
  }
  const double recipes_ms = run_layers(compaction);
  shared_ms_ = watch.elapsed_ms() - recipes_ms;
}

double TurnPrefill::run_layers(Compaction compaction) {
  TurnTrace* const trace = context_.trace;
  const at::Tensor positions = segment_.positions;  // of all tokens, before any is pruned
  Audience audience(compressions_);
  PrefillHooks hooks;
  hooks.observer = &audience;
  if (compressions_.size() == 1) hooks.pruner = compressions_.front().pruner();
  if (compaction == Compaction::kLayerByLayer) {
    hooks.after_layer = [this](std::int64_t layers_done) { compressions_.front().compact_ready(conversation_, layers_done); };
  }
  conversation_.cache.reset_peak();
  const bool all_rows = trace != nullptr && trace->wanted == TraceLogits::kAllPositions;
  const LogitRows rows = all_rows ? LogitRows::kAll : LogitRows::kLast;
  const bool parted = std::any_of(compressions_.begin(), compressions_.end(), [](SegmentCompression& each) {
    return each.compressor().will_compress() && each.compressor().recipe().context_event();
  });
  const SegmentPrefill prefill = parted ? run_context(rows) : prefill_segment(context_, segment_, conversation_, hooks, rows);
  logits_ = prefill.last_logits();
  double recipes_ms = parted ? compressions_.front().statistics_ms() : audience.elapsed_ms();
  if (hooks.pruner != nullptr) recipes_ms += hooks.pruner->statistics_ms();
  for (const SegmentCompression& each : compressions_) recipes_ms += each.compress_ms();
  timings_.prefill = prefill.elapsed_ms - recipes_ms;
  if (trace != nullptr) {
    const std::span<const std::int64_t> ids =
        std::span(conversation_.token_ids).subspan(static_cast<std::size_t>(segment_.tokens.first_original));
    trace->input_ids = at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong);
    trace->position_ids = positions.to(at::kCPU).contiguous();
    trace->logits = prefill.logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  }
  return recipes_ms;
}

SegmentPrefill TurnPrefill::run_context(LogitRows rows) {
  SegmentCompression& compression = compressions_.front();
  SegmentCompressor& compressor = compression.compressor();
  const std::int64_t end = judged_.size();
  const std::int64_t asked = segment_.tokens.size() - end;
  require(asked > 0, "TurnPrefill: a template that writes nothing after the media");
  const Stopwatch watch;
  TurnSegment context = part_of(segment_, 0, end);
  TurnSegment question = part_of(segment_, end, asked);
  question.next_position = segment_.next_position;
  // The question begins with text, whose position is the same on every axis.
  context.next_position = segment_.positions.select(1, end).select(0, 0).item<std::int64_t>();
  PrefillHooks hooks;
  hooks.observer = &compressor;
  SegmentPrefill prefill = prefill_segment(context_, context, conversation_, hooks, rows);

  const StatisticsNeeds& needs = compressor.recipe().needs();
  if (needs.probe) {
    const Stopwatch probing;
    const std::int64_t first = judged_.context_begin();
    const auto origins = std::span(conversation_.origins)
                             .subspan(static_cast<std::size_t>(judged_.first_original + first), static_cast<std::size_t>(end - first));
    const ProbedContext probed{conversation_, segment_.hidden.narrow(0, first, end - first), origins, segment_.probe};
    probe_context(context_, probed, *needs.probe,
                  [&](LayerId layer, const HeadScores& votes) { compressor.on_probe(layer, with_rows_before(votes, first)); });
    synchronize_device();
    compression.add_probe_ms(probing.elapsed_ms());
  }
  compression.compact_all(conversation_, context_.emit);
  segment_.hidden.reset();

  const SegmentPrefill answered = prefill_segment(context_, question, conversation_, PrefillHooks(), rows);
  prefill.logits = rows == LogitRows::kAll ? at::cat({prefill.logits, answered.logits}) : answered.logits;
  prefill.elapsed_ms = watch.elapsed_ms();
  return prefill;
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
  ready.report = compression.report(ready.start.state, network.info());
  const TokenPruner* const pruner = compression.pruner();
  if (segment_.pins_above_budget || (pruner != nullptr && pruner->pins_above_budget())) {
    ready.report.notes.push_back(CompressionNote::kPinsAboveBudget);
  }
  if (context_.trace != nullptr) context_.trace->kept = ready.report.kept;
  return ready;
}

}  // namespace winnow
