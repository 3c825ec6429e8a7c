// The size of a model's KV cache by its config.json, before the model is loaded: no tensor is looked at.
//
// A summary shows it, and the choice of a device counts it (device_choice.h). The loaded model knows its cache exactly (CacheShape).
// Errors: Exception kDamagedFile of a value that cannot be. Threads: plain functions.
#pragma once

#include <cstdint>

#include "engine/base/json_document.h"

namespace winnow {

// The usual length of a conversation, where nobody says how long it gets: before a video is compressed all of its tokens are in the cache.
inline constexpr std::int64_t kUsualTokens = 8192;

// Memory that stays free on a GPU beside weights and cache: activations and features to work with.
inline constexpr std::int64_t kGpuWorkingBytes = std::int64_t{1} << 30;

struct ToldCache {
  std::int64_t context_tokens = 0;      // 0: it does not say
  std::int64_t kv_bytes_per_token = 0;  // all layers, K and V, 16 bits an element; 0: it does not say
  std::int64_t state_bytes = 0;         // of layers that keep a state of fixed size instead, in 32 bits an element

  // kUsualTokens, or as many as the model takes.
  std::int64_t usual_tokens() const;
  // Bytes of so many tokens, and of two states: a conversation works on a fork of what it had before, whose states are its own.
  std::int64_t usual_bytes() const;
};

// config: of the model, whose text model may be one level down (text_config).
ToldCache told_cache(const JsonObject& config);

}  // namespace winnow
