#include "engine/recipes/event_budgets.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/recipes/budget.h"

namespace winnow {

namespace {

// The share of `tokens` that was asked for.
double share_kept(const BudgetRequest& request, std::int64_t tokens) {
  if (tokens == 0) return 1.0;
  if (!request.tokens) return request.retention;
  return static_cast<double>(std::min(*request.tokens, tokens)) / static_cast<double>(tokens);
}

std::int64_t sum(const std::vector<std::int64_t>& slots) { return std::accumulate(slots.begin(), slots.end(), std::int64_t{0}); }

// tokens: of every layer, all of its competing heads together.
std::int64_t asked_of_all(const BudgetRequest& request, const std::vector<std::int64_t>& tokens, std::int64_t heads) {
  if (!request.tokens) return total_budget(request, 1, sum(tokens));
  std::int64_t total = 0;
  for (const std::int64_t of_layer : tokens) total += total_budget(request, heads, of_layer / heads);
  return total;
}

}  // namespace

EventBudgets::EventBudgets(const Recipe& recipe, const std::vector<LayerDemand>& layers, std::optional<std::int64_t> seen,
                           std::int64_t kv_heads)
    : recipe_(&recipe) {
  const Composition& parts = recipe.composition();
  const std::int64_t heads = parts.granularity == Granularity::kRagged ? kv_heads : 1;
  std::int64_t pins = 0;
  for (const LayerDemand& layer : layers) {
    bounds_.high.push_back(layer.competing * heads);
    bounds_.guarded.push_back(std::min(layer.competing, layer.guarded) * heads);
    bounds_.scope_tokens = std::max(bounds_.scope_tokens, layer.competing * heads);
    pins += layer.pinned * heads;
  }
  if (bounds_.scope_tokens == 0) return;
  const std::int64_t about = seen.value_or(bounds_.scope_tokens);
  std::vector<std::int64_t> about_layer;
  about_layer.reserve(layers.size());
  for (const LayerDemand& layer : layers) about_layer.push_back(layer.reach ? std::min(about, *layer.reach * heads) : about);
  bounds_.total = asked_of_all(recipe.budget(), about_layer, heads);
  if (sum(about_layer) < std::ssize(layers) * about) {
    for (const std::int64_t tokens : about_layer)
      asked_.push_back(share_kept(recipe.budget(), tokens / heads) * static_cast<double>(tokens));
  }
  if (parts.allocator->whole_heads()) {
    const std::int64_t of_head = about / heads;
    bounds_.total = of_head * round_half_up(share_kept(recipe.budget(), of_head) * static_cast<double>(std::ssize(layers) * heads));
  }
  bounds_.retention = static_cast<double>(bounds_.total) / static_cast<double>(sum(about_layer));
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    // If the best of all layers stay, a layer may be left with nothing.
    const std::int64_t low = parts.allocator->best_of_all_layers()
                                 ? bounds_.guarded[layer]
                                 : lower_bound_slots(recipe.budget(), about_layer[layer], bounds_.guarded[layer], parts.min_fraction);
    const bool whole = recipe.keeps_whole(LayerId(layer), std::ssize(layers));
    bounds_.low.push_back(whole ? bounds_.high[layer] : std::min(bounds_.high[layer], low));
  }
  const std::int64_t least = sum(bounds_.low);
  const bool asked_for_less = bounds_.total < sum(bounds_.high);
  take_place_ = least < sum(bounds_.high) && asked_for_less;
  pins_above_budget_ = asked_for_less && pins > bounds_.total;
  raised_to_floor_ = take_place_ && !pins_above_budget_ && least > bounds_.total;
}

std::int64_t EventBudgets::total() const { return std::max(bounds_.total, sum(bounds_.low)); }

std::int64_t EventBudgets::decide(std::span<const LayerMeasure> measured) {
  const Allocator& allocator = *recipe_->composition().allocator;
  if (sum(bounds_.low) < bounds_.total) {
    if (auto slots = allocator.budgets(measured, bounds_)) {
      slots_ = std::move(*slots);
      return 0;
    }
  }
  std::vector<double> weights = allocator.weights(measured);
  std::int64_t not_finite = 0;
  for (double& weight : weights) {
    if (std::isfinite(weight)) continue;
    weight = 0.0;
    ++not_finite;
  }
  slots_ = shared_by(std::move(weights));
  return not_finite;
}

std::vector<std::int64_t> EventBudgets::foreseen() const {
  return decided() ? slots_ : shared_by(std::vector<double>(bounds_.high.size(), 1.0));
}

std::vector<std::int64_t> EventBudgets::foreseen_for(std::span<const std::int64_t> useful) const {
  if (decided()) return slots_;
  std::vector<std::int64_t> wanted;
  for (std::size_t layer = 0; layer < useful.size(); ++layer)
    wanted.push_back(std::clamp(useful[layer], bounds_.low[layer], bounds_.high[layer]));
  const bool more = sum(wanted) < bounds_.total;
  return allocate(std::vector<double>(wanted.size(), 1.0), bounds_.total, more ? wanted : bounds_.low, more ? bounds_.high : wanted);
}

std::vector<std::int64_t> EventBudgets::shared_by(std::vector<double> weights) const {
  for (std::size_t layer = 0; layer < asked_.size(); ++layer) weights[layer] *= asked_[layer];
  if (!recipe_->composition().faithful_clip) return allocate(weights, bounds_.total, bounds_.low, bounds_.high);
  std::vector<std::int64_t> slots = allocate_without_redistribution(weights, bounds_.total, bounds_.scope_tokens);
  for (std::size_t layer = 0; layer < slots.size(); ++layer) {
    const bool whole = recipe_->keeps_whole(LayerId(layer), std::ssize(slots));
    slots[layer] = whole ? bounds_.high[layer] : std::min(bounds_.high[layer], std::max(slots[layer], bounds_.guarded[layer]));
  }
  return slots;
}

}  // namespace winnow
