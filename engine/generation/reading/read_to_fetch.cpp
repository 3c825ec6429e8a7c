#include "engine/generation/reading/read_to_fetch.h"

#include <algorithm>
#include <utility>

#include "engine/generation/prefill/block_count.h"
#include "engine/generation/prefill/traced_rows.h"
#include "engine/generation/reading/frame_retrieval.h"

namespace winnow {

PreparedContext ReadToFetch::prepare(const RequestContext& context, const UnreadMedia& media) const {
  TurnSegment& segment = media.begun.segment;
  Conversation& working = media.begun.conversation;
  working.cache.reset_peak();
  PrefillHooks hooks;
  hooks.window = {recipe_.composition().media_window, media.judged.context_begin()};
  const SegmentPrefill prefill = prefill_segment(context, segment, working, hooks, rows_of(context.trace, LogitRows::kNone));
  trace_rows(context.trace, segment.positions, prefill.logits);
  PreparedMedia made = prepared_media(media);
  made.timings.prefill = prefill.elapsed_ms;
  return PreparedContext(std::move(working), std::move(made));
}

ReadyTurn ReadToFetch::read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question,
                                     Conversation working) const {
  // Nothing of the question is in the cache yet, but its names are.
  FrameRetrieval retrieval(context, recipe_, prepared.tokens, working);
  PrefillHooks hooks;
  hooks.before_layer = [&](LayerId layer, const TurnSegment& segment) { retrieval.before_layer(layer, segment); };
  SegmentPrefill prefill = prefill_segment(context, question, working, hooks, rows_of(context.trace, LogitRows::kLast));
  SegmentCompression& compression = retrieval.compression();
  compression.finish(working, context.emit);
  ReadyTurn ready = ready_turn(context, prepared, {question, std::move(working), std::move(prefill), compression.outcome()});
  ready.timings.statistics = retrieval.ms();
  ready.timings.compress = compression.compress_ms();
  ready.timings.prefill -= ready.timings.statistics + ready.timings.compress;
  return ready;
}

// Each layer of a fork is cut down to what the question fetches, then reads the question.
ForeseenCache ReadToFetch::foresee_question(const Conversation& prepared, const SegmentTokens& judged, const LayerSlots& slots) const {
  const KvCache& store = prepared.cache;
  const std::int64_t tokens = judged.size();
  const KvShape& shape = store.shape();
  BlockCount blocks(shape, blocks_held(store));
  ForeseenCache cache;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    std::int64_t question = 0;
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t all = store.slots(layer, head);
      const std::int64_t stay = all - tokens + slots.kept[layer][static_cast<std::size_t>(head)];
      const std::int64_t untouched = stay == all ? KvCache::blocks_for(all) : (all - tokens) / KvCache::kBlockSlots;
      const std::int64_t fresh = stay == all ? 0 : KvCache::blocks_for(stay) - untouched;
      blocks.replace(KvCache::blocks_for(all) - untouched, fresh);
      question += KvCache::blocks_for(stay + slots.after_event) - KvCache::blocks_for(stay);
      cache.slots += stay + slots.after_event;
    }
    blocks.layer_done();
    blocks.add(question);
  }
  cache.peak_blocks = blocks.peak();
  return cache;
}

}  // namespace winnow
