#include "engine/metrics/kept_figures.h"

#include <algorithm>
#include <cmath>

namespace winnow {

std::vector<SlotCounts> slots_of(std::span<const LayerFigures> layers) {
  std::vector<SlotCounts> slots;
  for (const LayerFigures& layer : layers) {
    slots.push_back(layer.end.total() > 0 ? layer.end : SlotCounts{layer.kept_visual, layer.kept_text, 0.0, 0.0});
  }
  return slots;
}

double kept_share(std::span<const SlotCounts> layers, const TokenCounts& tokens) {
  const bool attached = tokens.thread_visual > 0;
  const std::int64_t all = attached ? tokens.thread_visual : tokens.thread_text;
  if (all == 0 || layers.empty()) return 1.0;
  double kept = 0.0;
  for (const SlotCounts& layer : layers) kept += attached ? layer.visual : layer.text;
  return std::min(1.0, kept / static_cast<double>(layers.size()) / static_cast<double>(all));
}

double kept_of_all(std::span<const SlotCounts> layers, const TokenCounts& tokens) {
  const std::int64_t all = tokens.thread_visual + tokens.thread_text;
  if (all == 0 || layers.empty()) return 1.0;
  double kept = 0.0;
  for (const SlotCounts& layer : layers) kept += layer.visual + layer.text;
  return std::min(1.0, kept / static_cast<double>(layers.size()) / static_cast<double>(all));
}

double kept_share(const TurnFigures& figures) { return kept_share(slots_of(figures.layers), figures.tokens); }

HeldBytes held_bytes(const KvBytes& kv, std::span<const SlotCounts> layers) {
  double all = 0.0;
  double generated = 0.0;
  for (const SlotCounts& layer : layers) {
    all += layer.total();
    generated += layer.generated;
  }
  const std::int64_t now = bytes_now(kv);
  // Every slot takes the same.
  const auto answer = all > 0.0 ? static_cast<std::int64_t>(std::llround(static_cast<double>(now) * generated / all)) : 0;
  return {now - answer, answer};
}

HeldBytes held_bytes(const TurnFigures& figures) { return held_bytes(figures.kv_bytes, slots_of(figures.layers)); }

std::int64_t memory_bytes(const KvBytes& kv) { return kv.allocated + kv.states; }

}  // namespace winnow
