// The sizes of a gated delta layer (gated_delta.h). Read by models' configurations; plain numbers, no torch.
#pragma once

#include <cstdint>

#include "engine/kv_cache/state_shape.h"

namespace winnow {

struct DeltaSizes {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;  // a multiple of key_heads
  std::int64_t key_dim = 0;      // of a head
  std::int64_t value_dim = 0;
  std::int64_t kernel = 0;  // tokens under the convolution, the own one included
  bool in_turn = false;     // value heads, one of each key head after the other (GGUF); else those of a key head lie together

  std::int64_t key_head(std::int64_t value_head) const { return in_turn ? value_head % key_heads : value_head * key_heads / value_heads; }
  std::int64_t keys() const { return key_heads * key_dim; }
  std::int64_t values() const { return value_heads * value_dim; }
  std::int64_t channels() const { return 2 * keys() + values(); }  // queries, keys and values
  StateShape state() const { return {value_heads, key_dim, value_dim, kernel - 1, channels()}; }
};

}  // namespace winnow
