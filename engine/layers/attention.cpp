#include "engine/layers/attention.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/layers/shared_entry_attention.h"
#include "engine/layers/tiled_attention.h"

namespace winnow {
namespace {

// [Hkv, m, d] as [Hkv, G, m, d] without a copy.
at::Tensor shared_by_group(const at::Tensor& heads, std::int64_t group) {
  return heads.unsqueeze(1).expand({heads.size(0), group, heads.size(1), heads.size(2)});
}

// Rows that see some of the keys, or none: then 0, with a log-sum-exp of minus infinity. query [Hkv, G, t, d]; key, value [Hkv, m, d];
// hidden: bool [t, m].
AttentionResult partly_hidden(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& hidden,
                              double scale) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const auto wide = [](const at::Tensor& heads) { return heads.to(at::kFloat).unsqueeze(1); };
  at::Tensor logits = at::matmul(query.to(at::kFloat) * scale, wide(key).transpose(2, 3)).masked_fill_(hidden, kNothing);
  const at::Tensor log_sum_exp = at::logsumexp(logits, {-1}, /*keepdim=*/true);
  logits.sub_(log_sum_exp.masked_fill(log_sum_exp == kNothing, 0.0)).exp_();
  return {at::matmul(logits, wide(value)).to(query.scalar_type()), log_sum_exp.squeeze(-1)};
}

// Rows from first_row on, how many each sees with itself (the window's lead beside them), and the logits' scale.
struct SpansOfRows {
  const AttentionWindow& window;
  std::int64_t first_row = 0;
  std::int64_t reach = 0;
  double scale = 1.0;
};

// Adds the cached slots of each KV head to `result` ([Hkv, G, t, d]), of rows from `first` on. Heads go one by one: they may hold different
// numbers of slots.
void merge_past(AttentionResult& result, const at::Tensor& query, std::int64_t first, const PastKeyValues& past, double scale) {
  const std::int64_t kv_heads = query.size(0);
  const std::int64_t group = query.size(1);
  for (KvHead head{0}; head < kv_heads; ++head) {
    AttentionResult part{result.output.narrow(0, head, 1), result.log_sum_exp.narrow(0, head, 1)};
    if (past.cache != nullptr && past.cache->shared_entries(past.layer, head) != nullptr) {
      const SharedEntryAttention shared =
          shared_entry_attention(query.select(0, head).reshape({-1, query.size(3)}), *past.cache, past.layer, head, scale);
      merge_attention(part, {shared.output.view(part.output.sizes()), shared.log_sum_exp.view(part.log_sum_exp.sizes())});
      continue;
    }
    const at::Tensor& key = past.keys[static_cast<std::size_t>(head)];
    const at::Tensor& value = past.values[static_cast<std::size_t>(head)];
    if (key.size(0) == 0) continue;
    const at::Tensor asking = query.narrow(0, head, 1);
    const at::Tensor hidden = past.window.hidden(head, {first, query.size(2)}, {0, key.size(0)}, key.device());
    const AttentionResult over_past = hidden.defined() ? partly_hidden(asking, key.unsqueeze(0), value.unsqueeze(0), hidden, scale)
                                                       : attention_with_lse(asking, shared_by_group(key.unsqueeze(0), group),
                                                                            shared_by_group(value.unsqueeze(0), group), Mask::kNone, scale);
    merge_attention(part, over_past);
  }
}

// Adds to `result` ([Hkv, G, t, d], of rows from `first` on) what rows see of their spans beside what came before them in the window of
// `reach` rows: what comes later, and what the window hides. query: as result's output; key, value: [Hkv, n, d].
void merge_rest_of_spans(AttentionResult& result, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const SpansOfRows& spans) {
  const std::int64_t rows = query.size(2);
  for (const RowSpan& span : spans.window.bidirectional) {
    if (span.end() <= spans.first_row || span.first >= spans.first_row + rows) continue;
    require(span.first >= spans.first_row && span.end() <= spans.first_row + rows, "attention: a tile cuts rows that see each other");
    const auto index = at::TensorOptions().dtype(at::kLong).device(key.device());
    const at::Tensor place = at::arange(span.count, index);
    const at::Tensor back = place.unsqueeze(1) - place.unsqueeze(0);  // rows from the key back to it
    const at::Tensor near = back.lt(spans.reach).logical_or((place + span.first).lt(spans.window.lead).unsqueeze(0));
    // Marks what is merged already, or is not to be seen.
    const at::Tensor left_out = spans.window.hides_of_spans ? back.ge(0) : back.ge(0).logical_and(near);
    AttentionResult part{result.output.narrow(2, span.first - spans.first_row, span.count),
                         result.log_sum_exp.narrow(2, span.first - spans.first_row, span.count)};
    merge_attention(part, partly_hidden(query.narrow(2, span.first - spans.first_row, span.count), key.narrow(1, span.first, span.count),
                                        value.narrow(1, span.first, span.count), left_out, spans.scale));
  }
}

// libtorch's flash attention on a GPU.
bool flash_attention_takes(const at::Tensor& query) {
  const bool narrow = query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
  return narrow && query.size(3) % 8 == 0 && query.size(3) <= 256;
}

}  // namespace

AttentionResult plain_attention_with_lse(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale,
                                         std::int64_t tile_elements) {
  require(query.dim() == 4 && key.dim() == 4 && key.size(2) > 0 && key.sizes() == value.sizes(), "attention: query and keys disagree");
  const std::int64_t batch = query.size(0);
  const std::int64_t heads = query.size(1);
  const std::int64_t rows = query.size(2);
  const std::int64_t keys = key.size(2);
  const std::int64_t head_dim = query.size(3);
  const std::int64_t tile_rows = std::clamp<std::int64_t>(tile_elements / (batch * heads * keys), 1, rows);
  // Heads that read the same keys are rows of one product; others are products of their own.
  const bool shared = key.stride(1) == 0 && value.stride(1) == 0;
  const std::int64_t products = shared ? batch : batch * heads;
  const auto flat = [&](const at::Tensor& all) {
    return (shared ? all.select(1, 0) : all.reshape({products, keys, head_dim})).to(at::kFloat);  // [products, keys, head_dim]
  };
  const at::Tensor wide_key = flat(key);
  const at::Tensor wide_value = flat(value);
  AttentionResult result{at::empty(query.sizes(), query.options()),
                         at::empty({query.size(0), query.size(1), rows}, query.options().dtype(at::kFloat))};
  for (std::int64_t first = 0; first < rows; first += tile_rows) {
    const std::int64_t count = std::min(tile_rows, rows - first);
    const std::int64_t visible = mask == Mask::kCausal ? first + count : keys;
    const at::Tensor scaled = (query.narrow(2, first, count).to(at::kFloat) * scale).reshape({products, -1, head_dim});
    at::Tensor logits = at::bmm(scaled, wide_key.narrow(1, 0, visible).transpose(1, 2)).view({batch, heads, count, visible});
    if (mask == Mask::kCausal) {
      const auto index = at::TensorOptions().dtype(at::kLong).device(query.device());
      const at::Tensor row = at::arange(first, first + count, index).unsqueeze(1);
      logits.masked_fill_(at::arange(0, visible, index).unsqueeze(0).gt(row), -std::numeric_limits<double>::infinity());
    }
    const at::Tensor log_sum_exp = at::logsumexp(logits, {-1}, /*keepdim=*/true);
    logits.sub_(log_sum_exp).exp_();
    const at::Tensor output = at::bmm(logits.view({products, -1, visible}), wide_value.narrow(1, 0, visible));
    result.output.narrow(2, first, count).copy_(output.view({batch, heads, count, head_dim}));
    result.log_sum_exp.narrow(2, first, count).copy_(log_sum_exp.squeeze(-1));
  }
  return result;
}

AttentionResult attention_with_lse(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale) {
  require(query.dim() == 4 && key.dim() == 4 && key.size(2) > 0 && key.sizes() == value.sizes(), "attention: query and keys disagree");
  require(mask == Mask::kNone || query.size(2) == key.size(2), "attention: a causal tile must be square");
  if (!query.device().is_cpu()) {
    if (!flash_attention_takes(query)) return plain_attention_with_lse(query, key, value, mask, scale);
    auto flash = at::_scaled_dot_product_flash_attention(query, key, value, 0.0, mask == Mask::kCausal, false, scale);
    return {std::move(std::get<0>(flash)), std::move(std::get<1>(flash))};
  }
  if (tiled_attention_takes(query, key, value)) return tiled_attention(query, key, value, mask, scale);
  auto [output, log_sum_exp] = at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, mask == Mask::kCausal, {}, scale);
  return {std::move(output), std::move(log_sum_exp)};
}

void merge_attention(AttentionResult& into, const AttentionResult& other) {
  // out = (e^a x + e^b y) / (e^a + e^b) = y + s (x - y) with s = sigmoid(a - b): no overflow whichever is larger.
  const at::Tensor weight = at::sigmoid(into.log_sum_exp - other.log_sum_exp).unsqueeze(-1);
  const at::Tensor theirs = other.output.to(at::kFloat);
  const at::Tensor merged = at::addcmul(theirs, into.output.to(at::kFloat).sub_(theirs), weight);
  into.output.copy_(merged);
  into.log_sum_exp.copy_(at::logaddexp(into.log_sum_exp, other.log_sum_exp));
}

AttentionResult prefill_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, std::int64_t first,
                                  const PastKeyValues& past, double scale, const AttentionWindow& window) {
  const std::int64_t rows = query.size(0);
  const std::int64_t heads = query.size(1);
  const std::int64_t head_dim = query.size(2);
  const std::int64_t kv_heads = key.size(0);
  require(heads % kv_heads == 0 && first + rows <= key.size(1), "attention: segment rows or heads do not fit the keys");
  require(past.empty() || (past.keys.size() == static_cast<std::size_t>(kv_heads) && past.values.size() == past.keys.size()),
          "attention: cached keys for every kv head are needed");
  require(window.tokens >= 0 && window.lead >= 0, "attention: a window of a negative size");
  const std::int64_t group = heads / kv_heads;
  const std::int64_t reach = window.tokens == 0 ? first + rows : window.tokens;

  const at::Tensor grouped = query.view({rows, kv_heads, group, head_dim}).permute({1, 2, 0, 3});
  const auto segment = [&](const at::Tensor& all, std::int64_t begin, std::int64_t count) {
    return shared_by_group(all.narrow(1, begin, count), group);
  };
  const auto attended = [&](std::int64_t begin, std::int64_t count) {
    // Rows [first + begin, first + begin + count), at most as many as a row sees: within them, causal is all there is to it.
    const at::Tensor asking = grouped.narrow(2, begin, count);
    const std::int64_t own = first + begin;
    const at::Tensor of_rows = query.narrow(0, begin, count);
    if (own + count <= reach && causal_attention_takes(of_rows, kv_heads)) {  // they see all that is there
      ReceivedAttention nobody;
      const AttentionResult result = causal_attention({of_rows, key, value, own, scale}, nobody);
      return AttentionResult{result.output.view({count, kv_heads, group, head_dim}).permute({1, 2, 0, 3}),
                             result.log_sum_exp.view({kv_heads, group, count})};
    }
    AttentionResult result = attention_with_lse(asking, segment(key, own, count), segment(value, own, count), Mask::kCausal, scale);
    const auto add = [&](std::int64_t from, std::int64_t to) {  // seen by all of these rows
      if (from >= to) return;
      merge_attention(result,
                      attention_with_lse(asking, segment(key, from, to - from), segment(value, from, to - from), Mask::kNone, scale));
    };
    const std::int64_t lead = std::min(window.lead, own);
    const std::int64_t all_see = std::max(lead, own + count - reach);  // the last row's first key
    const std::int64_t some_see = std::max(lead, own + 1 - reach);     // the first row's
    add(0, all_see == lead ? own : lead);
    if (all_see > lead) add(all_see, own);
    if (some_see < all_see) {
      const auto index = at::TensorOptions().dtype(at::kLong).device(key.device());
      const at::Tensor first_seen = at::arange(own + 1 - reach, own + 1 - reach + count, index).unsqueeze(1);
      const at::Tensor hidden = at::arange(some_see, all_see, index).unsqueeze(0).lt(first_seen);
      const std::int64_t width = all_see - some_see;
      merge_attention(result, partly_hidden(asking, key.narrow(1, some_see, width), value.narrow(1, some_see, width), hidden, scale));
    }
    return result;
  };

  AttentionResult result;
  if (rows <= reach) {
    result = attended(0, rows);
  } else {
    std::vector<at::Tensor> outputs;
    std::vector<at::Tensor> sums;
    for (std::int64_t begin = 0; begin < rows; begin += reach) {
      AttentionResult part = attended(begin, std::min(reach, rows - begin));
      outputs.push_back(std::move(part.output));
      sums.push_back(std::move(part.log_sum_exp));
    }
    result = {at::cat(outputs, 2), at::cat(sums, 2)};
  }
  merge_rest_of_spans(result, grouped, key, value, {window, first, reach, scale});
  if (!past.empty()) merge_past(result, grouped, first, past, scale);
  return {result.output.permute({2, 0, 1, 3}).reshape({rows, heads, head_dim}).contiguous(), result.log_sum_exp.reshape({heads, rows})};
}

}  // namespace winnow
