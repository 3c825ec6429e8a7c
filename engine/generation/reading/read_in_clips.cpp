#include "engine/generation/reading/read_in_clips.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/per_layer.h"
#include "engine/generation/prefill/block_count.h"
#include "engine/generation/prefill/traced_rows.h"

namespace winnow {
namespace {

// Rows [first, first + count) of a segment, to be prefilled by themselves.
TurnSegment part_of(const TurnSegment& segment, std::int64_t first, std::int64_t count) {
  TurnSegment part{.hidden = segment.hidden.narrow(0, first, count).clone(), .positions = segment.positions.narrow(1, first, count)};
  const bool last = first + count == segment.positions.size(1);
  // Every axis goes on from a clip's end in the same way where one clip follows the other.
  part.next_position = last ? segment.next_position : segment.positions.select(1, first + count).min().item<std::int64_t>();
  const auto from = segment.originals.begin() + static_cast<std::ptrdiff_t>(first);
  part.originals.assign(from, from + static_cast<std::ptrdiff_t>(count));
  part.tokens.bidirectional = cut_spans(segment.tokens.bidirectional, first, count);
  return part;
}

// Sizes of a stream's tokens.
struct StreamedSizes {
  std::int64_t lead = 0;  // before the media
  std::vector<std::pair<std::int64_t, std::int64_t>> clips;
};

// Media that come clip by clip, as ClipStream holds them. What is asked about them is left to the caller.
ForeseenCache foresee_stream(const KvCache& before, const ClipStream& stream, const LayerSlots& slots, const StreamedSizes& sizes) {
  const KvShape& shape = before.shape();
  ForeseenCache cache;
  BlockCount blocks(shape, blocks_held(before));
  PerLayer<std::vector<std::int64_t>> all;  // per kv head
  const auto add = [&](std::int64_t tokens) {
    for (std::vector<std::int64_t>& heads : all) {
      for (std::int64_t& head : heads) {
        blocks.add(KvCache::blocks_for(head + tokens) - KvCache::blocks_for(head));
        head += tokens;
      }
    }
  };
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    std::vector<std::int64_t> heads;
    for (KvHead head{0}; head < shape.kv_heads; ++head) heads.push_back(before.slots(layer, head));
    all.push_back(std::move(heads));
  }
  add(sizes.lead);
  for (const auto& [first, count] : sizes.clips) {
    add(count);
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      std::vector<std::int64_t>& heads = all[layer];
      std::int64_t media = -sizes.lead * shape.kv_heads;
      for (KvHead head{0}; head < shape.kv_heads; ++head) media += heads[static_cast<std::size_t>(head)] - before.slots(layer, head);
      const std::int64_t stay = stream.slots_after_clip(layer, media);
      if (stay == media) continue;
      for (KvHead head{0}; head < shape.kv_heads; ++head) {
        std::int64_t& of_head = heads[static_cast<std::size_t>(head)];
        const std::int64_t share = stay / shape.kv_heads + (head < stay % shape.kv_heads ? 1 : 0);
        const std::int64_t left = before.slots(layer, head) + sizes.lead + share;
        blocks.replace(KvCache::blocks_for(of_head), KvCache::blocks_for(left));
        of_head = left;
      }
      blocks.layer_done();
    }
  }
  add(slots.after_event);
  cache.peak_blocks = blocks.peak();
  for (const std::vector<std::int64_t>& heads : all) cache.slots = std::accumulate(heads.begin(), heads.end(), cache.slots);
  return cache;
}

}  // namespace

void ClipReading::read(TurnSegment segment) {
  PrefillHooks hooks{.says_progress = false};
  const SegmentPrefill prefill = prefill_segment(context_, segment, made_.state, hooks, rows_of(context_.trace, LogitRows::kNone));
  trace_rows(context_.trace, segment.positions, prefill.logits);
  made_.timings.prefill += prefill.elapsed_ms;
}

void ClipReading::compress(ClipStream& stream, const ClipTokens& clip) {
  Description said = stream.after_clip(context_, recipe_, made_.state, clip);
  if (!said.words.empty()) made_.description = std::move(said);
  made_.state.compressed = true;
  made_.outcome = streamed_outcome(stream, made_.state.cache.shape());
}

PreparedContext ReadInClips::prepare(const RequestContext& context, const UnreadMedia& media) const {
  TurnSegment& segment = media.begun.segment;
  PreparedContext made(std::move(media.begun.conversation), prepared_media(media));
  Conversation& working = made.state;
  const std::int64_t first = media.judged.context_begin();
  const auto origins = std::span<const TokenOrigin>(working.origins).last(static_cast<std::size_t>(media.judged.size() - first));
  working.cache.reset_peak();
  ClipReading reading(context, recipe_, made);
  if (first > 0) reading.read(part_of(segment, 0, first));
  ClipStream stream(recipe_, working.cache, media.judged);
  const auto clips = clips_of(origins, recipe_.composition().streaming.clip_frames);
  for (std::size_t i = 0; i < clips.size(); ++i) {
    context.interrupt.throw_if_requested();
    context.emit(Progress{Phase::kPrefill, i, clips.size()});
    const auto [begin, count] = clips[i];
    reading.read(part_of(segment, first + begin, count));
    reading.compress(stream, {segment.hidden.narrow(0, first + begin, count),
                              origins.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)), segment.probe});
  }
  segment.hidden.reset();
  working.decode_policy = {};
  made.timings.statistics = stream.statistics_ms();
  made.timings.compress = stream.compress_ms();
  return made;
}

ForeseenCache ReadInClips::foresee(const Conversation& before, const SegmentTokens& judged, const LayerSlots& slots) const {
  const std::int64_t first = judged.context_begin();
  const auto origins =
      std::span(before.origins)
          .subspan(static_cast<std::size_t>(judged.first_original + first), static_cast<std::size_t>(judged.size() - first));
  const ClipStream stream(recipe_, before.cache, judged);
  return foresee_stream(before.cache, stream, slots, {first, clips_of(origins, recipe_.composition().streaming.clip_frames)});
}

}  // namespace winnow
