// The layers of a decoder whose slots lie beside the others' (DecoderConfig::sliding).
#include <algorithm>
#include <array>

#include "engine/kv_cache/stored_rows.h"
#include "engine/layers/attention.h"
#include "engine/layers/window_slots.h"
#include "engine/models/decoder/past_rows.h"
#include "engine/models/decoder/transformer_decoder.h"

namespace winnow {

void TransformerDecoder::prefill_sliding(const Layer& layer, const at::Tensor& hidden, const SegmentPlace& segment, KvCache& cache,
                                         const InterruptToken& interrupt) const {
  KvCache& beside = *cache.sliding();
  const std::int64_t rows = hidden.size(0);
  const std::int64_t heads = config_.heads;
  const std::int64_t kv_heads = layer.kv_heads;
  const PastKeyValues past = past_rows(beside, layer.own, segment.original.front(), /*viewed=*/false);
  const AttentionWindow seen{config_.sliding->window, 0, {segment.spans.begin(), segment.spans.end()}, true};
  at::Tensor key = at::empty({kv_heads, rows, layer.head_dim}, hidden.options());
  at::Tensor value = at::empty_like(key);
  for (std::int64_t first = 0, count = 0; first < rows; first += count) {
    interrupt.throw_if_requested();
    count = std::min(tile_rows_, rows - first);
    if (const RowSpan* cut = span_of(seen.bidirectional, first + count - 1)) count = cut->end() - first;
    const at::Tensor whole = hidden.narrow(0, first, count);
    at::Tensor tile = whole.narrow(1, 0, config_.hidden_size);
    const at::Tensor input = layer.input_norm(tile);
    const at::Tensor qkv = split_heads(layer, layer.qkv(input)).second;
    const RotaryAngles angles = other_rotary_->angles(segment.positions.narrow(1, first, count));
    at::Tensor query = at::empty({count, heads, layer.head_dim}, hidden.options());
    at::Tensor tile_key = key.narrow(1, first, count).transpose(0, 1);
    apply_rotary(qkv.narrow(1, 0, heads), angles, query);
    apply_rotary(qkv.narrow(1, heads, kv_heads), angles, tile_key);
    value.narrow(1, first, count).copy_(qkv.narrow(1, heads + kv_heads, kv_heads).transpose(0, 1));
    round_as_stored(key.narrow(1, first, count), beside.shape().storage);
    round_as_stored(value.narrow(1, first, count), beside.shape().storage);
    const AttentionResult attention = prefill_attention(query, key, value, first, past, scale_, seen);
    finish_rows(layer, input, layer.attended(attention.output, {}), tile, input_of(layer, whole));
  }
  append_seen(beside, layer.own, {key, value, segment.original, segment.positions});
}

void TransformerDecoder::step_sliding(const Layer& layer, at::Tensor& hidden, const StepPlace& step) const {
  const std::int64_t heads = config_.heads;
  const std::int64_t kv_heads = layer.kv_heads;
  const at::Tensor input = layer.input_norm(hidden);
  const at::Tensor qkv = split_heads(layer, layer.qkv(input)).second;
  at::Tensor rotated = at::empty({hidden.size(0), heads + kv_heads, layer.head_dim}, hidden.options());
  apply_rotary(qkv.narrow(1, 0, heads + kv_heads), step.other_angles, rotated);
  for_rows(step.rows, [&](StepRow& row, std::size_t i) {
    const auto own = [&](const at::Tensor& of_all, std::int64_t first) {
      return of_all.narrow(0, static_cast<std::int64_t>(i), 1).narrow(1, first, kv_heads).transpose(0, 1);
    };
    const std::array originals = {row.token.original};
    row.cache->sliding()->append(layer.own, own(rotated, heads), own(qkv, heads + kv_heads), originals);
  });
  const at::Tensor attention = attention_over_slots(rotated.narrow(1, 0, heads), step.rows, layer.own, Slots::kBeside);
  for_rows(step.rows, [&](StepRow& row, std::size_t) {
    const DecodeRow nobody;
    finish_layers(*row.cache->sliding(), layer.own, {&nobody, 1}, row.token.original, nullptr);
  });
  finish_rows(layer, input, layer.attended(attention, {}), hidden, input_of(layer, step.embedded));
}

}  // namespace winnow
