#include "engine/generation/prefill/segment_prefill.h"

#include <algorithm>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"

namespace winnow {
namespace {

// Spans of rows as they lie once only the kept rows, ascending, are left.
std::vector<RowSpan> among_kept(const std::vector<RowSpan>& spans, const std::vector<std::int32_t>& kept) {
  std::vector<RowSpan> left;
  for (const RowSpan& span : spans) {
    const auto first = std::ranges::lower_bound(kept, span.first) - kept.begin();
    const auto end = std::ranges::lower_bound(kept, span.end()) - kept.begin();
    if (end - first > 1) left.push_back({first, end - first});
  }
  return left;
}

void drop_rows(TurnSegment& segment, const std::vector<std::int32_t>& kept) {
  const at::Tensor rows = index_on(segment.hidden.device(), kept);
  segment.hidden = segment.hidden.index_select(0, rows);
  segment.positions = segment.positions.index_select(1, rows);
  std::vector<std::int32_t> originals;
  for (const std::int32_t row : kept) originals.push_back(segment.originals[static_cast<std::size_t>(row)]);
  segment.originals = std::move(originals);
}

}  // namespace

SegmentPrefill prefill_segment(const RequestContext& context, TurnSegment& segment, Conversation& working, const PrefillHooks& hooks,
                               LogitRows rows) {
  const TextDecoder& text = context.network().text();
  const Stopwatch watch;
  TokenPruner* const pruner = hooks.pruner;
  AttentionWindow window = hooks.window;
  window.bidirectional = segment.tokens.bidirectional;
  PrefillObserver* const watching = hooks.observer != nullptr && hooks.observer->wants_views() ? hooks.observer : nullptr;
  for (LayerId layer{0}; layer < text.layers(); ++layer) {
    context.interrupt.throw_if_requested();
    if (hooks.says_progress)
      context.emit(Progress{Phase::kPrefill, static_cast<std::uint64_t>(hooks.pass * text.layers() + layer),
                            static_cast<std::uint64_t>(hooks.passes * text.layers())});
    if (pruner != nullptr && layer == pruner->layer()) {
      const std::vector<std::int32_t> kept = pruner->kept_rows();
      drop_rows(segment, kept);
      window.bidirectional = among_kept(window.bidirectional, kept);
    }
    if (hooks.before_layer) hooks.before_layer(layer, segment);
    PrefillObserver* const judging = pruner != nullptr && layer < pruner->layer() ? pruner : watching;
    text.prefill_layer(layer, segment.hidden, segment.positions, segment.originals, working.cache, judging, window, context.interrupt);
    if (hooks.after_layer) hooks.after_layer(layer + 1);
  }
  context.interrupt.throw_if_requested();
  SegmentPrefill done;
  if (rows == LogitRows::kAll) done.logits = text.logits(segment.hidden);
  if (rows == LogitRows::kLast) done.logits = text.logits(segment.hidden.narrow(0, segment.hidden.size(0) - 1, 1));
  segment.hidden.reset();
  synchronize_device();  // so that the prefill's time is the prefill's
  working.next_position = segment.next_position;
  done.elapsed_ms = watch.elapsed_ms();
  return done;
}

}  // namespace winnow
