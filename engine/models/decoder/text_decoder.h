// A language model over a KvCache: token ids or embeddings in, logits out.
//
// Used by engine/generation through vision_language_model.h; transformer_decoder.h is the one that all families have. Threads: engine
// thread only. Errors: Exception.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/index.h"
#include "engine/base/interrupt.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/attention_window.h"
#include "engine/layers/layer_view.h"

namespace winnow {

// A token to decode: text, with the same position on every axis.
struct NextToken {
  std::int64_t id = 0;
  std::int64_t position = 0;
  std::int32_t original = 0;
};

// A token of one conversation in a step that several conversations share. Rows of one cache are tokens that follow each other.
struct StepRow {
  NextToken token{};
  KvCache* cache = nullptr;            // gains the token's K and V
  DecodeObserver* observer = nullptr;  // may be null; sees every layer after its attention: decode-phase methods evict there
  std::exception_ptr failure{};        // of what this row alone met; its logits then mean nothing, and its cache is spoilt
  // May be null; of a row behind another one of its cache on a CPU. Gains copies of the cache's states from before the token, in their
  // order.
  std::vector<LayerState>* states_before = nullptr;
  at::Tensor hidden{};  // [1, hidden] after the last layer, before the last norm; only where draft_shape()
};

// A token that the draft head reads with the one after it.
struct DraftRow {
  at::Tensor hidden;            // StepRow's
  std::int64_t position = 0;    // of the token
  std::int64_t next_token = 0;  // the one after it
};
struct HeadGuess {
  at::Tensor logits;  // fp32 [vocabulary], what may follow the last row's next_token
  at::Tensor hidden;  // [1, hidden] for a row of that token, in the place of what it would leave if the model had read it
};

// Calls work(row, index) for the rows that nothing has happened to yet; what one meets is left in it, and the others go on.
template <class Work>
void for_rows(std::span<StepRow> rows, const Work& work) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].failure) continue;
    try {
      work(rows[i], i);
    } catch (...) {
      rows[i].failure = std::current_exception();
    }
  }
}

class TextDecoder {
 public:
  virtual ~TextDecoder() = default;
  virtual std::int64_t layers() const = 0;
  virtual std::int64_t heads() const = 0;           // query heads
  virtual std::int64_t context_tokens() const = 0;  // positions that it supports
  virtual KvShape kv_shape() const = 0;
  virtual std::int64_t vocabulary() const = 0;
  virtual std::int64_t hidden_size() const = 0;  // of a hidden state, without deepstack features

  // ids: int64 [n], on any device. Returns [n, width] on the model's device, like everything below. A row is a token's input hidden state,
  // followed in some models by its deepstack features (Qwen3-VL).
  virtual at::Tensor embed(const at::Tensor& ids) const = 0;

  // One layer over a whole segment, in row tiles. hidden [n, width] is replaced, in place unless rows become narrower. K and V of the
  // segment are appended to the cache's layer with the n original indices, ascending. positions: int64 [axes, n], preferably on the model's
  // device. The observer (may be null; must not want views if window.tokens > 0) sees the layer once, after its attention. Polls the token
  // per tile and throws Interrupted.
  virtual void prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions, std::span<const std::int32_t> original,
                             KvCache& cache, PrefillObserver* observer, const AttentionWindow& window,
                             const InterruptToken& interrupt) const = 0;

  // hidden: [rows, hidden] after the last layer. Returns fp32 [rows, vocabulary].
  virtual at::Tensor logits(const at::Tensor& hidden) const = 0;

  // One token each of n conversations through all layers over their own (ragged) caches, or several tokens of one without windows, which
  // nobody observes. On a CPU weights are read once for up to kFewRows of them (layers/row_elements.h).
  // Logits, cache and what the observer sees are those of a step of its own, to the bit. Returns fp32 [n, vocabulary]. Errors of a cache
  // or an observer are its row's; others are thrown and spoil all caches.
  virtual at::Tensor decode_together(std::span<StepRow> rows) const = 0;

  // The shape of the draft head's own cache; none: the model has no draft head, or is on a GPU. A draft head tells from what a token left
  // and the token after it which one follows both (multi-token prediction).
  virtual std::optional<KvShape> draft_shape() const { return std::nullopt; }
  // rows: at most kFewRows, which the head's cache gains.
  virtual HeadGuess guess(std::span<const DraftRow> rows, KvCache& cache) const;

  // One token. Returns fp32 [vocabulary].
  at::Tensor decode(const NextToken& token, KvCache& cache, DecodeObserver* observer) const {
    StepRow row{token, &cache, observer};
    const at::Tensor logits = decode_together({&row, 1});
    if (row.failure) std::rethrow_exception(row.failure);
    return logits.select(0, 0);
  }
};

inline HeadGuess TextDecoder::guess(std::span<const DraftRow>, KvCache&) const {
  throw Exception(ErrorCode::kInternal, "", "this model has no draft head");
}

}  // namespace winnow
