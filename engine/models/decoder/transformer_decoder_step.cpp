// A decode step: one token each of some conversations through all layers, every weight read once on a CPU.
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/layers/decode_attention.h"
#include "engine/layers/device_decode_attention.h"
#include "engine/layers/row_elements.h"
#include "engine/layers/window_slots.h"
#include "engine/models/decoder/transformer_decoder.h"

namespace winnow {
namespace {

// One tensor of what each row has, along their first dimension; a single one's is its own.
template <class OfRow>
at::Tensor joined(std::span<const StepRow> rows, const OfRow& of_row) {
  if (rows.size() == 1) return of_row(rows.front());
  std::vector<at::Tensor> each;
  for (const StepRow& row : rows) each.push_back(of_row(row));
  return at::cat(each);
}

// Row i of several. A single one is not viewed once more: that would take memory in every layer.
at::Tensor row_of(const at::Tensor& rows, std::size_t i) {
  return rows.size(0) == 1 ? rows : rows.narrow(0, static_cast<std::int64_t>(i), 1);
}

// Rows behind row i that its cache has gained, too.
std::int64_t later_tokens(std::span<const StepRow> rows, std::size_t i) {
  return std::ranges::count(rows.subspan(i + 1), rows[i].cache, &StepRow::cache);
}

}  // namespace

at::Tensor TransformerDecoder::attention_over_slots(const at::Tensor& query, std::span<const StepRow> rows, LayerId layer,
                                                    Slots slots) const {
  const auto cache_of = [&](const StepRow& row) { return slots == Slots::kBeside ? std::as_const(*row.cache).sliding() : row.cache; };
  if (device_.is_cpu()) {
    c10::SmallVector<AttendedRow, kFewRows> attended;
    for (std::size_t i = 0; i < rows.size(); ++i)
      attended.push_back({rows[i].failure ? nullptr : cache_of(rows[i]), nullptr, later_tokens(rows, i)});
    return decode_attention(query, {attended.data(), attended.size()}, layer, scale_);
  }
  const KvCache& cache = *cache_of(rows.front());
  const at::Tensor only = query.select(0, 0);
  if (cache.has_shared_entries(layer)) return device_shared_attention(only, cache, layer, scale_, nullptr);
  return device_decode_attention(only, cache.shape(), device_slots(cache, layer), scale_, nullptr);
}

void TransformerDecoder::step_borrowing(at::Tensor& hidden, const StepPlace& step) const {
  for (const Layer& layer : borrowing_) {
    const LayerId lender = *layer.lender;
    const at::Tensor input = layer.input_norm(hidden);
    const at::Tensor heads = split_heads(layer, layer.qkv(input)).second;
    at::Tensor query = at::empty(heads.sizes(), heads.options());
    apply_rotary(heads, rotates_apart(lender) ? step.other_angles : step.angles, query);
    const at::Tensor attention = attention_over_slots(query, step.rows, lender, Slots::kOwn);
    finish_rows(layer, input, layer.attended(attention, {}), hidden, input_of(layer, step.embedded));
  }
}

template <class AnglesOf, class Attend>
at::Tensor TransformerDecoder::run_step(const at::Tensor& ids, std::span<StepRow> rows, const at::Tensor& growth, AnglesOf angles_of,
                                        Attend attend) const {
  const RotaryAngles angles = angles_of(rotary_);
  const RotaryAngles other_angles = other_rotary_ ? angles_of(*other_rotary_) : angles;
  at::Tensor hidden = scaled_rows(ids);
  if (config_.input_scale != 1.0) hidden = hidden * config_.input_scale;
  const at::Tensor embedded = inputs_ ? inputs_->with_sources(hidden, ids) : hidden;
  const StepPlace step{rows, embedded, angles, other_angles};
  at::Tensor added;  // by the layer before; the next norm takes it in
  const auto step_recurrent = [&](const RecurrentLayer& recurrent, LayerId layer, std::int64_t state) {
    if (rows.size() == 1) return recurrent.step(hidden, added, rows.front().cache->states().to_write(layer, state));
    recurrent.step(hidden, added, [&](std::int64_t i) -> LayerState& {
      const StepRow& row = rows[static_cast<std::size_t>(i)];
      LayerState& of_row = row.cache->states().to_write(layer, state);
      if (row.states_before != nullptr) row.states_before->push_back({of_row.recent.clone(), of_row.memory.clone()});
      return of_row;
    });
  };
  for (LayerId layer{0}; layer < layers(); ++layer) {
    const Layer& weights = layers_[layer];
    std::int64_t state = 0;
    for (const RecurrentLayer& recurrent : weights.before) step_recurrent(recurrent, layer, state++);
    for (const Layer& sliding : weights.sliding) step_sliding(sliding, hidden, step);
    const at::Tensor input = added.defined() ? weights.input_norm.after_adding(hidden, added) : weights.input_norm(hidden);
    const auto [gate, qkv] = split_heads(weights, weights.qkv(input));
    if (growth.defined()) qkv.narrow(1, 0, config_.heads).mul_(growth);
    const at::Tensor attention = attend(layer, qkv, rotates_apart(layer) ? other_angles : angles);
    const at::Tensor attended = weights.attended(attention, gate);
    if (weights.end) {
      finish_rows(weights, input, attended, hidden, input_of(weights, embedded));
    } else {
      added = after_attention(weights, input, attended, hidden);
    }
    if (layer + 1 < layers()) continue;
    for (const RecurrentLayer& recurrent : last_) step_recurrent(recurrent, layer, state++);
  }
  if (!borrowing_.empty()) step_borrowing(hidden, step);
  const at::Tensor last = added.defined() ? final_norm_.after_adding(hidden, added) : final_norm_(hidden);
  if (draft_head_) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].hidden = row_of(hidden, i);
  }
  return logits_of(last);
}

at::Tensor TransformerDecoder::device_body(const DeviceStep::Token& token, KvCache* cache, const DeviceStep::Attend& attend) const {
  const at::Tensor positions = token.position.expand({config_.rotary.axes(), 1});
  StepRow row{{0, 0, token.original}, cache};
  return run_step(
      token.id, {&row, cache != nullptr ? 1U : 0U}, growth_at(positions.select(0, 0)),
      [&](const RotaryEmbedding& rotary) { return rotary.angles(positions); }, attend);
}

// On a GPU one after the other: a captured step is of one cache, and products of several rows round otherwise there than those of one.
at::Tensor TransformerDecoder::decode_together(std::span<StepRow> rows) const {
  require(!rows.empty(), "decode: a step has a token");
  for (const StepRow& row : rows)
    require(row.token.id >= 0 && row.token.id < config_.vocabulary, "decode: the token is outside the vocabulary");
  const std::size_t most = device_step_ ? 1 : kFewRows;
  if (rows.size() <= most) return device_step_ ? launched_step(rows.front()) : host_step(rows);
  std::vector<at::Tensor> logits;
  for (std::size_t first = 0; first < rows.size(); first += most)
    logits.push_back(decode_together(rows.subspan(first, std::min(most, rows.size() - first))));
  return at::cat(logits);
}

at::Tensor TransformerDecoder::launched_step(StepRow& row) const {
  at::Tensor logits;
  for_rows({&row, 1}, [&](StepRow&, std::size_t) {
    const bool watched = row.observer != nullptr && row.observer->wants_probabilities();
    const auto rows = watched ? DeviceStep::Rows::kProbabilities : DeviceStep::Rows::kOutputs;
    const DeviceStep::Result step = device_step_->run(row.token, *row.cache, rows);
    finish_layers(*row.cache, LayerId(0), step.rows, row.token.original, row.observer);
    logits = step.logits;
  });
  return logits.defined() ? logits : at::zeros({1, config_.vocabulary}, at::TensorOptions(device_).dtype(at::kFloat));
}

at::Tensor TransformerDecoder::host_step(std::span<StepRow> rows) const {
  const auto count = std::ssize(rows);
  const std::int64_t heads = config_.heads;
  const std::int64_t kv_heads = config_.kv_heads;
  at::Tensor rotated = at::empty({count, heads + kv_heads, config_.head_dim}, dtype_);
  const at::Tensor query = rotated.narrow(1, 0, heads);
  const bool lends = !borrowing_.empty();  // then nothing leaves before the layers that borrow have read it
  struct Own {
    at::Tensor key;
    at::Tensor positions;
    bool watched = false;
    PerLayer<DecodeRow> of_layers;
    DecodeRow only;
    DecodeRow& of(LayerId layer) { return of_layers.empty() ? only : of_layers[layer]; }
  };
  c10::SmallVector<Own, kFewRows> own(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StepRow& row = rows[i];
    own[i].key = row_of(rotated, i).narrow(1, heads, kv_heads).transpose(0, 1);
    const bool needs_positions = key_bias_ != nullptr && row.cache->shape().row_codes().has_value();
    if (needs_positions) own[i].positions = at::full({config_.rotary.axes(), 1}, row.token.position, at::kLong);
    own[i].watched = row.observer != nullptr && row.observer->wants_probabilities();
    if (lends) own[i].of_layers = PerLayer<DecodeRow>::of(layers());
  }
  const auto finish = [&](StepRow& row, LayerId layer, std::span<const DecodeRow> shown) {
    finish_layers(*row.cache, layer, shown, row.token.original, row.observer);
  };
  const at::Tensor ids = joined(rows, [](const StepRow& row) { return at::full({1}, row.token.id, at::kLong); });
  const at::Tensor growth = !config_.query_growth
                                ? at::Tensor()
                                : joined(rows, [&](const StepRow& row) { return growth_at(at::full({1}, row.token.position, at::kLong)); });
  const auto angles_of = [&](const RotaryEmbedding& rotary) {
    if (count == 1) return rotary.angles_at(rows.front().token.position);
    std::vector<at::Tensor> cosines;
    std::vector<at::Tensor> sines;
    for (const StepRow& row : rows) {
      RotaryAngles angles = rotary.angles_at(row.token.position);
      cosines.push_back(std::move(angles.cosine));
      sines.push_back(std::move(angles.sine));
    }
    return RotaryAngles{at::cat(cosines), at::cat(sines)};
  };
  const at::Tensor logits = run_step(ids, rows, growth, angles_of, [&](LayerId layer, const at::Tensor& qkv, const RotaryAngles& of_layer) {
    apply_rotary(qkv.narrow(1, 0, heads + kv_heads), of_layer, rotated);
    const at::Tensor value = qkv.narrow(1, heads + kv_heads, kv_heads);
    for_rows(rows, [&](StepRow& row, std::size_t i) {
      const std::array<std::int32_t, 1> originals = {row.token.original};
      row.cache->append(layer, own[i].key, row_of(value, i).transpose(0, 1), originals, own[i].positions);
    });
    c10::SmallVector<AttendedRow, kFewRows> attended;
    for (std::size_t i = 0; i < rows.size(); ++i)
      attended.push_back({rows[i].failure ? nullptr : rows[i].cache, own[i].watched ? &own[i].of(layer) : nullptr, later_tokens(rows, i)});
    at::Tensor attention = decode_attention(query, {attended.data(), attended.size()}, layer, scale_);
    for_rows(rows, [&](StepRow& row, std::size_t i) {
      DecodeRow& shown = own[i].of(layer);
      if (row.observer != nullptr) shown.output = attention.select(0, static_cast<std::int64_t>(i));
      if (!lends) finish(row, layer, {&shown, 1});
    });
    return attention;
  });
  if (lends) for_rows(rows, [&](StepRow& row, std::size_t i) { finish(row, LayerId(0), own[i].of_layers.values()); });
  return logits;
}

}  // namespace winnow
