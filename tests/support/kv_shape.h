// The shape of a test's cache: what every test of one says, and the defaults of the rest.
#pragma once

#include <cstdint>

#include "engine/kv_cache/kv_cache.h"

namespace winnow::test_support {

inline KvShape kv_shape(std::int64_t layers, std::int64_t kv_heads, std::int64_t head_dim) {
  KvShape shape{.layers = layers, .kv_heads = kv_heads, .head_dim = head_dim};
  return shape;
}

}  // namespace winnow::test_support
