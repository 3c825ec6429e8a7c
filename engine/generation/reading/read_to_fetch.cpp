#include "engine/generation/reading/read_to_fetch.h"

#include <algorithm>
#include <utility>

#include "engine/generation/prefill/block_count.h"
#include "engine/generation/prefill/traced_rows.h"
#include "engine/generation/reading/frame_retrieval.h"

namespace winnow {
namespace {

// Each layer of a fork is cut down to what the question fetches, then reads the question, while the layers behind it are still whole.
// read: how many of the media's tokens are still to be read into the cache; blocks counts them already.
ForeseenCache foresee_fetching(const KvCache& cache, BlockCount& blocks, std::int64_t tokens, std::int64_t read, const LayerSlots& slots) {
  const KvShape& shape = cache.shape();
  ForeseenCache foreseen;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    std::int64_t question = 0;
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::int64_t all = cache.slots(layer, head) + read;
      const std::int64_t stay = all - tokens + slots.kept[layer][static_cast<std::size_t>(head)];
      const std::int64_t untouched = stay == all ? KvCache::blocks_for(all) : (all - tokens) / KvCache::kBlockSlots;
      const std::int64_t fresh = stay == all ? 0 : KvCache::blocks_for(stay) - untouched;
      blocks.replace(KvCache::blocks_for(all) - untouched, fresh);
      question += KvCache::blocks_for(stay + slots.after_event) - KvCache::blocks_for(stay);
      foreseen.slots += stay + slots.after_event;
    }
    blocks.layer_done();
    blocks.add(question);
  }
  foreseen.peak_blocks = blocks.peak();
  return foreseen;
}

}  // namespace

PreparedContext ReadToFetch::prepare(const RequestContext& context, const UnreadMedia& media) const {
  TurnSegment& segment = media.begun.segment;
  Conversation& working = media.begun.conversation;
  working.cache.reset_peak();
  PrefillHooks hooks{.window = {recipe_.composition().media_window, media.judged.context_begin()}};
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
  PrefillHooks hooks{.before_layer = [&](LayerId layer, const TurnSegment& segment) { retrieval.before_layer(layer, segment); }};
  SegmentPrefill prefill = prefill_segment(context, question, working, hooks, rows_of(context.trace, LogitRows::kLast));
  SegmentCompression& compression = retrieval.compression();
  compression.finish(working, context.emit);
  ReadyTurn ready = ready_turn(context, prepared, {question, std::move(working), std::move(prefill), compression.outcome()});
  ready.timings.statistics = retrieval.ms();
  ready.timings.compress = compression.compress_ms();
  ready.timings.prefill -= ready.timings.statistics + ready.timings.compress;
  return ready;
}

ForeseenCache ReadToFetch::foresee(const Conversation& before, const SegmentTokens& judged, const LayerSlots& slots) const {
  BlockCount blocks(before.cache.shape(), blocks_held(before.cache));
  for (LayerId layer{0}; layer < before.cache.shape().layers; ++layer) {
    for (KvHead head{0}; head < before.cache.shape().kv_heads; ++head) {
      const std::int64_t earlier = before.cache.slots(layer, head);
      blocks.add(KvCache::blocks_for(earlier + judged.size()) - KvCache::blocks_for(earlier));
    }
  }
  return foresee_fetching(before.cache, blocks, judged.size(), judged.size(), slots);
}

ForeseenCache ReadToFetch::foresee_question(const Conversation& prepared, const SegmentTokens& judged, const LayerSlots& slots) const {
  BlockCount blocks(prepared.cache.shape(), blocks_held(prepared.cache));
  return foresee_fetching(prepared.cache, blocks, judged.size(), 0, slots);
}

}  // namespace winnow
