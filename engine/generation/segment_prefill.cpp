#include "engine/generation/segment_prefill.h"

#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"

namespace winnow {

SegmentPrefill prefill_segment(const TextDecoder& text, TurnSegment& segment, Conversation& working, PrefillObserver* observer,
                               const std::function<void(std::int64_t layers_done)>& after_layer, LogitRows rows, const EmitEvent& emit,
                               const InterruptToken& interrupt) {
  const Stopwatch watch;
  const std::int64_t n = segment.tokens();
  PrefillObserver* watching = observer != nullptr && observer->wants_views() ? observer : nullptr;
  for (std::int64_t layer = 0; layer < text.layers(); ++layer) {
    interrupt.throw_if_requested();
    emit(Progress{Phase::kPrefill, static_cast<std::uint64_t>(layer), static_cast<std::uint64_t>(text.layers())});
    text.prefill_layer(layer, segment.hidden, segment.positions, segment.first_original, working.cache, watching, interrupt);
    if (after_layer) after_layer(layer + 1);
  }
  interrupt.throw_if_requested();
  SegmentPrefill done;
  done.logits = text.logits(rows == LogitRows::kAll ? segment.hidden : segment.hidden.narrow(0, n - 1, 1));
  segment.hidden.reset();
  synchronize_device();  // so that the prefill's time is the prefill's
  working.next_position += n;
  done.elapsed_ms = watch.elapsed_ms();
  return done;
}

}  // namespace winnow
