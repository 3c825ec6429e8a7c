// Attention written out: a full matrix of logits in fp64, one softmax. The definition that the layers are compared with.
#pragma once

#include <ATen/ATen.h>

#include <limits>

#include "engine/layers/attention_window.h"

namespace winnow::test_support {

struct DenseAttention {
  at::Tensor output;       // [t, d]
  at::Tensor log_sum_exp;  // [t]
};

// One query head. query: [t, d]; past_key/value: [m, d] seen by all rows (m may be 0); key/value: [n, d], row i of the tile that starts at
// `first` sees 0 .. first + i; of these the last window.tokens and the first window.lead where there is a window, and all of its span, or
// what is later in it.
inline DenseAttention dense_attention(const at::Tensor& query, const at::Tensor& past_key, const at::Tensor& past_value,
                                      const at::Tensor& key, const at::Tensor& value, std::int64_t first, double scale,
                                      const AttentionWindow& window = {}) {
  const at::Tensor keys = at::cat({past_key, key}, 0).to(at::kDouble);
  const at::Tensor values = at::cat({past_value, value}, 0).to(at::kDouble);
  at::Tensor logits = at::matmul(query.to(at::kDouble), keys.t()) * scale;
  const at::Tensor row = at::arange(query.size(0)).unsqueeze(1) + first + past_key.size(0);
  const at::Tensor column = at::arange(keys.size(0)).unsqueeze(0);
  at::Tensor hidden = column > row;
  if (window.tokens > 0) hidden = hidden.logical_or((column <= row - window.tokens).logical_and(column >= past_key.size(0) + window.lead));
  for (const RowSpan& span : window.bidirectional) {
    const auto inside = [&](const at::Tensor& token) {
      return token.ge(past_key.size(0) + span.first).logical_and(token.lt(past_key.size(0) + span.end()));
    };
    at::Tensor seen = inside(row).logical_and(inside(column));
    if (window.hides_of_spans) seen = seen.logical_and(column > row);
    hidden = hidden.logical_and(seen.logical_not());
  }
  logits = logits.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return {at::matmul(at::softmax(logits, -1), values), at::logsumexp(logits, {-1})};
}

}  // namespace winnow::test_support
