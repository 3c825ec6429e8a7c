// Attention of a segment over earlier slots and itself, in row tiles, with the log-sum-exp that attention statistics need.
//
// Used by engine/models: decoders (prefill) and vision towers (unmasked). Nothing of size rows x keys is allocated. A CPU uses our own
// kernel (tiled_attention.h); a GPU uses libtorch's flash attention for 16-bit types. Everything else runs in tiles of at most
// kPlainTileElements logits. GQA needs no copies: query heads of one KV head are the "heads" of libtorch's kernel and read the same keys
// through a zero stride. Letters: B batch, Hkv KV heads, G query heads per KV head, H = Hkv * G, t rows, n segment tokens, m cached slots,
// d head size. Log-sum-exp: fp32, natural log. Inference only. Threads: engine thread. Errors: kInternal for shapes that do not fit
// together.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/attention_window.h"

namespace winnow {

enum class Mask : int {
  kNone = 1,
  kCausal = 2,  // row i sees keys 0 .. i; as many keys as rows
};

struct AttentionResult {
  at::Tensor output;       // [B, heads, t, d], dtype of the query
  at::Tensor log_sum_exp;  // [B, heads, t]
};

// query: [B, heads, t, d]; key, value: [B, heads, m, d], m >= 1, any strides with a contiguous last dimension (zero strides included).
// Selects the device's kernel; nothing else does.
AttentionResult attention_with_lse(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale);

// The same by matrix products over row tiles, on any device: logits in fp32, one softmax per row. GPUs use it in fp32 and for head sizes
// that flash attention does not support.
inline constexpr std::int64_t kPlainTileElements = std::int64_t{1} << 25;  // logits of a tile: 128 MiB
AttentionResult plain_attention_with_lse(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, Mask mask, double scale,
                                         std::int64_t tile_elements = kPlainTileElements);

// Merges the attention over two disjoint key sets into the first result.
void merge_attention(AttentionResult& into, const AttentionResult& other);

// A layer's cached keys and values from earlier segments; slot counts may differ between heads and may be 0.
struct PastKeyValues {
  std::vector<at::Tensor> keys{};    // per KV head [m, d]; empty on an empty cache
  std::vector<at::Tensor> values{};  // as keys
  // The cache, borrowed, if heads of this layer have shared slots (shared_entry_attention.h); else null.
  const KvCache* cache = nullptr;
  LayerId layer{};
  PastWindow window{};  // of the layer
  bool empty() const { return keys.empty(); }
};

// Rows [first, first + t) of a segment. query: [t, H, d]. key, value: [Hkv, n, d], of which rows 0 .. first + t - 1 are read.
// With spans of rows that see each other whole (window.bidirectional) those that the tile touches have to be in it, first to last.
// Returns output [t, H, d], contiguous, and log_sum_exp [H, t] over the past and what each row sees of the segment: the causal part, or
// what the window leaves of it, and the rest of a row's span. Keys that no row sees cost nothing.
AttentionResult prefill_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, std::int64_t first,
                                  const PastKeyValues& past, double scale, const AttentionWindow& window = {});

}  // namespace winnow
