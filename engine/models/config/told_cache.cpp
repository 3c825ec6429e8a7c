#include "engine/models/config/told_cache.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

constexpr std::size_t kToldNameBytes = 256;
constexpr const char* kContext = "max_position_embeddings";
// No product of these leaves 63 bits.
constexpr std::int64_t kMostLayers = 1024;
constexpr std::int64_t kMostHeads = 4096;
constexpr std::int64_t kMostSize = 1 << 20;
constexpr std::int64_t kMostHeadSize = 1 << 16;
constexpr std::int64_t kMostWindow = 1 << 20;

std::int64_t heads_of(const JsonObject& text) { return text.integer("num_attention_heads", 0, kMostHeads, 0); }
std::int64_t kv_heads_of(const JsonObject& text) { return text.integer("num_key_value_heads", 0, kMostHeads, heads_of(text)); }

std::int64_t head_size_of(const JsonObject& text) {
  const std::int64_t heads = heads_of(text);
  return text.integer("head_dim", 0, kMostHeadSize,
                      heads == 0 ? 0 : std::min(kMostHeadSize, text.integer("hidden_size", 0, kMostSize, 0) / heads));
}

// For layers that look back over everything: Gemma 4's have keys of their own for it, or what differs in the last of them.
struct ToldFullHeads {
  std::int64_t kv_heads = 0;
  std::int64_t size = 0;
};

ToldFullHeads full_heads_of(const JsonObject& text) {
  ToldFullHeads full{kv_heads_of(text), text.integer("global_head_dim", 0, kMostHeadSize, head_size_of(text))};
  if (text.boolean("attention_k_eq_v", false)) full.kv_heads = text.integer("num_global_key_value_heads", 0, kMostHeads, full.kv_heads);
  const auto differing = text.optional_object("per_layer_config");
  const std::string last = std::to_string(text.integer("num_hidden_layers", 0, kMostLayers, 0) - 1);
  const auto own = differing ? differing->optional_object(last.c_str()) : std::nullopt;
  if (!own) return full;
  return {own->integer("num_key_value_heads", 0, kMostHeads, full.kv_heads), own->integer("head_dim", 0, kMostHeadSize, full.size)};
}

// Gemma 4's layers with a window whose KV heads are not the others', which keep no more than that; 0: there are none such.
std::int64_t layers_that_slide(const JsonObject& text) {
  if (!text.string("model_type", kToldNameBytes, "").starts_with("gemma4") || !text.has("layer_types")) return 0;
  if (full_heads_of(text).kv_heads == kv_heads_of(text) && !text.has("use_bidirectional_attention")) return 0;
  const std::vector<std::string> types = text.strings("layer_types", kToldNameBytes, static_cast<std::size_t>(kMostLayers));
  return types.empty() ? 0 : std::ranges::count(std::span(types).first(types.size() - 1), "sliding_attention");
}

// Those of the text model that keep keys and values; others keep no more than a state or a window, or read an earlier layer's.
std::int64_t layers_with_slots(const JsonObject& text) {
  const std::int64_t layers = text.integer("num_hidden_layers", 0, kMostLayers, 0);
  if (!text.has("layer_types") && text.has("full_attn_idxs"))
    return std::ssize(text.integers("full_attn_idxs", 0, kMostLayers, static_cast<std::size_t>(kMostLayers)));
  if (!text.has("layer_types")) return layers / text.integer("full_attention_interval", 1, kMostLayers, 1);
  const std::vector<std::string> types = text.strings("layer_types", kToldNameBytes, static_cast<std::size_t>(kMostLayers));
  const std::int64_t borrowing = text.integer("num_kv_shared_layers", 0, std::ssize(types), 0);
  const auto keep_states = std::ranges::count(types, "linear_attention") + std::ranges::count(types, "conv");
  return std::max<std::int64_t>(0, std::ssize(types) - borrowing - keep_states - layers_that_slide(text));
}

// Reads Qwen3.5's and LFM2's keys, whose defaults are those of their classes, and Gemma 4's windows.
std::int64_t state_bytes_of(const JsonObject& text) {
  constexpr std::int64_t kMostDelta = 1024;
  const std::int64_t layers = text.integer("num_hidden_layers", 0, kMostLayers, 0);
  if (const std::int64_t sliding = layers_that_slide(text); sliding > 0) {
    const std::int64_t tokens = std::min(kMostWindow, text.integer("sliding_window", 2, std::int64_t{1} << 32, 1024)) - 1;
    return sliding * kv_heads_of(text) * tokens * 2 * head_size_of(text) * static_cast<std::int64_t>(sizeof(float));
  }
  const std::int64_t states = std::max<std::int64_t>(0, layers - layers_with_slots(text));
  if (text.has("conv_L_cache")) {
    const std::int64_t tokens = text.integer("conv_L_cache", 1, kMostDelta) - 1;
    return states * tokens * text.integer("hidden_size", 0, kMostSize, 0) * static_cast<std::int64_t>(sizeof(float));
  }
  if (!text.has("linear_num_value_heads")) return 0;
  const std::int64_t value_heads = text.integer("linear_num_value_heads", 0, kMostHeads);
  const std::int64_t key = text.integer("linear_key_head_dim", 0, kMostDelta, 128);
  const std::int64_t value = text.integer("linear_value_head_dim", 0, kMostDelta, 128);
  const std::int64_t channels = 2 * text.integer("linear_num_key_heads", 0, kMostHeads, 16) * key + value_heads * value;
  const std::int64_t tokens = text.integer("linear_conv_kernel_dim", 1, kMostDelta, 4) - 1;
  return states * (value_heads * key * value + tokens * channels) * static_cast<std::int64_t>(sizeof(float));
}

// In 16 bits; 0 where its shape is not told in the usual keys.
std::int64_t kv_bytes_of(const JsonObject& text) {
  constexpr std::int64_t kKeyAndValue = std::int64_t{2} * 2;  // two rows of two bytes an element
  const std::int64_t layers = layers_with_slots(text);
  if (layers == 0 || heads_of(text) == 0) return 0;
  const ToldFullHeads full = full_heads_of(text);  // rows are as long as the longest heads
  return kKeyAndValue * layers * full.kv_heads * full.size;
}

}  // namespace

std::int64_t ToldCache::usual_tokens() const { return context_tokens > 0 ? std::min(context_tokens, kUsualTokens) : kUsualTokens; }

std::int64_t ToldCache::usual_bytes() const { return kv_bytes_per_token * usual_tokens() + 2 * state_bytes; }

ToldCache told_cache(const JsonObject& config) {
  constexpr std::int64_t kMostContext = std::numeric_limits<std::int64_t>::max();
  const auto inner = config.optional_object("text_config");
  const JsonObject& text = inner ? *inner : config;
  const JsonObject& bounded = config.has(kContext) ? config : text;
  ToldCache told;
  if (bounded.has(kContext)) told.context_tokens = scaled_positions(text, bounded.integer(kContext, 0, kMostContext));
  told.kv_bytes_per_token = kv_bytes_of(text);
  told.state_bytes = state_bytes_of(text);
  return told;
}

}  // namespace winnow
