// Converts a retention ratio or an absolute budget to integer slots per layer: the only place where a ratio becomes tokens.
//
// Used by SegmentCompressor. Pure functions in fp64, no torch, no state. A budget is slots per kv head of one layer within the segment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace winnow {

// floor(x + 0.5), also for negative x.
std::int64_t round_half_up(double x);

// `share` of `budget` slots, rounded, at least 1 and at most all.
std::int64_t share_of(double share, std::int64_t budget);

struct BudgetRequest {
  double retention = 1.0;              // share kept, in (0, 1]; read if `tokens` is empty
  std::optional<std::int64_t> tokens;  // slots per layer and kv head, >= 1
};

// Slots of all layers together: round(retention * layers * scope_tokens) or layers * min(tokens, scope_tokens).
std::int64_t total_budget(const BudgetRequest& request, std::int64_t layers, std::int64_t scope_tokens);

// The same for every layer: at least 1, the slots protected by number, and ceil(min(min_fraction, retention) * scope_tokens); at most
// scope_tokens. min_fraction is the papers' clip of a layer's share, which a request below it lowers to itself: all layers are then equal.
// The effective retention of an absolute request is tokens / scope_tokens.
std::int64_t lower_bound_slots(const BudgetRequest& request, std::int64_t scope_tokens, std::int64_t protected_slots, double min_fraction);

// Shares `total` in proportion to nonnegative weights, each clipped to its layer's [low, high], what clipping frees or costs spread over
// the rest; integers by largest remainder (ties: lower layer). The sum is `total` exactly, unless the bounds forbid it: then all low or all
// high. A weight that is not finite or negative counts as 0; if all are 0 the shares are equal.
std::vector<std::int64_t> allocate(std::span<const double> weights, std::int64_t total, std::span<const std::int64_t> low,
                                   std::span<const std::int64_t> high);

// Real shares, each at most its layer's high, made integers by largest remainder (ties: lower layer) so that they sum to `total`.
std::vector<std::int64_t> round_to_total(std::span<const double> shares, std::int64_t total, std::span<const std::int64_t> high);

// The papers' version: each share is clipped to [0.01, 1] of the segment and rounded by itself. The sum may differ from `total`.
std::vector<std::int64_t> allocate_without_redistribution(std::span<const double> weights, std::int64_t total, std::int64_t scope_tokens);

}  // namespace winnow
