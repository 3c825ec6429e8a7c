#include "engine/generation/conversation/cache_figures.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/per_layer.h"

namespace winnow {

std::vector<LayerFigures> layer_figures(const KvCache& cache, std::span<const TokenOrigin> origins, std::span<const std::int64_t> budgets) {
  const KvShape& shape = cache.shape();
  auto figures = PerLayer<LayerFigures>::of(shape.layers);
  auto granted = budgets.begin();
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    LayerFigures& figure = figures[layer];
    std::int64_t kept = 0;
    std::int64_t visual = 0;
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::span<const std::int32_t> original = cache.original(layer, head);
      figure.kept_per_head.push_back(static_cast<std::int64_t>(original.size()));
      kept += static_cast<std::int64_t>(original.size());
      for (const std::int32_t token : original) {
        require(token >= 0 && static_cast<std::size_t>(token) < origins.size(), "a cache slot must belong to a known token");
        if (is_attached(origins[static_cast<std::size_t>(token)].modality)) ++visual;
      }
    }
    const double heads = static_cast<double>(shape.kv_heads);
    figure.kept = static_cast<double>(kept) / heads;
    figure.kept_visual = static_cast<double>(visual) / heads;
    figure.kept_text = static_cast<double>(kept - visual) / heads;
    figure.bytes = cache.bytes_in_use(layer);
    figure.budget = granted == budgets.end() ? std::llround(figure.kept) : *granted++;
  }
  return std::move(figures).values();
}

std::vector<SlotCounts> slot_counts(const Conversation& conversation, std::int32_t first_generated) {
  const KvCache& cache = conversation.cache;
  const KvShape& shape = cache.shape();
  auto counts = PerLayer<SlotCounts>::of(shape.layers);
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    std::int64_t visual = 0, image = 0, text = 0, generated = 0;
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      for (const std::int32_t token : cache.original(layer, head)) {
        const TokenOrigin& origin = conversation.origins[static_cast<std::size_t>(token)];
        if (token >= first_generated) {
          ++generated;
        } else if (!is_attached(origin.modality)) {
          ++text;
        } else {
          ++visual;
          const auto medium = static_cast<std::size_t>(origin.media);
          if (medium < conversation.media_kinds.size() && conversation.media_kinds[medium] == MediaKind::kImage) ++image;
        }
      }
    }
    const double heads = static_cast<double>(shape.kv_heads);
    counts[layer] = {static_cast<double>(visual) / heads, static_cast<double>(text) / heads, static_cast<double>(generated) / heads,
                     static_cast<double>(image) / heads};
  }
  return std::move(counts).values();
}

void add_growth(const KvCache& cache, std::vector<SlotCounts>& counts) {
  const std::int64_t heads = cache.shape().kv_heads;
  for (std::size_t layer = 0; layer < counts.size(); ++layer) {
    std::int64_t slots = 0;
    for (KvHead head{0}; head < heads; ++head) slots += cache.slots(LayerId(layer), head);
    counts[layer].generated = static_cast<double>(slots) / static_cast<double>(heads) - counts[layer].visual - counts[layer].text;
  }
}

std::vector<std::vector<std::vector<std::int32_t>>> kept_original(const KvCache& cache) {
  const KvShape& shape = cache.shape();
  auto kept = PerLayer<std::vector<std::vector<std::int32_t>>>::of(shape.layers);
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      const std::span<const std::int32_t> original = cache.original(layer, head);
      std::vector<std::int32_t> ascending(original.begin(), original.end());
      std::sort(ascending.begin(), ascending.end());
      kept[layer].push_back(std::move(ascending));
    }
  }
  return std::move(kept).values();
}

std::vector<std::vector<std::vector<std::int32_t>>> merged_counts(const MergeState& state,
                                                                  const std::vector<std::vector<std::vector<std::int32_t>>>& kept) {
  std::vector<std::vector<std::vector<std::int32_t>>> counts;
  if (state.merged.empty()) return counts;
  auto merged = state.merged.begin();
  for (const auto& layer : kept) {
    counts.emplace_back();
    for (const std::vector<std::int32_t>& head : layer) {
      require(merged != state.merged.end(), "merged counts must have the cache's layers and heads");
      std::vector<std::int32_t>& of_head = counts.back().emplace_back(head.size(), 0);
      std::size_t slot = 0;
      for (const MergedInto& into : *merged++) {
        while (slot < head.size() && head[slot] < into.original) ++slot;
        if (slot < head.size() && head[slot] == into.original) of_head[slot] = into.tokens;
      }
    }
  }
  return counts;
}

void bound_lists(CacheReport& report, const ListBounds& bounds) {
  std::size_t slots = 0;
  for (const auto* listed : {&report.kept, &report.merged}) {
    for (const auto& layer : *listed) {
      for (const std::vector<std::int32_t>& head : layer) slots += head.size();
    }
  }
  if (slots > bounds.slots) {
    report.kept.clear();
    report.merged.clear();
  }
  if (report.texts.size() > bounds.texts) report.texts.resize(bounds.texts);
}

}  // namespace winnow
