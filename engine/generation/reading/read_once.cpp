#include "engine/generation/reading/read_once.h"

#include <span>
#include <utility>

#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/prefill/traced_rows.h"
#include "engine/generation/reading/context_probe.h"

namespace winnow {
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

}  // namespace

PreparedContext ReadOnce::prepare(const RequestContext& context, const UnreadMedia& media) const {
  TurnSegment& segment = media.begun.segment;
  Conversation& working = media.begun.conversation;
  SegmentCompression& compression = media.compression;
  SegmentCompressor& compressor = compression.compressor();
  const std::int64_t first = media.judged.context_begin();
  const std::int64_t count = media.judged.size() - first;
  const ProbeNeed* const need = recipe_.needs().probe ? &*recipe_.needs().probe : nullptr;
  at::Tensor embeddings;  // the prefill writes into the segment's own
  if (need != nullptr) embeddings = segment.hidden.narrow(0, first, count).clone();
  working.cache.reset_peak();
  PrefillHooks hooks;
  const std::int64_t further = segment.next_position - segment.positions.narrow(1, first, count).min().item<std::int64_t>();
  ContextReading reading(compressor, need, {first, count, further}, context.network().text().layers());
  hooks.observer = &reading;
  const SegmentPrefill prefill = prefill_segment(context, segment, working, hooks, rows_of(context.trace, LogitRows::kNone));
  trace_rows(context.trace, segment.positions, prefill.logits);
  compression.add_probe_ms(reading.elapsed_ms());
  const double seen_ms = compression.statistics_ms();

  PreparedMedia made = prepared_media(media);
  if (need != nullptr) {
    const Stopwatch probing;
    const auto origins = std::span(working.origins).last(static_cast<std::size_t>(count));
    made.description = probe_context(context, {working, embeddings, origins, segment.probe, reading.votes()}, *need,
                                     [&](LayerId layer, const HeadScores& votes) {
                                       const std::int64_t rows = compressor.candidates(layer, KvHead(0)).info.tokens;
                                       compressor.on_probe(layer, with_rows_before(votes, rows - votes.columns));
                                     });
    synchronize_device();
    compression.add_probe_ms(probing.elapsed_ms());
  }
  compression.finish(working, context.emit);
  made.outcome = compression.outcome();
  made.timings.prefill = prefill.elapsed_ms - seen_ms;
  made.timings.statistics = compression.statistics_ms();
  made.timings.compress = compression.compress_ms();
  return PreparedContext(std::move(working), std::move(made));
}

}  // namespace winnow
