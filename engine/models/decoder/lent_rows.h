// Keys and values of the prefill in progress that layers without keys of their own still read (DecoderConfig::borrowing_layers).
//
// Filled and emptied by transformer_decoder.h. A cache cannot serve for that: when those layers run, a window has passed by some of the
// lending layer's rows, or a method has dropped them. A prefill that is interrupted leaves its rows here until the next one begins. Engine
// thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/index.h"
#include "engine/layers/attention.h"

namespace winnow {

class LentRows {
 public:
  struct Rows {
    const KvCache* cache = nullptr;  // only its address is used
    std::int32_t first_original = 0;
    PastKeyValues past{};  // what the layer held before the segment
    at::Tensor key{};      // [kv_heads, n, head_dim], of the segment
    at::Tensor value{};
  };

  void clear() { rows_.clear(); }
  void lend(LayerId layer, Rows rows) { rows_.insert_or_assign(layer, std::move(rows)); }
  const Rows& of(LayerId layer, const KvCache& cache, std::int32_t first_original) const {
    const auto found = rows_.find(layer);
    require(found != rows_.end() && found->second.cache == &cache && found->second.first_original == first_original,
            "prefill: the layer that lends its keys has not read this segment");
    return found->second;
  }

 private:
  std::map<LayerId, Rows> rows_;
};

}  // namespace winnow
