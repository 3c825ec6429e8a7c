// The view of a decoder layer for attention statistics while a segment is prefilled.
//
// Made by engine/models right after a layer's attention, read by engine/compression through PrefillObserver. Tensors are borrowed for the
// duration of the call: copy what must outlive it. Shapes use H query heads, Hkv KV heads, n segment tokens, m retained slots, d head size.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/row_span.h"
#include "engine/kv_cache/rotary_scheme.h"
#include "engine/layers/attention_window.h"
#include "engine/layers/linear_weight.h"

namespace winnow {

// Attention that each key of a segment receives: its probabilities summed over rows, accumulated while attention runs (tiled_attention.h).
//
// Filled by engine/models if an observer asks (PrefillObserver), read by engine/compression. Sums are exact in any order: each tile's sums
// are rounded to a multiple of 2^-52 of an upper bound of the total. Threads thus add in any order with the same result.

// The requested sums.
enum class ReceivedNeed : int { kNothing = 0, kSums = 1, kSquares = 2 };

struct ReceivedAttention {
  at::Tensor sums{};     // double [H, n]; undefined: not requested
  at::Tensor squares{};  // double [Hkv, n], of the mean probability of a KV head's query heads; undefined: not requested

  // Zero sums, for at most `keys` rows.
  static ReceivedAttention of(ReceivedNeed need, std::int64_t heads, std::int64_t kv_heads, std::int64_t keys);
  bool wanted() const { return sums.defined(); }
  // Adds what the first keys received from some rows: of_heads [G, count], row-major; of_squares [count] or empty.
  void add(KvHead kv_head, std::int64_t count, std::span<const float> of_heads, std::span<const float> of_squares);
};

struct LayerView {
  LayerId layer;
  at::Tensor query;                   // [H, n, d], after rotary, model dtype
  at::Tensor key;                     // [Hkv, n, d], after rotary, model dtype
  at::Tensor value;                   // [Hkv, n, d]
  std::vector<at::Tensor> past_keys;  // per KV head [m, d]; empty vector on an empty cache
  at::Tensor log_sum_exp;             // [H, n] fp32, natural log, over retained slots and what a row sees of the segment
  double scale = 1.0;                 // of the logits
  at::Tensor positions{};             // int64 [axes, n], of the rotation of query and key
  RotaryScheme rotary{};              // as KvShape's
  // For the norms of attention outputs; defined if PrefillObserver::wants_outputs().
  std::vector<at::Tensor> past_values{};        // as past_keys
  at::Tensor input_norms{};                     // fp32 [n], Euclidean, of the query projection's input
  const LinearWeight* output_weight = nullptr;  // [hidden, H * d]
  PastWindow window{};                          // rows of the segment see no further back either
  std::vector<RowSpan> bidirectional{};         // spans of `key` whose rows see each other whole (AttentionWindow)
  // From all rows, as PrefillObserver::wants_received() asks; undefined where attention cannot tell: behind cached slots, under a window,
  // with rows that see each other, and where libtorch's kernel attends.
  ReceivedAttention received{};
};

class PrefillObserver {
 public:
  virtual ~PrefillObserver() = default;
  // False: the recipe needs no layer views, and the model skips making them.
  virtual bool wants_views() const = 0;
  virtual bool wants_outputs() const { return false; }
  // The sums that attention accumulates as it runs, where it can, for LayerView::received.
  virtual ReceivedNeed wants_received() const { return ReceivedNeed::kNothing; }
  // False: the rows are there to be watched only. Nothing of them is appended to the cache, and they end with the last layer's attention.
  virtual bool keeps_rows() const { return true; }
  virtual void on_layer(const LayerView& view) = 0;
};

// The view of one decoder layer while a token is decoded. Borrowed for the duration of the call.
struct DecodeRow {
  // Per KV head the token's attention to every slot, its own included, in slot order, mean over the group's query heads. Empty if not
  // requested.
  std::vector<std::vector<float>> probabilities;
  at::Tensor output{};  // [H, d], before the output projection, model dtype
};

// Made by engine/generation, called by engine/models after the attention of a decoded token.
class DecodeObserver {
 public:
  virtual ~DecodeObserver() = default;
  virtual bool wants_probabilities() const = 0;
  // rows: of layers from `first` on. On a CPU of one layer after the other, so that a slot leaves before the next layer gets one; on a GPU
  // of all at once, when the step has been launched.
  virtual void after_layers(LayerId first, std::span<const DecodeRow> rows) = 0;
  // Later in the same step, before a slot outside the layer's window is evicted.
  virtual void leaves_window(LayerId /*layer*/, KvHead /*kv_head*/, std::int64_t /*slot*/) {}
};

}  // namespace winnow
