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

namespace {

// kept: of a layer's slots, those that count.
template <typename Kept>
double mean_share(std::span<const SlotCounts> layers, std::int64_t all, const Kept& kept) {
  if (all == 0 || layers.empty()) return 1.0;
  double sum = 0.0;
  for (const SlotCounts& layer : layers) sum += kept(layer);
  return std::min(1.0, sum / static_cast<double>(layers.size()) / static_cast<double>(all));
}

}  // namespace

double kept_share(std::span<const SlotCounts> layers, const TokenCounts& tokens) {
  const bool attached = tokens.thread_visual > 0;
  return mean_share(layers, attached ? tokens.thread_visual : tokens.thread_text,
                    [attached](const SlotCounts& layer) { return attached ? layer.visual : layer.text; });
}

double kept_of_all(std::span<const SlotCounts> layers, const TokenCounts& tokens) {
  return mean_share(layers, tokens.thread_visual + tokens.thread_text, [](const SlotCounts& layer) { return layer.visual + layer.text; });
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
